package gate

import (
	"encoding/binary"
	"encoding/json"
	"errors"

	"github.com/agentworkforce/sbx/internal/diag"
)

// errCacheEntry says that an entry of the cache is not one.
var errCacheEntry = errors.New("not a cache entry")

// coder writes or reads the fields of a cache entry in a fixed order; which of
// the two it does is set once. JSON would be most of the cost of a run in which
// nothing has changed.
type coder struct {
	src     []byte
	reading bool
	visit   func(string) string // replaces every text instead, when it is set
	err     error
}

// encodeEntry writes what a file says: its facts, then its findings as JSON when
// there are any.
func encodeEntry(e *examined) ([]byte, error) {
	c := &coder{}
	f := e.facts
	c.facts(&f)
	if len(e.found) == 0 {
		return c.src, nil
	}
	found, err := json.Marshal(e.found)
	return append(c.src, found...), err
}

func decodeEntry(src []byte) (*examined, error) {
	e := &examined{}
	c := &coder{src: src, reading: true}
	c.facts(&e.facts)
	if c.err != nil {
		return nil, c.err
	}
	if len(c.src) > 0 {
		if err := json.Unmarshal(c.src, &e.found); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// facts are all fields of facts; a new field is added here and cacheMagic raised.
func (c *coder) facts(f *facts) {
	c.word(&f.ID)
	c.text(&f.Kind)
	c.word(&f.Base)
	c.word(&f.Isolation)
	list(c, &f.Supported, c.text)
	c.link(&f.Lock)
	list(c, &f.Days, c.day)
	c.word(&f.Provider)
	c.word(&f.Status)
	c.word(&f.VerifiedAt)
	c.word(&f.ExpiresAt)
	list(c, &f.Evidence, c.link)
	list(c, &f.Waivers, c.word)
	list(c, &f.Imports, c.word)
	list(c, &f.Stubs, c.word)
}

// list codes the length of a list, then each entry.
func list[T any](c *coder, entries *[]T, one func(*T)) {
	n := len(*entries)
	c.number(&n)
	if c.reading && n > 0 {
		if n > len(c.src) {
			c.err = errCacheEntry
			return
		}
		*entries = make([]T, n)
	}
	for i := range *entries {
		one(&(*entries)[i])
	}
}

func (c *coder) number(n *int) {
	if c.visit != nil {
		return
	}
	if !c.reading {
		c.src = binary.AppendUvarint(c.src, uint64(*n))
		return
	}
	v, size := binary.Uvarint(c.src)
	if size <= 0 || v > 1<<31 {
		c.src, c.err = nil, errCacheEntry
		return
	}
	*n, c.src = int(v), c.src[size:]
}

func (c *coder) text(s *string) {
	if c.visit != nil {
		*s = c.visit(*s)
		return
	}
	n := len(*s)
	c.number(&n)
	if !c.reading {
		c.src = append(c.src, *s...)
		return
	}
	if n > len(c.src) {
		c.src, c.err = nil, errCacheEntry
		return
	}
	*s, c.src = string(c.src[:n]), c.src[n:]
}

func (c *coder) span(s *diag.Span) {
	c.number(&s.Line)
	c.number(&s.Col)
	c.number(&s.EndLine)
	c.number(&s.EndCol)
}

func (c *coder) word(w *word) {
	c.text(&w.Text)
	c.span(&w.At)
}

func (c *coder) link(l *link) {
	c.word(&l.Path)
	c.word(&l.SHA256)
}

func (c *coder) day(d *day) {
	c.word(&d.word)
	n := 0
	if d.Price {
		n = 1
	}
	c.number(&n)
	d.Price = n == 1
}
