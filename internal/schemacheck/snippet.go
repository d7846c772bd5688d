package schemacheck

import (
	"fmt"
	"slices"
	"strings"
)

// snippetDepth bounds how much of nested required properties a snippet shows.
const snippetDepth = 4

// snippet is the missing property, ready to be pasted, in YAML's flow style.
func (f *Finding) snippet() string {
	p := f.at.node.Properties[f.Name]
	if p == nil { // required by then or else: the property stands beside the if
		p = f.at.titled.Properties[f.Name]
	}
	s := f.Name + ": " + p.sample(snippetDepth)
	if p == nil {
		return s
	}
	if words := words(p.deref().Enum); len(words) > 1 {
		s += "   (one of " + listed(words) + ")"
	} else if about := cmpOr(p.Description, p.deref().Description); about != "" {
		s += "   (" + strings.TrimSuffix(about, ".") + ")"
	}
	return s
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// sample is a value of the right form that claims nothing: unknown where there
// is such a word, "..." for a text.
func (n *node) sample(depth int) string {
	n = n.deref()
	if n == nil || depth == 0 {
		return "..."
	}
	if isFact(n) {
		return `{unknown: "why it is not known"}`
	}
	switch {
	case n.Const != nil:
		return fmt.Sprint(n.Const)
	case n.Default != nil:
		return fmt.Sprint(n.Default)
	case n.Enum != nil:
		list := words(n.Enum)
		for _, w := range []string{"unknown", "none"} {
			if slices.Contains(list, w) {
				return w
			}
		}
		if len(list) > 0 {
			return list[0]
		}
	case len(n.OneOf) > 0:
		return n.OneOf[0].sample(depth)
	}
	switch n.Type {
	case "object":
		parts := make([]string, 0, len(n.Required))
		for _, name := range n.Required {
			parts = append(parts, name+": "+n.Properties[name].sample(depth-1))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case "array":
		if n.MinItems == nil || *n.MinItems == 0 {
			return "[]"
		}
		return "[" + n.Items.sample(depth-1) + "]"
	case "integer", "number":
		return "1"
	case "boolean":
		return "false"
	}
	return `"..."`
}

// forms lists the alternatives by the keys they need.
func (f *Finding) forms() string {
	var out []string
	for _, alt := range f.at.node.OneOf {
		out = append(out, alt.sample(2))
	}
	return strings.Join(out, " or ")
}
