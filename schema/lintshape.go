package schema

import (
	"slices"
	"strconv"
	"strings"
)

const localRef = "#/$defs/"

// resolve follows local references from n. It returns nil when one of them
// leads nowhere or in a circle.
func (l *linter) resolve(n *node) *node {
	for range maxDepth {
		ref := n.get("$ref")
		if ref == nil {
			return n
		}
		name, ok := strings.CutPrefix(ref.str(), localRef)
		if !ok {
			return nil
		}
		if n = l.root.at("$defs", name); n == nil {
			return nil
		}
	}
	return nil
}

// contractName takes the definition's name out of a reference into the
// contract schema.
func contractName(ref string) (string, bool) {
	return strings.CutPrefix(ref, contractRef)
}

// ref checks a $ref of a schema. Only annotations may stand beside it, because
// the types made from the schema follow the reference and nothing else.
func (l *linter) ref(n, v *node) {
	for _, m := range n.members {
		if m.key != "$ref" && slices.Contains(keywords(), m.key) && !slices.Contains(annotations(), m.key) {
			l.key(n, m, "", "%s beside $ref would be ignored", m.key)
		}
	}
	if !l.want("$ref", v, stringNode, "a string") {
		return
	}
	if _, ok := contractName(v.text); ok {
		l.value(v, "references into %s belong into x-sbx", ContractFile)
		return
	}
	name, ok := strings.CutPrefix(v.text, localRef)
	if !ok {
		l.value(v, "$ref must start with %s", localRef)
		return
	}
	defs := l.root.get("$defs")
	if defs.get(name) == nil {
		suggestion := nearest(name, memberKeys(defs))
		if suggestion != "" {
			suggestion = localRef + suggestion
		}
		l.report(v.off, v.ptr, suggestion, "$ref %q leads nowhere", v.text)
		return
	}
	if l.resolve(n) == nil {
		l.value(v, "$ref %q never reaches a schema", v.text)
	}
}

// words checks titles and descriptions: forms, documentation and editor help
// are made from them.
func (l *linter) words(n *node, at place) {
	if at.property == "" || at.condition {
		return
	}
	keys := []string{"description"}
	if l.strict {
		keys = []string{"title", "description"}
	}
	target := l.resolve(n)
	for _, key := range keys {
		own := strings.TrimSpace(n.get(key).str()) != ""
		inherited := target != nil && strings.TrimSpace(target.get(key).str()) != ""
		if !own && !inherited {
			l.report(at.keyOff, n.ptr, "", "property %q has no %s", at.property, key)
		}
	}
}

// shape checks what several keywords of one schema must have in common.
func (l *linter) shape(n *node, at place) {
	if at.condition {
		return
	}
	typ := n.get("type").str()
	if n.get("properties") != nil && typ != "object" {
		l.value(n, "properties without type object")
	}
	if typ == "object" {
		l.closed(n)
	}
	if typ == "array" && n.get("items") == nil {
		l.value(n, "an array must say what its items are")
	}
	for _, pair := range [][2]string{{"minLength", "maxLength"}, {"minimum", "maximum"}, {"minItems", "maxItems"}} {
		low, high := n.get(pair[0]), n.get(pair[1])
		if low != nil && high != nil && number(low) > number(high) {
			l.value(low, "%s is above %s", pair[0], pair[1])
		}
	}
	constrained := slices.ContainsFunc(n.members, func(m member) bool {
		return slices.Contains([]string{"type", "enum", "const", "$ref", "oneOf"}, m.key)
	})
	capability := at.capability && n.get("x-sbx") != nil
	if !constrained && !at.root && !capability && !l.patternOnly(n) {
		l.value(n, "the schema allows everything: it has no type, enum, const, $ref or oneOf")
	}
}

// patternOnly tells that n constrains the names of an object's keys.
func (l *linter) patternOnly(n *node) bool {
	return strings.HasSuffix(n.ptr, "/propertyNames") && (n.get("pattern") != nil || n.get("maxLength") != nil)
}

// closed checks that an object refuses keys nobody described.
func (l *linter) closed(n *node) {
	additional := n.get("additionalProperties")
	switch {
	case additional == nil:
		l.value(n, "an object must be closed: additionalProperties is missing")
	case n.get("properties") != nil && additional.kind != boolNode:
		l.value(additional, "an object has either properties or keys of its own, not both")
	case n.get("properties") == nil && additional.kind == boolNode:
		l.value(additional, "an object without properties must say what its values are")
	}
}

func number(n *node) float64 {
	f, err := strconv.ParseFloat(n.text, 64)
	if err != nil {
		return 0
	}
	return f
}

// condition checks an if: it compares properties of the parent to constants,
// so that types and forms can follow it.
func (l *linter) condition(n, v *node, at place) {
	if !l.want("if", v, objectNode, "an object") {
		return
	}
	owner := enclosing(n, at)
	properties := v.get("properties")
	if len(v.members) != 2 || properties == nil || v.get("required") == nil {
		l.value(v, "an if has exactly properties with a const each, and required")
		return
	}
	for _, p := range properties.members {
		if len(p.val.members) != 1 || p.val.members[0].key != "const" {
			l.value(p.val, "a condition on %q must be one const", p.key)
		}
		if !slices.Contains(v.get("required").strs(), p.key) {
			l.key(properties, p, "", "a condition on %q must require it", p.key)
		}
		if owner.at("properties", p.key) == nil {
			l.key(properties, p, nearest(p.key, memberKeys(owner.get("properties"))), "condition on %q, which is no property", p.key)
		}
	}
	if n.get("then") == nil && n.get("else") == nil {
		l.value(v, "an if without then and else does nothing")
	}
}

// oneOf checks that at most one alternative can fit any value.
func (l *linter) oneOf(v *node) {
	if !l.want("oneOf", v, arrayNode, "a list") {
		return
	}
	if len(v.items) < 2 {
		l.value(v, "oneOf needs two alternatives or more")
	}
	for _, item := range v.items {
		l.schema(item, place{})
	}
	for i, a := range v.items {
		for _, b := range v.items[:i] {
			if !l.disjoint(a, b) {
				l.value(a, "alternatives of oneOf must differ by a const or by required keys that the other refuses")
				break
			}
		}
	}
}

// disjoint tells that no value fits both schemas, judged by constants and by
// required keys alone. Overlap by accident is not looked into.
func (l *linter) disjoint(a, b *node) bool {
	a, b = l.resolve(a), l.resolve(b)
	if a == nil || b == nil {
		return true // the reference itself is reported
	}
	if differentConst(a.get("const"), b.get("const")) {
		return true
	}
	if refusesRequired(a, b) || refusesRequired(b, a) {
		return true
	}
	for _, key := range a.get("required").strs() {
		if slices.Contains(b.get("required").strs(), key) &&
			differentConst(a.at("properties", key, "const"), b.at("properties", key, "const")) {
			return true
		}
	}
	return false
}

func differentConst(a, b *node) bool {
	return a != nil && b != nil && (a.kind != b.kind || a.text != b.text || a.truth != b.truth)
}

// refusesRequired tells that a is closed and lacks a key that b requires.
func refusesRequired(a, b *node) bool {
	closed := a.get("additionalProperties")
	if a.get("type").str() != "object" || b.get("type").str() != "object" || closed == nil || closed.kind != boolNode {
		return false
	}
	return slices.ContainsFunc(b.get("required").strs(), func(key string) bool {
		return a.at("properties", key) == nil
	})
}
