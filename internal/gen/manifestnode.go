package gen

import (
	"encoding/json"
	"fmt"
)

// node is one mapping of a decoded manifest. A manifest has passed the JSON
// Schema before a node is read, so a wrong type reads as absent.
type node map[string]any

func (n node) node(key string) node { v, _ := n[key].(map[string]any); return v }

func (n node) text(key string) string { v, _ := n[key].(string); return v }

func (n node) flag(key string, def bool) bool {
	if v, ok := n[key].(bool); ok {
		return v
	}
	return def
}

func (n node) nodes(key string) []node {
	list, _ := n[key].([]any)
	var out []node
	for _, v := range list {
		if m, ok := v.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func (n node) texts(key string) []string {
	list, _ := n[key].([]any)
	var out []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// fact returns the value of a fact, nil when it is unknown or absent.
func (n node) fact(key string) any { return n.node(key)["value"] }

func (n node) factText(key string) string { v, _ := n.fact(key).(string); return v }

func (n node) factInt(key string) *int64 {
	switch v := n.fact(key).(type) {
	case int:
		i := int64(v)
		return &i
	case int64:
		return &v
	case float64:
		i := int64(v)
		return &i
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return &i
		}
	}
	return nil
}

// scalarText renders a YAML scalar the way it reads.
func scalarText(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}
