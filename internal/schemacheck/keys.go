package schemacheck

import (
	"cmp"
	"maps"
	"slices"
)

// Key is one property that a document of a schema may have.
type Key struct {
	// Path leads to it from the document, keys joined by dots; entries of a list
	// have the path of the list.
	Path               string
	Title, Description string
	// Form says in words what its value is.
	Form string
	// Words are the only values it can have, none where that is not so.
	Words []string
	// Pattern is the form that a text must have, empty for any.
	Pattern string
	// Fact says that the value is stated as {value: ...} or {unknown: reason}.
	Fact bool
	// Required says that what holds it must have it.
	Required bool
	// Keys are the names directly below it, sorted.
	Keys []string
}

// maxKeyDepth bounds how deep keys are looked for, should a schema ever refer to
// itself.
const maxKeyDepth = 8

// Keys returns every property of the schema, sorted by path. What is below a
// property whose x-sbx names an interface or stands among capabilities is the
// vocabulary's, and left out.
func (c *Checker) Keys() []Key {
	found := map[string]Key{}
	c.model.keys("", maxKeyDepth, found, c.model.Defs["capabilities"])
	return slices.SortedFunc(maps.Values(found), func(a, b Key) int { return cmp.Compare(a.Path, b.Path) })
}

// keys adds the properties below n, which path leads to; vocabulary is the
// subschema that is not entered.
func (n *node) keys(path string, depth int, found map[string]Key, vocabulary *node) {
	if depth == 0 {
		return
	}
	for holder := range n.holders() {
		for name, p := range holder.Properties {
			at := name
			if path != "" {
				at = path + "." + name
			}
			if _, again := found[at]; again {
				continue // of another alternative, and the same in what is told
			}
			key := p.key(at)
			key.Required = slices.Contains(holder.Required, name)
			if p.deref() == vocabulary {
				key.Keys = nil
			}
			found[at] = key
			if p.deref() != vocabulary && !key.Fact {
				p.keys(at, depth-1, found, vocabulary)
			}
		}
	}
}

// holders yields the mappings that n can be: itself, its entries, its
// alternatives.
func (n *node) holders() func(yield func(*node) bool) {
	return func(yield func(*node) bool) {
		var visit func(n *node) bool
		visit = func(n *node) bool {
			if n = n.deref(); n == nil {
				return true
			}
			if len(n.Properties) > 0 && !yield(n) {
				return false
			}
			if n.Items != nil && !visit(n.Items) {
				return false
			}
			for _, alt := range n.OneOf {
				if !visit(alt) {
					return false
				}
			}
			return true
		}
		visit(n)
	}
}

// key describes one property.
func (n *node) key(path string) Key {
	d := n.deref()
	k := Key{Path: path, Title: cmpOr(n.Title, d.Title), Description: cmpOr(n.Description, d.Description), Fact: isFact(d)}
	if k.Fact {
		value := d.OneOf[0].deref().Properties["value"]
		d = value.deref()
		if value.Description != "One of the listed words." {
			k.Description += " " + value.Description
		}
	}
	k.Form, k.Pattern = typeName(d.Type), d.Pattern
	entry := d
	if d.Type == "array" && d.Items != nil {
		entry = d.Items.deref()
		k.Form += " of " + plural(entry)
		k.Pattern = entry.Pattern
	}
	if k.Words = words(entry.Enum); len(k.Words) == 0 && entry.Const != nil {
		k.Words = words([]any{entry.Const})
	}
	if d.Type == "" {
		k.Form = "one of several forms"
	}
	if !k.Fact {
		for holder := range d.holders() {
			k.Keys = append(k.Keys, slices.Collect(maps.Keys(holder.Properties))...)
		}
	}
	slices.Sort(k.Keys)
	k.Keys = slices.Compact(k.Keys)
	return k
}

// plural names the entries of a list.
func plural(entry *node) string {
	switch entry.Type {
	case "object":
		return "mappings"
	case "string":
		return "texts"
	case "array":
		return "lists"
	case "integer", "number":
		return "numbers"
	}
	return "entries"
}
