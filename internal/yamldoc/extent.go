package yamldoc

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// extent returns the bytes from where n starts to just after where it ends.
// The parser says where a node starts only; the end is found in the text, when
// somebody asks. parents are the nodes around n, outermost first; without them
// a block scalar with an indentation indicator may seem to end early.
func (d *Doc) extent(n *yaml.Node, parents []*yaml.Node) (from, to int) {
	src := d.text.src
	from = d.text.offset(n.Line, n.Column)
	at := from
	if n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 || n.Kind == yaml.ScalarNode && at < len(src) && src[at] == '!' {
		for at < len(src) && (src[at] == '&' || src[at] == '!') {
			at = skipBlanks(src, wordEnd(src, at))
		}
	}
	switch n.Kind {
	case yaml.AliasNode:
		return from, wordEnd(src, at)
	case yaml.MappingNode, yaml.SequenceNode:
		return from, max(d.collectionEnd(n, at, parents), from)
	}
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		at = doubleQuotedEnd(src, at)
	case n.Style&yaml.SingleQuotedStyle != 0:
		at = singleQuotedEnd(src, at)
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		at = d.blockScalarEnd(n, at, parents)
	default:
		at = plainEnd(src, at, n.Value)
	}
	return from, max(at, from)
}

// collectionEnd finds the end of a mapping or sequence whose content starts at
// at: its closing bracket, or the end of its last entry.
func (d *Doc) collectionEnd(n *yaml.Node, at int, parents []*yaml.Node) int {
	src := d.text.src
	end := at
	if k := len(n.Content); k > 0 {
		_, end = d.extent(n.Content[k-1], append(parents, n))
	}
	if n.Style&yaml.FlowStyle == 0 || at >= len(src) || src[at] != '{' && src[at] != '[' {
		return end
	}
	if end == at {
		end++
	}
	for end < len(src) {
		switch c := src[end]; {
		case c == '}' || c == ']':
			return end + 1
		case c == '#':
			end = lineEnd(src, end)
		default:
			end++ // a blank, a comma, the colon of a value left out
		}
	}
	return end
}

func doubleQuotedEnd(src []byte, at int) int {
	for at++; at < len(src); at++ {
		switch src[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	return len(src)
}

func singleQuotedEnd(src []byte, at int) int {
	for at++; at < len(src); at++ {
		if src[at] != '\'' {
			continue
		}
		if at+1 == len(src) || src[at+1] != '\'' {
			return at + 1
		}
		at++
	}
	return len(src)
}

// plainEnd follows value through the text, in which line folding may have put
// other white space between its words.
func plainEnd(src []byte, at int, value string) int {
	if bytes.HasPrefix(src[min(at, len(src)):], []byte(value)) {
		return at + len(value)
	}
	for _, word := range strings.Fields(value) {
		for at < len(src) && isSpace(src[at]) {
			at++
		}
		if !bytes.HasPrefix(src[at:], []byte(word)) {
			return at
		}
		at += len(word)
	}
	return at
}

// blockScalarEnd finds the end of the last line of a block scalar that is not
// blank; at is its | or >.
func (d *Doc) blockScalarEnd(n *yaml.Node, at int, parents []*yaml.Node) int {
	src := d.text.src
	headerEnd := lineEnd(src, at)
	header := src[at:headerEnd]
	if i := bytes.IndexByte(header, '#'); i >= 0 {
		header = header[:i]
	}
	end := at + len(bytes.TrimRight(header, " \t\r"))
	if strings.Trim(n.Value, "\n") == "" {
		return end
	}
	indent := -1
	if i := bytes.IndexAny(header, "123456789"); i >= 0 && parents != nil {
		indent = blockIndent(parents) + int(header[i]-'0')
	}
	for at = headerEnd + 1; at < len(src); at = lineEnd(src, at) + 1 {
		line := src[at:lineEnd(src, at)]
		text := bytes.TrimLeft(line, " ")
		if len(bytes.TrimRight(text, "\r")) == 0 {
			continue
		}
		spaces := len(line) - len(text)
		if indent < 0 {
			indent = spaces
		}
		if spaces < indent || spaces == 0 && (bytes.HasPrefix(text, []byte("---")) || bytes.HasPrefix(text, []byte("..."))) {
			break
		}
		end = at + len(bytes.TrimRight(line, "\r"))
	}
	return end
}

// blockIndent returns the indentation of the innermost block collection.
func blockIndent(parents []*yaml.Node) int {
	for i := len(parents) - 1; i >= 0; i-- {
		if parents[i].Style&yaml.FlowStyle == 0 {
			return parents[i].Column - 1
		}
	}
	return 0
}

func lineEnd(src []byte, at int) int {
	if at >= len(src) {
		return len(src)
	}
	if i := bytes.IndexByte(src[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(src)
}

// wordEnd returns the end of an anchor, alias or tag that starts at at.
func wordEnd(src []byte, at int) int {
	for at < len(src) && !isSpace(src[at]) && !bytes.ContainsRune([]byte(",[]{}"), rune(src[at])) {
		_, n := utf8.DecodeRune(src[at:])
		at += n
	}
	return at
}

// skipBlanks returns the next byte that is neither white space nor comment.
func skipBlanks(src []byte, at int) int {
	for at < len(src) {
		switch {
		case src[at] == '#' && at > 0 && isSpace(src[at-1]):
			at = lineEnd(src, at)
		case isSpace(src[at]):
			at++
		default:
			return at
		}
	}
	return at
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
