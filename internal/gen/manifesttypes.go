package gen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	. "github.com/dave/jennifer/jen" //nolint:revive // jennifer reads as Go only when dot-imported
)

const manifestPath = modulePath + "/generated/manifest"

// manifestFiles renders generated/manifest: Go types of provider.yaml and of
// catalog entries. Everything their schemas accept decodes into them and
// encodes to an equal document again.
func manifestFiles(s sources) map[string]func() ([]byte, error) {
	return map[string]func() ([]byte, error){
		"generated/manifest/provider.go": func() ([]byte, error) {
			return manifestTypesFile(s.provider, "provider.schema.json", "Manifest", func(f *File) {
				f.PackageComment("Package manifest holds Go types of provider.yaml and of catalog entries, made from")
				f.PackageComment("their JSON Schemas. A document that has passed its schema decodes into them without")
				f.PackageComment("loss: what is absent stays absent, and what is unknown stays unknown.")
				factType(f)
				decodeFunc(f, "Decode", "Manifest", "a manifest")
				strictFunc(f)
			})
		},
		"generated/manifest/catalog.go": func() ([]byte, error) {
			return manifestTypesFile(s.catalog, "catalog.schema.json", "CatalogEntry", func(f *File) {
				decodeFunc(f, "DecodeCatalogEntry", "CatalogEntry", "a catalog entry")
			})
		},
	}
}

func manifestTypesFile(src []byte, file, rootName string, first func(*File)) ([]byte, error) {
	root, err := parseOrdered(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	f := NewFilePathName(manifestPath, "manifest")
	f.HeaderComment(generatedHeader("schema/" + file))
	first(f)
	t := &manifestTypes{root: root, file: f, done: map[string]bool{}}
	if err := t.structType(rootName, root); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, name := range root.object("$defs").keys {
		if err := t.definition(name); err != nil {
			return nil, fmt.Errorf("%s: $defs/%s: %w", file, name, err)
		}
	}
	return render(f)
}

// manifestTypes writes the types of one schema, each where it is first met.
type manifestTypes struct {
	root *object
	file *File
	done map[string]bool
}

// definition writes the type of a definition that has one of its own. Texts and
// facts have none: they are string and Fact.
func (t *manifestTypes) definition(name string) error {
	d := t.root.object("$defs").object(name)
	switch {
	case t.fact(d) != nil:
		_, err := t.typeOf(name, "", d.array("oneOf")[0].(*object).object("properties").object("value"))
		return err
	case len(d.strings("enum")) > 0:
		return t.enumType(goName(name), d)
	case has(d, "properties") || has(d, "oneOf"):
		return t.structType(goName(name), d)
	}
	return nil
}

// fact returns the known form of a fact, nil when n is none.
func (t *manifestTypes) fact(n *object) *object {
	alternatives := n.array("oneOf")
	if len(alternatives) != 2 {
		return nil
	}
	known, ok := alternatives[0].(*object)
	unknown, ok2 := alternatives[1].(*object)
	if !ok || !ok2 || unknown.string("$ref") != "#/$defs/unknown" || !has(known.object("properties"), "value") {
		return nil
	}
	return known
}

// typeOf is the Go type of a value. Owner and key name a type that is written
// where it is used: an enum or an object without a name of its own.
func (t *manifestTypes) typeOf(owner, key string, n *object) (*Statement, error) {
	if ref := n.string("$ref"); ref != "" {
		return t.typeOfRef(strings.TrimPrefix(ref, "#/$defs/"))
	}
	if known := t.fact(n); known != nil {
		inner, err := t.typeOf(owner, key, known.object("properties").object("value"))
		return Id("Fact").Types(inner), err
	}
	name := goName(strings.TrimPrefix(owner, "fact") + " " + key)
	switch typ := n.string("type"); {
	case len(n.strings("enum")) > 0:
		return Id(name), t.enumType(name, n)
	case typ == "string":
		return String(), nil
	case typ == "boolean":
		return Bool(), nil
	case typ == "integer":
		return Int64(), nil
	case typ == "number":
		return Float64(), nil
	case typ == "array":
		elem, err := t.typeOf(owner, key, n.object("items"))
		return Index().Add(elem), err
	case has(n, "properties"):
		return Id(name), t.structType(name, n)
	case n.object("additionalProperties") != nil:
		elem, err := t.typeOf(owner, key, n.object("additionalProperties"))
		return Map(String()).Add(elem), err
	}
	return nil, fmt.Errorf("%s/%s has no Go form", owner, key)
}

func (t *manifestTypes) typeOfRef(name string) (*Statement, error) {
	d := t.root.object("$defs").object(name)
	switch {
	case d == nil:
		return nil, fmt.Errorf("there is no definition %s", name)
	case t.fact(d) != nil:
		value := d.array("oneOf")[0].(*object).object("properties").object("value")
		inner, err := t.typeOf(name, "", value)
		return Id("Fact").Types(inner), err
	case len(d.strings("enum")) > 0, has(d, "properties"), has(d, "oneOf"):
		return Id(goName(name)), nil
	}
	return t.typeOf(name, "", d)
}

// enumType writes a type of words.
func (t *manifestTypes) enumType(name string, n *object) error {
	if t.done[name] {
		return nil
	}
	t.done[name] = true
	doc := n.string("description")
	if strings.HasPrefix(doc, "One of the listed") || strings.HasPrefix(doc, "One or more of") {
		doc = "" // says no more than the type does
	}
	enumType(t.file, dataType{name: name, doc: doc, values: n.strings("enum")})
	return nil
}

// property is one field of a struct: alternatives of a oneOf share one struct,
// and a property is required when every alternative requires it.
type property struct {
	name     string
	schema   *object
	required bool
}

func (t *manifestTypes) properties(n *object) []property {
	alternatives := []*object{n}
	for i, alt := range n.array("oneOf") {
		if i == 0 {
			alternatives = nil
		}
		o, _ := alt.(*object)
		alternatives = append(alternatives, (&yamlWriter{schema: t.root}).resolve(o))
	}
	var out []property
	for _, alt := range alternatives {
		for _, name := range alt.object("properties").keys {
			if slices.ContainsFunc(out, func(p property) bool { return p.name == name }) {
				continue
			}
			required := !slices.ContainsFunc(alternatives, func(a *object) bool { return !slices.Contains(a.strings("required"), name) })
			out = append(out, property{name, alt.object("properties").object(name), required})
		}
	}
	return out
}

func (t *manifestTypes) structType(name string, n *object) error {
	if t.done[name] {
		return nil
	}
	t.done[name] = true
	var fields []Code
	for _, p := range t.properties(n) {
		typ, err := t.typeOf(lowerFirst(name), p.name, p.schema)
		if err != nil {
			return err
		}
		for _, line := range wrap(p.schema.string("description"), 90) {
			fields = append(fields, Comment(line))
		}
		field, tag := Id(goName(p.name)), p.name
		if !p.required {
			tag += ",omitzero"
			if t.needsPointer(p.schema) {
				field.Op("*")
			}
		}
		fields = append(fields, field.Add(typ).Tag(map[string]string{"json": tag, "yaml": strings.Replace(tag, "omitzero", "omitempty", 1)}))
	}
	comment(t.file, t.about(name, n))
	t.file.Type().Id(name).Struct(fields...)
	return nil
}

// about is the doc comment of a struct.
func (t *manifestTypes) about(name string, n *object) string {
	if doc := n.string("description"); doc != "" {
		return name + ": " + doc
	}
	var forms []string
	for _, alt := range n.array("oneOf") {
		if o, ok := alt.(*object); ok {
			forms = append(forms, (&yamlWriter{schema: t.root}).resolve(o).string("title"))
		}
	}
	return name + " has one of these forms: " + strings.Join(forms, "; ") + "."
}

// needsPointer reports whether an optional value has to be a pointer, for its
// zero value could be meant. Lists and maps that are absent are nil.
func (t *manifestTypes) needsPointer(n *object) bool {
	n = (&yamlWriter{schema: t.root}).resolve(n)
	switch {
	case has(n, "properties"), has(n, "oneOf"):
		return true
	case n.string("type") == "boolean", n.string("type") == "number", n.string("type") == "integer":
		return true
	case n.string("type") != "string", has(n, "enum"), has(n, "const"), has(n, "pattern"):
		return false
	}
	least, err := strconv.Atoi(fmt.Sprint(n.get("minLength")))
	return err != nil || least == 0
}

func lowerFirst(name string) string { return strings.ToLower(name[:1]) + name[1:] }
