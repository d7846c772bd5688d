package gate

import (
	"fmt"
	"strconv"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/yamldoc"
)

// cursor is a value of a document and where it is. A cursor to nothing has a
// nil value; every accessor of it answers with a zero value, so rules read
// documents that broke the schema without a special case.
type cursor struct {
	pointer string
	value   any
}

// at returns the value below c that keys lead to. Where they lead to nothing the
// cursor points to the last value that is there.
func (c cursor) at(keys ...string) cursor {
	for _, key := range keys {
		m, _ := c.value.(map[string]any)
		value, ok := m[key]
		if !ok {
			return cursor{pointer: c.pointer}
		}
		c = cursor{pointer: yamldoc.Join(c.pointer, key), value: value}
	}
	return c
}

// has reports whether c is a mapping with this key.
func (c cursor) has(key string) bool {
	m, _ := c.value.(map[string]any)
	_, ok := m[key]
	return ok
}

// items returns the entries of a list.
func (c cursor) items() []cursor {
	list, _ := c.value.([]any)
	out := make([]cursor, len(list))
	for i, v := range list {
		out[i] = cursor{pointer: c.pointer + "/" + strconv.Itoa(i), value: v}
	}
	return out
}

// text returns a string, and "" for everything else.
func (c cursor) text() string {
	s, _ := c.value.(string)
	return s
}

// fact returns the value of a fact; false when it is unknown or not stated.
func (c cursor) fact() (cursor, bool) {
	if !c.has("value") {
		return cursor{}, false
	}
	return c.at("value"), true
}

// factText returns the word of a fact, and "" when there is none.
func (c cursor) factText() string {
	v, _ := c.fact()
	return v.text()
}

// factCount returns the number of a fact, and false when there is none.
func (c cursor) factCount() (int64, bool) {
	v, _ := c.fact()
	n, ok := v.value.(int64)
	return n, ok
}

// factBool returns the truth of a fact, and false when there is none.
func (c cursor) factBool() (truth, known bool) {
	v, _ := c.fact()
	truth, known = v.value.(bool)
	return truth, known
}

// maxMeant bounds the findings of these rules about one document.
const maxMeant = 500

// report collects findings about one document.
type report struct {
	doc   *yamldoc.Doc
	found []diag.Diagnostic
}

// onValue reports a finding at the value of c; a mapping or list is pointed to by
// its key.
func (r *report) onValue(rule string, c cursor, format string, args ...any) *diag.Diagnostic {
	return r.span(rule, r.spanOf(c), format, args...)
}

// onKey reports a finding at the key of c, or of what c is an entry of.
func (r *report) onKey(rule string, c cursor, format string, args ...any) *diag.Diagnostic {
	key, _ := r.doc.Pos(r.doc.Nearest(c.pointer))
	if key.IsZero() {
		key = r.spanOf(c)
	}
	return r.span(rule, key, format, args...)
}

func (r *report) span(rule string, at diag.Span, format string, args ...any) *diag.Diagnostic {
	d := diag.Diagnostic{File: r.doc.Name(), Rule: rule, Message: fmt.Sprintf(format, args...)}
	if len(r.found) >= maxMeant {
		return &d // nobody reads more, and a hostile document could have many
	}
	r.found = append(r.found, d.At(at))
	return &r.found[len(r.found)-1]
}

// spanOf returns where c is shown: a scalar itself, the key of a mapping or
// list, the first key of one that has none.
func (r *report) spanOf(c cursor) diag.Span {
	pointer := r.doc.Nearest(c.pointer)
	key, value := r.doc.Pos(pointer)
	if r.doc.Kind(pointer) == yamldoc.Scalar {
		return value
	}
	if !key.IsZero() {
		return key
	}
	if children := r.doc.Children(pointer); len(children) > 0 {
		if key, _ = r.doc.Pos(children[0].Pointer); !key.IsZero() {
			return key
		}
	}
	value.EndLine, value.EndCol = value.Line, value.Col+1
	return value
}
