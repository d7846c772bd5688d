package gen

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/agentworkforce/sbx/internal/yamldoc"
)

// document makes a document of a value, for the checker.
func document(v map[string]any) (*yamldoc.Doc, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	doc, found := yamldoc.Parse("answers.json", b)
	if len(found) > 0 {
		return nil, fmt.Errorf("%s", found[0].String())
	}
	return doc, nil
}

func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = clone(e)
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, e := range v {
			out = append(out, clone(e))
		}
		return out
	}
	return v
}

// lookup follows a path; "0" is the first entry of a list.
func lookup(v any, at []string) (any, bool) {
	for _, key := range at {
		switch c := v.(type) {
		case map[string]any:
			next, ok := c[key]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			if len(c) == 0 {
				return nil, false
			}
			v = c[0]
		default:
			return nil, false
		}
	}
	return v, true
}

// store puts a value at a path and makes what is missing on the way.
func store(m map[string]any, at []string, v any) {
	if len(at) == 1 {
		m[at[0]] = v
		return
	}
	rest := at[1:]
	if rest[0] == "0" {
		m[at[0]] = storeFirst(m[at[0]], rest[1:], v)
		return
	}
	child, ok := m[at[0]].(map[string]any)
	if !ok {
		child = map[string]any{}
		m[at[0]] = child
	}
	store(child, rest, v)
}

// storeFirst puts a value below the first entry of a list.
func storeFirst(list any, at []string, v any) []any {
	entries, _ := list.([]any)
	if len(entries) == 0 {
		entries = []any{nil}
	}
	if at[0] == "0" {
		entries[0] = storeFirst(entries[0], at[1:], v)
		return entries
	}
	child, ok := entries[0].(map[string]any)
	if !ok {
		child = map[string]any{}
		entries[0] = child
	}
	store(child, at, v)
	return entries
}

// remove takes away the value at a path, and lists that would only hold the
// path to it.
func remove(m map[string]any, at []string) {
	if i := slices.Index(at, "0"); i > 0 {
		if parent, ok := lookup(m, at[:i-1]); ok {
			if p, ok := parent.(map[string]any); ok {
				delete(p, at[i-1])
			}
		}
		return
	}
	if parent, ok := lookup(m, at[:len(at)-1]); ok {
		if p, ok := parent.(map[string]any); ok {
			delete(p, at[len(at)-1])
		}
	}
}
