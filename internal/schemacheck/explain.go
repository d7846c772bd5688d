package schemacheck

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/yamldoc"
)

// explainer turns what v5 reports about one document into findings.
type explainer struct {
	model *node
	doc   *yamldoc.Doc
	found []Finding
}

func itoa(n int) string { return strconv.Itoa(n) }

// explain walks a failure down to its leaves.
func (e *explainer) explain(err *jsonschema.ValidationError) {
	pointer, ok := yamldoc.FromLocation(err.InstanceLocation)
	if !ok {
		return
	}
	location := fragment(err.AbsoluteKeywordLocation)
	at := e.model.find(err.KeywordLocation)
	last := lastKey(err.KeywordLocation)
	switch {
	case at.keyword == "oneOf" || last == "oneOf":
		e.oneOf(err, at, pointer, location)
	case (last == "then" || last == "else") && len(err.Causes) > 0:
		e.conditional(err, pointer)
	case len(err.Causes) > 0:
		for _, cause := range err.Causes {
			e.explain(cause)
		}
	default:
		e.leaf(at, pointer, location)
	}
}

// conditional passes over what follows from an if whose own property is missing
// or wrong: that is reported, and the rest would be a guess.
func (e *explainer) conditional(err *jsonschema.ValidationError, pointer string) {
	parent := e.model.find(strings.TrimSuffix(err.KeywordLocation, "/"+lastKey(err.KeywordLocation)))
	value, _ := e.value(pointer).(map[string]any)
	if parent.node.If != nil {
		for name := range parent.node.If.Properties {
			v, ok := value[name]
			if p := e.property(err.KeywordLocation, parent.node, name); !ok || p != nil && !p.accepts(v) {
				return
			}
		}
	}
	for _, cause := range err.Causes {
		e.explain(cause)
	}
}

// property returns the subschema of a property of n; an if inside an else looks
// at the properties of what the outer if stands in.
func (e *explainer) property(location string, n *node, name string) *node {
	for n.Properties[name] == nil {
		i := strings.LastIndexByte(location, '/')
		if i <= 0 {
			return nil
		}
		location = location[:i]
		n = e.model.find(location).node
	}
	return n.Properties[name]
}

// leaf records one failed keyword.
func (e *explainer) leaf(at place, pointer, location string) {
	f := Finding{Pointer: pointer, Location: location, at: at}
	switch at.keyword {
	case "additionalProperties":
		e.unknown(f)
		return
	case "required":
		e.missing(f)
		return
	case "uniqueItems":
		e.repeated(f)
		return
	}
	f.Kind = leafKind(at.keyword)
	if strings.Contains(location, "/propertyNames") {
		f.Kind = KindName
		f.Pointer, f.Name = cut(pointer)
	}
	if e.doc.Unsure(f.Pointer) {
		return
	}
	if f.Kind == KindWord {
		if word, ok := e.value(pointer).(string); ok {
			f.suggestion = diag.Suggest(word, words(at.node.Enum))
		}
	}
	e.found = append(e.found, f)
}

func leafKind(keyword string) Kind {
	switch keyword {
	case "type":
		return KindType
	case "enum":
		return KindWord
	case "const":
		return KindConst
	case "format":
		return KindFormat
	case "pattern":
		return KindPattern
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return KindRange
	}
	return KindAlternative
}

func (e *explainer) unknown(f Finding) {
	value, _ := e.value(f.Pointer).(map[string]any)
	if e.doc.Unsure(f.Pointer) {
		return
	}
	known := slices.Sorted(maps.Keys(f.at.node.Properties))
	absent := slices.DeleteFunc(slices.Clone(known), func(k string) bool { _, ok := value[k]; return ok })
	for _, name := range slices.Sorted(maps.Keys(value)) {
		if _, ok := f.at.node.Properties[name]; ok {
			continue
		}
		f.Kind, f.Name = KindUnknownProperty, name
		f.suggestion = diag.Suggest(name, absent)
		e.found = append(e.found, f)
	}
}

func (e *explainer) missing(f Finding) {
	value, _ := e.value(f.Pointer).(map[string]any)
	if e.doc.Unsure(f.Pointer) {
		return
	}
	for _, name := range f.at.node.Required {
		if _, ok := value[name]; ok {
			continue
		}
		f.Kind, f.Name = KindMissingProperty, name
		e.found = append(e.found, f)
	}
}

func (e *explainer) repeated(f Finding) {
	list, _ := e.value(f.Pointer).([]any)
	if e.doc.Unsure(f.Pointer) {
		return
	}
	for i := range list {
		for j := range i {
			if equalScalars(list[i], list[j]) {
				f.Kind, f.nth, f.first = KindRepeated, i, j
				e.found = append(e.found, f)
				break
			}
		}
	}
}

// settle drops what is missing only because its key is misspelt.
func (e *explainer) settle() {
	meant := map[[2]string]bool{}
	for _, f := range e.found {
		if f.Kind == KindUnknownProperty && f.suggestion != "" {
			meant[[2]string{f.Pointer, f.suggestion}] = true
		}
	}
	e.found = slices.DeleteFunc(e.found, func(f Finding) bool {
		return f.Kind == KindMissingProperty && meant[[2]string{f.Pointer, f.Name}]
	})
}

// value returns what pointer leads to.
func (e *explainer) value(pointer string) any {
	keys, ok := yamldoc.Split(pointer)
	if !ok {
		return nil
	}
	v := e.doc.Value()
	for _, key := range keys {
		switch c := v.(type) {
		case map[string]any:
			v = c[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(c) {
				return nil
			}
			v = c[i]
		default:
			return nil
		}
	}
	return v
}

func words(enum []any) []string {
	out := make([]string, 0, len(enum))
	for _, v := range enum {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// cut splits a pointer into its parent and its last key.
func cut(pointer string) (parent, key string) {
	i := strings.LastIndexByte(pointer, '/')
	if i < 0 {
		return "", ""
	}
	key, _ = yamldoc.Unescape(pointer[i+1:])
	return pointer[:i], key
}

func lastKey(location string) string {
	return location[strings.LastIndexByte(location, '/')+1:]
}

// fragment returns the JSON pointer of an absolute location.
func fragment(absolute string) string {
	_, f, _ := strings.Cut(absolute, "#")
	pointer, ok := yamldoc.FromLocation(f)
	if !ok {
		return f
	}
	return pointer
}
