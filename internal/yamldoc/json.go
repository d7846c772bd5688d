package yamldoc

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// parseJSON reads strict JSON (RFC 8259) into the same tree the YAML parser
// makes, or returns nil after reporting why there is none. Comments and
// trailing commas are reported and passed over; any other error ends the file.
func parseJSON(text source, r *report) *yaml.Node {
	p := jsonParser{text: text, src: text.src, report: r, line: 1}
	p.space()
	if p.at == len(p.src) && !p.failed {
		r.empty()
		return nil
	}
	root := p.value(0)
	p.space()
	if !p.failed && p.at < len(p.src) {
		p.fail(p.at, "there is text after the end of the value", "keep one value in a file")
	}
	if p.failed {
		return nil
	}
	return root
}

type jsonParser struct {
	text   source
	src    []byte
	report *report
	at     int
	failed bool

	// The last position given out. Positions only ever advance, so each line
	// is counted once however long it is.
	line, column, counted int
}

// node makes a node that starts at byte at.
func (p *jsonParser) node(kind yaml.Kind, tag string, at int) *yaml.Node {
	for p.line < len(p.text.starts) && p.text.starts[p.line] <= at {
		p.counted, p.column = p.text.starts[p.line], 0
		p.line++
	}
	p.column += utf8.RuneCount(p.src[p.counted:at])
	p.counted = at
	n := &yaml.Node{Kind: kind, Tag: tag, Line: p.line, Column: p.column + 1}
	if kind != yaml.ScalarNode {
		n.Style = yaml.FlowStyle
	}
	return n
}

func (p *jsonParser) fail(at int, message, help string) *yaml.Node {
	if !p.failed {
		p.failed = true
		p.report.at(RuleSyntax, at, wordOrOne(p.src, at), message, help)
	}
	return nil
}

// space skips white space, and comments with a finding.
func (p *jsonParser) space() {
	for p.at < len(p.src) {
		from := p.at
		switch c := p.src[p.at]; {
		case isSpace(c):
			p.at++
			continue
		case c == '#', bytes.HasPrefix(p.src[p.at:], []byte("//")):
			p.at = lineEnd(p.src, p.at)
		case bytes.HasPrefix(p.src[p.at:], []byte("/*")):
			end := bytes.Index(p.src[p.at:], []byte("*/"))
			if end < 0 {
				p.fail(p.at, "this comment is never closed", "JSON has no comments; remove it")
				p.at = len(p.src)
				return
			}
			p.at += end + 2
		default:
			return
		}
		p.report.at(RuleJSONDialect, from, p.at, "JSON has no comments", "remove it")
	}
}

func (p *jsonParser) value(depth int) *yaml.Node {
	if p.failed {
		return nil
	}
	if p.at == len(p.src) {
		return p.fail(p.at, "the file ends where a value should be", "")
	}
	switch c := p.src[p.at]; c {
	case '{', '[':
		if depth >= MaxDepth {
			p.failed = true
			p.report.tooDeep(p.at, p.at+1)
			return nil
		}
		if c == '{' {
			return p.collection(p.node(yaml.MappingNode, "!!map", p.at), '}', depth)
		}
		return p.collection(p.node(yaml.SequenceNode, "!!seq", p.at), ']', depth)
	case '"':
		return p.str()
	case '\'':
		return p.fail(p.at, "a JSON string must have double quotes", "")
	}
	return p.word()
}

// collection reads the entries of an object or array up to its end.
func (p *jsonParser) collection(n *yaml.Node, end byte, depth int) *yaml.Node {
	open := p.at
	p.at++
	comma := -1
	for {
		p.space()
		switch {
		case p.failed:
			return nil
		case p.at == len(p.src):
			return p.fail(open, fmt.Sprintf("this %c is never closed", p.src[open]), "add the closing bracket")
		case p.src[p.at] == end:
			if comma >= 0 {
				p.report.at(RuleJSONDialect, comma, comma+1, "JSON has no trailing commas", "remove it")
			}
			p.at++
			return n
		case len(n.Content) > 0 && comma < 0:
			return p.fail(p.at, fmt.Sprintf("expected ',' or '%c'", end), "")
		}
		if end == '}' && !p.member(n) {
			return nil
		}
		v := p.value(depth + 1)
		if v == nil {
			return nil
		}
		n.Content = append(n.Content, v)
		p.space()
		comma = -1
		if p.at < len(p.src) && p.src[p.at] == ',' {
			comma = p.at
			p.at++
		}
	}
}

// member reads a key and its colon into n.
func (p *jsonParser) member(n *yaml.Node) bool {
	if p.src[p.at] != '"' {
		p.fail(p.at, "a key must be a string in double quotes", "")
		return false
	}
	k := p.str()
	if k == nil {
		return false
	}
	p.space()
	if p.failed || p.at == len(p.src) || p.src[p.at] != ':' {
		p.fail(p.at, "expected ':' after the key", "")
		return false
	}
	p.at++
	p.space()
	n.Content = append(n.Content, k)
	return true
}

// word reads a number, true, false or null.
func (p *jsonParser) word() *yaml.Node {
	from := p.at
	for p.at < len(p.src) && (isWordByte(p.src[p.at]) || p.src[p.at] == '.' || p.src[p.at] == '+') {
		p.at++
	}
	word := string(p.src[from:p.at])
	tag := "!!float"
	switch digits := strings.TrimLeft(word, "+-."); {
	case word == "true" || word == "false":
		tag = "!!bool"
	case word == "null":
		tag = "!!null"
	case isJSONNumber(word), digits == "NaN", digits == "Infinity", digits != "" && digits[0] >= '0' && digits[0] <= '9':
		// A number, or meant as one: the builder judges it.
	default:
		return p.fail(from, "a JSON value cannot start here", "a string needs double quotes")
	}
	n := p.node(yaml.ScalarNode, tag, from)
	n.Value = word
	return n
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
