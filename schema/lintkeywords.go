package schema

import (
	"regexp"
	"slices"
	"strings"
)

// place says where in the document a schema stands.
type place struct {
	root      bool
	condition bool // inside if, then or else: it narrows the parent
	parent    *node
	// property is the name under which it is a property; empty elsewhere.
	property string
	keyOff   int
	// capability tells that it is an entry of the vocabulary.
	capability bool
}

// annotations describe and never constrain.
func annotations() []string {
	return []string{"title", "description", "$comment", "default", "examples", "x-sbx"}
}

// keywords are all keywords that types, forms, docs and diagnostics support.
func keywords() []string {
	return append(annotations(),
		"type", "enum", "const", "pattern", "format",
		"minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "uniqueItems",
		"properties", "required", "additionalProperties", "propertyNames", "items",
		"$ref", "oneOf", "if", "then", "else", "$defs", "$schema", "$id")
}

// schema lints one schema and all below it.
func (l *linter) schema(n *node, at place) {
	if n.kind != objectNode {
		l.value(n, "a schema is an object")
		return
	}
	for _, m := range n.members {
		if !slices.Contains(keywords(), m.key) {
			l.key(n, m, nearest(m.key, keywords()), "keyword %q is not supported", m.key)
			continue
		}
		if slices.Contains([]string{"$defs", "$schema", "$id"}, m.key) && !at.root {
			l.key(n, m, "", "%s belongs to the root of a document", m.key)
			continue
		}
		l.keyword(n, m, at)
	}
	l.words(n, at)
	l.shape(n, at)
}

// keyword checks the value of one keyword and walks into subschemas.
func (l *linter) keyword(n *node, m member, at place) {
	v := m.val
	switch m.key {
	case "title", "description", "$comment", "$schema", "$id":
		l.want(m.key, v, stringNode, "a string")
	case "type":
		l.oneWord(v, "type", []string{"object", "array", "string", "integer", "number", "boolean"})
	case "format":
		l.oneWord(v, "format", []string{"date", "date-time", "uri", "nanoseconds", "base64", "secret"})
	case "pattern":
		if l.want(m.key, v, stringNode, "a string") {
			if _, err := regexp.Compile(v.text); err != nil {
				l.value(v, "pattern does not compile: %v", err)
			}
		}
	case "minLength", "maxLength", "minItems", "maxItems":
		if l.want(m.key, v, numberNode, "a whole number") && strings.ContainsAny(v.text, "-.eE") {
			l.value(v, "%s must be a whole number", m.key)
		}
	case "minimum", "maximum":
		l.want(m.key, v, numberNode, "a number")
	case "uniqueItems":
		l.want(m.key, v, boolNode, "true or false")
	case "enum":
		l.enum(v)
	case "const":
		if v.kind == objectNode || v.kind == arrayNode || v.kind == nullNode {
			l.value(v, "const must be a string, number or boolean")
		}
	case "required":
		l.required(n, v, at)
	case "$ref":
		l.ref(n, v)
	case "x-sbx":
		l.annotation(v, at)
	case "oneOf":
		l.oneOf(v)
	default:
		l.subschemas(n, m, at)
	}
}

// subschemas walks into the keywords that hold schemas.
func (l *linter) subschemas(n *node, m member, at place) {
	switch m.key {
	case "properties":
		if !l.want(m.key, m.val, objectNode, "an object") {
			return
		}
		vocabulary := n.ptr == "/$defs/capabilities"
		for _, p := range m.val.members {
			l.schema(p.val, place{condition: at.condition, parent: n, property: p.key, keyOff: p.off, capability: vocabulary})
		}
	case "$defs":
		if l.want(m.key, m.val, objectNode, "an object") {
			for _, d := range m.val.members {
				l.schema(d.val, place{capability: d.key == "core" && strings.HasSuffix(l.file, ProviderFile)})
			}
		}
	case "additionalProperties":
		if m.val.kind == boolNode && m.val.truth {
			l.value(m.val, "an object must be closed: additionalProperties is false or a schema")
		} else if m.val.kind != boolNode {
			l.schema(m.val, place{})
		}
	case "items", "propertyNames":
		l.schema(m.val, place{})
	case "if":
		l.condition(n, m.val, at)
	case "then", "else":
		if n.get("if") == nil {
			l.key(n, m, "", "%s without if", m.key)
		}
		l.schema(m.val, place{condition: true, parent: enclosing(n, at)})
	}
}

// enclosing is the schema whose properties a condition at n talks about.
func enclosing(n *node, at place) *node {
	if at.condition && at.parent != nil {
		return at.parent
	}
	return n
}

// want checks the JSON type of a keyword's value.
func (l *linter) want(key string, v *node, kind nodeKind, name string) bool {
	if v.kind != kind {
		l.value(v, "%s must be %s", key, name)
		return false
	}
	return true
}

// oneWord checks that a keyword has one word of a list.
func (l *linter) oneWord(v *node, key string, words []string) {
	if l.want(key, v, stringNode, "one word") && !slices.Contains(words, v.text) {
		l.report(v.off, v.ptr, nearest(v.text, words), "%s %q is not supported", key, v.text)
	}
}

func (l *linter) enum(v *node) {
	if !l.want("enum", v, arrayNode, "a list") {
		return
	}
	if len(v.items) == 0 {
		l.value(v, "enum has no values")
	}
	seen := map[string]bool{}
	for _, item := range v.items {
		switch {
		case item.kind != stringNode:
			l.value(item, "enum values must be strings")
		case seen[item.text]:
			l.value(item, "enum value %q appears twice", item.text)
		default:
			seen[item.text] = true
		}
	}
}

// required checks that every required name is a property.
func (l *linter) required(n, v *node, at place) {
	if !l.want("required", v, arrayNode, "a list") {
		return
	}
	owner := enclosing(n, at)
	properties := owner.get("properties")
	seen := map[string]bool{}
	for _, item := range v.items {
		switch {
		case item.kind != stringNode:
			l.value(item, "required names must be strings")
		case seen[item.text]:
			l.value(item, "required name %q appears twice", item.text)
		case properties.get(item.text) == nil:
			l.report(item.off, item.ptr, nearest(item.text, memberKeys(properties)), "required name %q is no property", item.text)
		}
		seen[item.text] = true
	}
}

func memberKeys(n *node) []string {
	if n == nil {
		return nil
	}
	keys := make([]string, len(n.members))
	for i, m := range n.members {
		keys[i] = m.key
	}
	return keys
}
