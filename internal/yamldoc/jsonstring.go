package yamldoc

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// str reads the string that starts at p.at.
func (p *jsonParser) str() *yaml.Node {
	from := p.at
	n := p.node(yaml.ScalarNode, "!!str", from)
	n.Style = yaml.DoubleQuotedStyle
	start := from + 1
	var decoded []byte // nil until the first escape
	for p.at = start; p.at < len(p.src); {
		switch c := p.src[p.at]; {
		case c == '"':
			if decoded == nil {
				n.Value = string(p.src[start:p.at])
			} else {
				n.Value = string(append(decoded, p.src[start:p.at]...))
			}
			p.at++
			return n
		case c == '\n' || c == '\r':
			return p.fail(from, "this string is never closed", "add the closing quote; a line break in a string is written \\n")
		case c == '\t':
			return p.fail(p.at, "a tab in a string must be written \\t", "")
		case c == '\\':
			decoded = append(decoded, p.src[start:p.at]...)
			r, size := p.escape()
			if size == 0 {
				return p.fail(p.at, "this is not a JSON escape", "double the backslash")
			}
			decoded = utf8.AppendRune(decoded, r)
			p.at += size
			start = p.at
		default:
			p.at++
		}
	}
	return p.fail(from, "this string is never closed", "add the closing quote")
}

// escape reads the escape at p.at and returns its character and length, which
// is 0 when it is none or half of a surrogate pair.
func (p *jsonParser) escape() (r rune, size int) {
	s := p.src[p.at:]
	if len(s) < 2 {
		return 0, 0
	}
	switch s[1] {
	case '"', '\\', '/':
		return rune(s[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	}
	r, ok := hexEscape(s)
	switch {
	case !ok:
		return 0, 0
	case !utf16.IsSurrogate(r):
		return r, 6
	}
	low, ok := hexEscape(s[6:])
	if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
		return pair, 12
	}
	return 0, 0
}

// hexEscape reads \uXXXX at the start of s.
func hexEscape(s []byte) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	return rune(v), err == nil
}
