package schemacheck

import "maps"

// maxRefused is how many entries of one list or mapping are explained. What v5
// says about a wrong entry takes a hundred times the memory of the entry, so a
// document of a megabyte could take a hundred.
const maxRefused = 100

// bound returns v without the entries of lists and mappings that come after
// maxRefused wrong ones. Indexes stay what they are, and v is not changed. What
// is refused stays refused.
func (n *node) bound(v any) any {
	n = n.deref()
	if n == nil {
		return v
	}
	switch v := v.(type) {
	case []any:
		return n.boundList(v)
	case map[string]any:
		if i := intended(n.OneOf, v); i >= 0 {
			return n.OneOf[i].bound(v)
		}
		return n.boundMapping(v)
	}
	return v
}

func (n *node) boundList(v []any) []any {
	if n.Items == nil {
		return v
	}
	var out []any
	refused := 0
	for i, item := range v {
		if n.Items.accepts(item) {
			continue
		}
		if out == nil {
			out = append([]any(nil), v...)
		}
		out[i] = n.Items.bound(item)
		if refused++; refused == maxRefused {
			return out[:i+1]
		}
	}
	if out == nil {
		return v
	}
	return out
}

func (n *node) boundMapping(v map[string]any) map[string]any {
	out := maps.Clone(v)
	refused := 0
	for name, value := range v {
		if p := n.Properties[name]; p != nil {
			if !p.accepts(value) {
				out[name] = p.bound(value)
			}
			continue
		}
		if n.Additional == nil || n.Additional.schema == nil || n.Additional.schema.accepts(value) {
			continue
		}
		if refused++; refused > maxRefused {
			delete(out, name)
		}
	}
	return out
}
