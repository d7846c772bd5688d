// Package yamldoc reads a YAML or JSON file once and keeps both what it says
// and where it says it: a plain value for a JSON Schema validator, and the
// line and column of every key and value, named by JSON pointer.
//
// What it accepts is the part of YAML that means the same to every reader and
// can be written as JSON: one document, string keys, each key once, no
// anchors, aliases, merge keys, tags or directives, no numbers that only some
// readers understand. Everything else is refused with a rule of its own and an
// exact position; Rules lists them. A file whose name ends in .json is read as
// strict JSON into the same tree.
//
// The value holds map[string]any, []any, string, bool, nil, int64 for numbers
// written without fraction or exponent (up to 2^53-1 either way), and float64
// for the others, both saying exactly what the text says. An unquoted date is a string.
//
// Cost is bounded before parsing by MaxBytes and after it by MaxDepth; an
// alias is never expanded. Positions cost nothing until they are asked for.
package yamldoc

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agentworkforce/sbx/internal/diag"
	"go.yaml.in/yaml/v3"
)

// Limits of what Parse accepts.
const (
	MaxBytes = 1 << 20 // bytes of a file
	MaxDepth = 64      // mappings and sequences inside one another

	// maxFindings bounds the diagnostics of one file; a last one says that
	// there were more.
	maxFindings = 200
)

// Doc is one parsed file. It is immutable after Parse and safe for concurrent
// use, as long as nobody changes what Value returned.
type Doc struct {
	name  string
	text  source
	root  *yaml.Node
	value any
	// unsure are the nodes whose value Parse could not give faithfully.
	unsure map[*yaml.Node]struct{}
	found  int // how many findings Parse made, shown or not
}

// Parse reads src, a whole file called name, as JSON when name ends in .json
// and as YAML otherwise, and returns what it holds and everything it refuses.
// The Doc is nil exactly when the text has no usable tree: after a syntax
// error, for one. With a Doc and diagnostics of severity error, the value is
// faithful except where Unsure says otherwise, so that a schema check can go
// on and report its own findings. Parse does not keep or change src beyond
// reading it through the Doc; the caller must not change it afterwards. It
// never panics.
func Parse(name string, src []byte) (*Doc, []diag.Diagnostic) {
	r := &report{file: name}
	if len(src) > MaxBytes {
		r.tooLarge(len(src))
		return nil, r.done()
	}
	text, ok := readSource(src, r)
	if !ok {
		return nil, r.done()
	}
	var root *yaml.Node
	if strings.HasSuffix(name, ".json") {
		root = parseJSON(text, r)
	} else {
		root = parseYAML(text, r)
	}
	if root == nil {
		return nil, r.done()
	}
	d := &Doc{name: name, text: text, root: root}
	b := builder{doc: d, report: r, bangs: bytes.IndexByte(text.src, '!') >= 0, slashes: bytes.IndexByte(text.src, '\\') >= 0}
	d.value = b.value(root, 0)
	d.found = len(r.found) + r.dropped
	return d, r.done()
}

// Read reads at most MaxBytes and one byte more from in and parses them as
// Parse does, so a huge file costs no more than the largest one accepted. The
// error is in's; then nothing is parsed.
func Read(name string, in io.Reader) (*Doc, []diag.Diagnostic, error) {
	src, err := io.ReadAll(io.LimitReader(in, MaxBytes+1))
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", name, err)
	}
	d, ds := Parse(name, src)
	return d, ds, nil
}

// Name returns the name given to Parse.
func (d *Doc) Name() string { return d.name }

// Value returns the whole value. It is shared: callers must not change it.
func (d *Doc) Value() any { return d.value }

// Source returns the text positions refer to: the file without a leading
// byte-order mark. Callers must not change it.
func (d *Doc) Source() []byte { return d.text.src }

// Lines returns the number of lines; a line break at the very end starts none.
func (d *Doc) Lines() int { return d.text.count() }

// Line returns the nth line, from 1, without its line break; a line that does
// not exist is empty.
func (d *Doc) Line(n int) string { return d.text.line(n) }

// Kind says what a value is.
type Kind int

// The kinds of value.
const (
	Absent Kind = iota // the pointer leads nowhere
	Scalar             // string, number, bool or null
	Sequence
	Mapping
)

// Kind returns what pointer leads to.
func (d *Doc) Kind(pointer string) Kind {
	_, n, _ := d.find(pointer)
	switch {
	case n == nil:
		return Absent
	case n.Kind == yaml.MappingNode:
		return Mapping
	case n.Kind == yaml.SequenceNode:
		return Sequence
	}
	return Scalar
}

// Child is one entry of a mapping or element of a sequence.
type Child struct {
	Name    string // the key, or the index in decimal
	Pointer string // the child's own JSON pointer
}

// Children returns what is directly inside pointer in the order of the file,
// a repeated key once, and nothing for a scalar or a pointer to nowhere.
func (d *Doc) Children(pointer string) []Child {
	_, n, _ := d.find(pointer)
	if n == nil {
		return nil
	}
	var out []Child
	switch n.Kind {
	case yaml.MappingNode:
		seen := make(map[string]struct{}, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			name := n.Content[i].Value
			if _, again := seen[name]; again || n.Content[i].Kind != yaml.ScalarNode {
				continue
			}
			seen[name] = struct{}{}
			out = append(out, Child{Name: name, Pointer: Join(pointer, name)})
		}
	case yaml.SequenceNode:
		for i := range n.Content {
			name := fmt.Sprint(i)
			out = append(out, Child{Name: name, Pointer: Join(pointer, name)})
		}
	}
	return out
}

// Pos returns where the key and the value of pointer stand. The key is zero
// for the root and for an element of a sequence, both are zero when the
// pointer leads nowhere. Of a repeated key it is the first. A value left out
// ("key:") has an empty span just after the colon. The end of a block mapping
// or sequence is the end of its last value.
func (d *Doc) Pos(pointer string) (key, value diag.Span) {
	k, n, parents := d.find(pointer)
	if n == nil {
		return diag.Span{}, diag.Span{}
	}
	if k != nil {
		key = d.text.span(d.extent(k, parents))
	}
	return key, d.text.span(d.extent(n, parents))
}

// Nearest returns pointer, or its longest prefix that exists in the document:
// where to report a finding about something that is not there.
func (d *Doc) Nearest(pointer string) string {
	for {
		if _, n, _ := d.find(pointer); n != nil || pointer == "" {
			return pointer
		}
		pointer = pointer[:max(strings.LastIndexByte(pointer, '/'), 0)]
	}
}

// Unsure reports whether the value at pointer, or of something it is inside
// of, is not faithful because Parse refused it: an alias, say, or a mapping
// with a merge key. A finding about such a value may be a mere consequence of
// one already reported.
func (d *Doc) Unsure(pointer string) bool {
	if len(d.unsure) == 0 {
		return false
	}
	_, n, parents := d.find(d.Nearest(pointer))
	return slices.ContainsFunc(append(parents, n), func(n *yaml.Node) bool {
		_, bad := d.unsure[n]
		return bad
	})
}

// find follows pointer from the root and returns the key node, if there is
// one, the value node, and the nodes passed on the way, outermost first.
func (d *Doc) find(pointer string) (key, value *yaml.Node, parents []*yaml.Node) {
	tokens, ok := Split(pointer)
	if !ok {
		return nil, nil, nil
	}
	n := d.root
	for _, t := range tokens {
		parents = append(parents, n)
		if key, n = child(n, t); n == nil {
			return nil, nil, parents
		}
	}
	return key, n, parents
}

func child(n *yaml.Node, token string) (key, value *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if k := n.Content[i]; k.Kind == yaml.ScalarNode && k.Value == token {
				return k, n.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, ok := index(token); ok && i < len(n.Content) {
			return nil, n.Content[i]
		}
	}
	return nil, nil
}
