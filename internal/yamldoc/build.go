package yamldoc

import (
	"fmt"
	"unicode/utf8"

	"github.com/agentworkforce/sbx/internal/diag"
	"go.yaml.in/yaml/v3"
)

// builder turns the node tree into the plain value and reports what has none.
type builder struct {
	doc     *Doc
	report  *report
	bangs   bool // the text has an exclamation mark at all
	slashes bool // and a backslash, so that there may be escapes

	line, col, offset int // where startsWith last was
}

func (b *builder) refuse(n *yaml.Node, rule, message, help string, related ...diag.Related) {
	b.doubt(n)
	if b.report.full() {
		b.report.dropped++ // without the cost of finding the end
		return
	}
	b.report.add(rule, b.doc.text.span(b.doc.extent(n, nil)), message, help, related...)
}

func (b *builder) doubt(n *yaml.Node) {
	if b.doc.unsure == nil {
		b.doc.unsure = map[*yaml.Node]struct{}{}
	}
	b.doc.unsure[n] = struct{}{}
}

// value returns what n stands for; depth counts the collections around it.
func (b *builder) value(n *yaml.Node, depth int) any {
	b.properties(n)
	switch n.Kind {
	case yaml.AliasNode:
		b.refuse(n, RuleAlias, "the alias *"+n.Value+" is not accepted", "write the value out")
		return nil
	case yaml.MappingNode, yaml.SequenceNode:
		if depth >= MaxDepth {
			b.doubt(n)
			at := b.doc.text.offset(n.Line, n.Column)
			b.report.tooDeep(at, at+1)
			return nil
		}
		if n.Kind == yaml.MappingNode {
			return b.mapping(n, depth)
		}
		out := make([]any, len(n.Content))
		for i, c := range n.Content {
			out[i] = b.value(c, depth+1)
		}
		return out
	}
	return b.scalar(n)
}

// properties refuses a node's anchor and tag, which stand where it starts.
func (b *builder) properties(n *yaml.Node) {
	tagged := n.Style&yaml.TaggedStyle != 0
	// The tag "!" alone leaves no trace in the node but its position.
	bare := b.bangs && !tagged && n.Kind == yaml.ScalarNode && b.startsWith(n, '!')
	if n.Anchor != "" {
		b.report.add(RuleAlias, b.property(n, '&'), "the anchor &"+n.Anchor+" is not accepted",
			"remove it, and write the value out where it is used")
	}
	if tagged || bare {
		b.doubt(n)
		tag := n.Tag
		if bare {
			tag = "!"
		}
		b.report.add(RuleTag, b.property(n, '!'), "the tag "+tag+" is not accepted",
			"remove it; quote the value to make it a string")
	}
}

// escapes refuses characters that may not be in a text and are there as escapes.
func (b *builder) escapes(n *yaml.Node) {
	if !b.slashes || n.Style&yaml.DoubleQuotedStyle == 0 {
		return
	}
	if c, ok := Forbidden(n.Value); ok {
		b.refuse(n, RuleControl, fmt.Sprintf("character U+%04X is not accepted, as an escape either", c),
			"remove it; a line break is \\n and a tab is \\t")
	}
}

// startsWith reports whether the text at n starts with c. Nodes come in the
// order of the text, so it walks each line once however long it is.
func (b *builder) startsWith(n *yaml.Node, c byte) bool {
	t := b.doc.text
	if n.Line != b.line || n.Column < b.col {
		b.line, b.col, b.offset = n.Line, 1, t.offset(n.Line, 1)
	}
	for ; b.col < n.Column && b.offset < len(t.src); b.col++ {
		_, size := utf8.DecodeRune(t.src[b.offset:])
		b.offset += size
	}
	return b.offset < len(t.src) && t.src[b.offset] == c
}

// property finds the anchor or tag that starts with mark in front of n's
// content.
func (b *builder) property(n *yaml.Node, mark byte) diag.Span {
	if b.report.full() {
		return diag.Span{}
	}
	t := b.doc.text
	from := t.offset(n.Line, n.Column)
	for at := from; at < len(t.src) && (t.src[at] == '&' || t.src[at] == '!'); {
		end := wordEnd(t.src, at)
		if t.src[at] == mark {
			return t.span(at, end)
		}
		at = skipBlanks(t.src, end)
	}
	return t.span(from, from)
}

func (b *builder) mapping(n *yaml.Node, depth int) any {
	out := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		name, ok := b.key(n, k, depth)
		value := b.value(n.Content[i+1], depth+1)
		if !ok {
			continue
		}
		if _, taken := out[name]; taken {
			b.duplicate(n, i)
			continue
		}
		out[name] = value
	}
	return out
}

// key returns a key's name, or ok false when it is not a string; then the
// mapping's value lacks the entry.
func (b *builder) key(n, k *yaml.Node, depth int) (name string, ok bool) {
	const help = "put quotes around the key"
	switch {
	case k.Kind == yaml.AliasNode:
		b.value(k, depth+1)
	case k.Kind != yaml.ScalarNode:
		b.refuse(k, RuleKey, "a mapping or sequence cannot be a key", "write a plain string key")
	case isPlain(k) && k.Tag == "!!merge":
		b.refuse(k, RuleMerge, "the merge key << is not accepted", "write the merged entries out")
	case isPlain(k) && (k.Tag == "!!int" || k.Tag == "!!float"):
		b.refuse(k, RuleKey, "the key "+k.Value+" is a number, not a string", help)
	case isPlain(k) && k.Tag == "!!bool":
		b.refuse(k, RuleKey, "the key "+k.Value+" is a boolean, not a string", help)
	case isPlain(k) && k.Tag == "!!null":
		b.refuse(k, RuleKey, "the key is null, not a string", help)
	default:
		b.properties(k)
		b.escapes(k)
		return k.Value, true
	}
	b.doubt(n)
	return "", false
}

// duplicate reports the key at n.Content[i], whose value is dropped: nobody
// can know which of the two was meant.
func (b *builder) duplicate(n *yaml.Node, i int) {
	if b.report.full() {
		b.report.dropped++
		b.doubt(n)
		return
	}
	k := n.Content[i]
	first, value := child(n, k.Value)
	b.doubt(value)
	t := b.doc.text
	b.report.add(RuleDuplicate, t.span(b.doc.extent(k, nil)), fmt.Sprintf("the key %q is already used in this mapping", k.Value),
		"keep one of the two", diag.Related{Span: t.span(b.doc.extent(first, nil)), Message: "it is first used here"})
}
