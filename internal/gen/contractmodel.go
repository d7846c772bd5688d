package gen

import (
	"fmt"
	"slices"
	"strings"
)

// dataType is one Go type made from a definition of schema/contract.schema.json.
type dataType struct {
	name   string
	title  string
	doc    string
	values []string // an enum's words
	fields []field  // a struct's fields
}

// field is one struct field.
type field struct {
	name     string // as in JSON
	doc      string
	required bool
	typ      fieldType
}

// fieldType is the part of JSON Schema that contract types use.
type fieldType struct {
	kind string // string int float bool time duration bytes secret ref array map
	ref  string
	elem *fieldType
}

// pointer reports whether the Go field is a pointer, so that "not known" has a
// value of its own instead of zero.
func (t fieldType) pointer(structs map[string]bool) bool {
	switch t.kind {
	case "int", "float", "bool", "time", "duration":
		return true
	case "ref":
		return structs[t.ref]
	}
	return false
}

// loadDataTypes reads schema/contract.schema.json in document order.
func loadDataTypes(contract []byte) ([]dataType, error) {
	root, err := parseOrdered(contract)
	if err != nil {
		return nil, fmt.Errorf("contract.schema.json: %w", err)
	}
	defs := root.object("$defs")
	if defs == nil {
		return nil, fmt.Errorf("contract.schema.json: no $defs")
	}
	var out []dataType
	for _, name := range defs.keys {
		d := defs.object(name)
		t := dataType{name: name, title: d.string("title"), doc: d.string("description"), values: d.strings("enum")}
		required := d.strings("required")
		props := d.object("properties")
		if props != nil {
			for _, p := range props.keys {
				ft, err := parseFieldType(props.object(p))
				if err != nil {
					return nil, fmt.Errorf("contract.schema.json: $defs/%s/properties/%s: %w", name, p, err)
				}
				doc := props.object(p).string("description")
				if doc == "" && ft.kind == "ref" {
					doc = defs.object(ft.ref).string("description")
				}
				t.fields = append(t.fields, field{name: p, doc: doc, required: slices.Contains(required, p), typ: ft})
			}
		}
		if len(t.values) == 0 && props == nil {
			return nil, fmt.Errorf("contract.schema.json: $defs/%s is neither an enum nor an object", name)
		}
		out = append(out, t)
	}
	return out, nil
}

func parseFieldType(o *object) (fieldType, error) {
	if ref := o.string("$ref"); ref != "" {
		name, ok := strings.CutPrefix(ref, "#/$defs/")
		if !ok {
			return fieldType{}, fmt.Errorf("$ref %q is not local", ref)
		}
		return fieldType{kind: "ref", ref: name}, nil
	}
	switch typ, format := o.string("type"), o.string("format"); {
	case typ == "string" && format == "date-time":
		return fieldType{kind: "time"}, nil
	case typ == "string" && format == "base64":
		return fieldType{kind: "bytes"}, nil
	case typ == "string" && format == "secret":
		return fieldType{kind: "secret"}, nil
	case typ == "string":
		return fieldType{kind: "string"}, nil
	case typ == "integer" && format == "nanoseconds":
		return fieldType{kind: "duration"}, nil
	case typ == "integer":
		return fieldType{kind: "int"}, nil
	case typ == "number":
		return fieldType{kind: "float"}, nil
	case typ == "boolean":
		return fieldType{kind: "bool"}, nil
	case typ == "array":
		return elemType("array", o.object("items"))
	case typ == "object" && o.object("additionalProperties") != nil:
		return elemType("map", o.object("additionalProperties"))
	}
	return fieldType{}, fmt.Errorf("type %q (format %q) has no Go form", o.string("type"), o.string("format"))
}

func elemType(kind string, o *object) (fieldType, error) {
	if o == nil {
		return fieldType{}, fmt.Errorf("%s without element type", kind)
	}
	e, err := parseFieldType(o)
	return fieldType{kind: kind, elem: &e}, err
}
