package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// nodeKind is the JSON type of a node.
type nodeKind int

const (
	nullNode nodeKind = iota
	boolNode
	numberNode
	stringNode
	arrayNode
	objectNode
)

// maxDepth bounds the nesting of a document; schemas stay far below it.
const maxDepth = 200

// node is one JSON value with the byte offset it starts at and its pointer.
type node struct {
	kind    nodeKind
	off     int
	ptr     string
	text    string // of a string or number
	truth   bool
	members []member // of an object, in document order
	items   []*node  // of an array
}

// member is one key of an object with the offset of the key.
type member struct {
	key string
	off int
	val *node
}

// get returns the value of a key, nil when n is no object or has no such key.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	for i := range n.members {
		if n.members[i].key == key {
			return n.members[i].val
		}
	}
	return nil
}

// at follows keys down from n.
func (n *node) at(keys ...string) *node {
	for _, key := range keys {
		n = n.get(key)
	}
	return n
}

// str returns the text of a string node and "" otherwise.
func (n *node) str() string {
	if n == nil || n.kind != stringNode {
		return ""
	}
	return n.text
}

// strs returns the strings of an array and leaves out everything else.
func (n *node) strs() []string {
	if n == nil {
		return nil
	}
	var out []string
	for _, item := range n.items {
		if item.kind == stringNode {
			out = append(out, item.text)
		}
	}
	return out
}

// syntaxError is a mistake in the JSON text itself.
type syntaxError struct {
	off int
	msg string
}

func (e *syntaxError) Error() string { return e.msg }

// treeParser reads a document into nodes.
type treeParser struct {
	src  []byte
	dec  *json.Decoder
	dups []member // keys that appear twice in one object; val holds the object
}

// parseTree reads one JSON document. Keys that appear twice are returned
// beside the tree, in which the first one counts.
func parseTree(src []byte) (*node, []member, *syntaxError) {
	if !utf8.Valid(src) {
		return nil, nil, &syntaxError{firstInvalid(src), "the text is not UTF-8"}
	}
	p := &treeParser{src: src, dec: json.NewDecoder(bytes.NewReader(src))}
	p.dec.UseNumber()
	root, serr := p.value("", 0)
	if serr != nil {
		return nil, nil, serr
	}
	off := p.next()
	if _, err := p.dec.Token(); err != io.EOF {
		return nil, nil, &syntaxError{off, "text after the document"}
	}
	return root, p.dups, nil
}

func firstInvalid(src []byte) int {
	for off := 0; off < len(src); {
		r, size := utf8.DecodeRune(src[off:])
		if r == utf8.RuneError && size == 1 {
			return off
		}
		off += size
	}
	return len(src)
}

// next is the offset at which the next token starts.
func (p *treeParser) next() int {
	off := int(p.dec.InputOffset())
	for off < len(p.src) && strings.IndexByte(" \t\r\n,:", p.src[off]) >= 0 {
		off++
	}
	return off
}

func (p *treeParser) value(ptr string, depth int) (*node, *syntaxError) {
	n := &node{off: p.next(), ptr: ptr}
	if depth > maxDepth {
		return nil, &syntaxError{n.off, fmt.Sprintf("nested deeper than %d levels", maxDepth)}
	}
	tok, err := p.dec.Token()
	if err != nil {
		return nil, p.wrap(n.off, err)
	}
	switch v := tok.(type) {
	case json.Delim:
		if v == '{' {
			return n, p.object(n, depth)
		}
		return n, p.array(n, depth)
	case string:
		n.kind, n.text = stringNode, v
	case json.Number:
		n.kind, n.text = numberNode, v.String()
	case bool:
		n.kind, n.truth = boolNode, v
	}
	return n, nil
}

func (p *treeParser) object(n *node, depth int) *syntaxError {
	n.kind = objectNode
	seen := map[string]bool{}
	for p.dec.More() {
		off := p.next()
		tok, err := p.dec.Token()
		if err != nil {
			return p.wrap(off, err)
		}
		key, ok := tok.(string)
		if !ok {
			return &syntaxError{off, "a key must be a string"}
		}
		val, serr := p.value(n.ptr+"/"+escapePointer(key), depth+1)
		if serr != nil {
			return serr
		}
		if seen[key] {
			p.dups = append(p.dups, member{key, off, n})
			continue
		}
		seen[key] = true
		n.members = append(n.members, member{key, off, val})
	}
	return p.closing()
}

func (p *treeParser) array(n *node, depth int) *syntaxError {
	n.kind = arrayNode
	for p.dec.More() {
		val, serr := p.value(n.ptr+"/"+strconv.Itoa(len(n.items)), depth+1)
		if serr != nil {
			return serr
		}
		n.items = append(n.items, val)
	}
	return p.closing()
}

func (p *treeParser) closing() *syntaxError {
	off := p.next()
	if _, err := p.dec.Token(); err != nil {
		return p.wrap(off, err)
	}
	return nil
}

func (p *treeParser) wrap(off int, err error) *syntaxError {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &syntaxError{len(p.src), "the document ends too early"}
	}
	return &syntaxError{off, err.Error()}
}

// escapePointer writes a key as a JSON pointer token.
func escapePointer(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

// position turns a byte offset into a line and a column, both from 1. Columns
// count characters.
func position(src []byte, off int) (line, col int) {
	off = min(off, len(src))
	line = 1 + bytes.Count(src[:off], []byte{'\n'})
	start := bytes.LastIndexByte(src[:off], '\n') + 1
	return line, 1 + utf8.RuneCount(src[start:off])
}
