package yamldoc

import (
	"bytes"
	"fmt"
	"sort"
	"unicode/utf8"

	"github.com/agentworkforce/sbx/internal/diag"
)

// block is the number of bytes between entries of source.runes.
const block = 1 << 10

// source is a file's text and where its lines start.
type source struct {
	src    []byte
	starts []int // byte offset of each line
	ascii  bool
	bom    bool // the file had a byte-order mark in front of src
	// runes[i] is how many code points start in the first i blocks of src,
	// so that a column on a line of a megabyte is found by counting one block.
	// It is nil for ASCII.
	runes []int
}

// readSource checks what can be checked byte by byte. ok is false when the
// text must not reach a parser: then its line breaks or characters are not
// what a parser would take them for.
func readSource(src []byte, r *report) (text source, ok bool) {
	src, hadBOM := bytes.CutPrefix(src, []byte("\ufeff"))
	text = source{src: src, starts: make([]int, 1, 2+len(src)/24), ascii: true, bom: hadBOM}
	crlf := -1
	suspect := false
	for i, c := range src {
		switch {
		case c == '\n':
			text.starts = append(text.starts, i+1)
		case c == '\r' && i+1 < len(src) && src[i+1] == '\n':
			if crlf < 0 {
				crlf = i
			}
		case c >= utf8.RuneSelf:
			text.ascii = false
		case c < ' ' && c != '\t', c == 0x7f:
			suspect = true
		}
	}
	if hadBOM {
		r.add(RuleBOM, diag.Span{Line: 1, Col: 1, EndLine: 1, EndCol: 1}, "the file starts with a byte-order mark",
			"save it as UTF-8 without BOM")
	}
	if !text.ascii {
		text.index()
	}
	r.text = text
	ok = true
	if suspect || !text.ascii {
		ok = text.checkRunes(r)
	}
	if crlf >= 0 {
		at := text.place(crlf)
		r.add(RuleCRLF, text.span(crlf, crlf),
			fmt.Sprintf("line %d ends with CRLF", at.Line),
			fmt.Sprintf("%d of %d lines do; convert the file to LF line ends", bytes.Count(src, []byte("\r\n")), text.count()))
	}
	return text, ok
}

// checkRunes reports bytes that are not UTF-8 and characters that do not
// belong into a text file or that YAML alone takes for line breaks.
func (t source) checkRunes(r *report) bool {
	ok := true
	for i := 0; i < len(t.src); {
		c, n := utf8.DecodeRune(t.src[i:])
		switch {
		case c == utf8.RuneError && n == 1:
			help := "save the file as UTF-8"
			if bytes.HasPrefix(t.src, []byte("\xff\xfe")) || bytes.HasPrefix(t.src, []byte("\xfe\xff")) {
				help = "it looks like UTF-16; save it as UTF-8"
			}
			r.at(RuleUTF8, i, i+1, fmt.Sprintf("byte 0x%02x is not UTF-8", t.src[i]), help)
			return false // what follows would be guesswork
		case t.forbidden(i, c):
			r.at(RuleControl, i, i+n, fmt.Sprintf("character U+%04X is not accepted", c),
				"remove it; written as an escape it is not accepted either")
			ok = false
		}
		i += n
	}
	return ok
}

func (t source) forbidden(i int, c rune) bool {
	switch c {
	case '\n', '\t':
		return false
	case '\r':
		return i+1 == len(t.src) || t.src[i+1] != '\n'
	}
	return isForbidden(c)
}

// isForbidden reports whether c must not be in a text, raw or as an escape, line
// breaks and tabs aside: control characters, what turns the direction of the text
// after it, and what one reader or another takes for a line break or a mark.
func isForbidden(c rune) bool {
	switch c {
	case '\u061c', '\u200e', '\u200f', '\u2028', '\u2029', '\ufeff', '\ufffe', '\uffff':
		return true
	}
	return c < ' ' || c >= 0x7f && c <= 0x9f || c >= '\u202a' && c <= '\u202e' || c >= '\u2066' && c <= '\u2069'
}

// Forbidden returns the first character of a text that Parse refuses in every
// form, raw or as an escape; false when there is none.
func Forbidden(text string) (rune, bool) {
	for _, c := range text {
		if c != '\n' && c != '\t' && isForbidden(c) {
			return c, true
		}
	}
	return 0, false
}

// count returns the number of lines.
func (t source) count() int {
	n := len(t.starts)
	if t.starts[n-1] == len(t.src) {
		n--
	}
	return n
}

// bounds returns the byte range of line n without its line break.
func (t source) bounds(n int) (from, to int) {
	if n < 1 || n > len(t.starts) {
		return len(t.src), len(t.src)
	}
	from, to = t.starts[n-1], len(t.src)
	if n < len(t.starts) {
		to = t.starts[n] - 1
		if to > from && t.src[to-1] == '\r' {
			to--
		}
	}
	return from, to
}

func (t source) line(n int) string {
	from, to := t.bounds(n)
	return string(t.src[from:to])
}

// offset returns the byte offset of a line and code-point column; one beyond
// the end of the line is the end of the line.
func (t source) offset(line, col int) int {
	from, to := t.bounds(line)
	if t.ascii {
		return min(from+max(col-1, 0), to)
	}
	want := t.runesBefore(from) + max(col-1, 0)
	if want >= t.runesBefore(to) {
		return to
	}
	// The last block with no more than the wanted code points before it.
	i := sort.SearchInts(t.runes, want+1) - 1
	at := max(i*block, from)
	for n := t.runesBefore(at); n < want || !utf8.RuneStart(t.src[at]); at++ {
		if utf8.RuneStart(t.src[at]) {
			n++
		}
	}
	return at
}

func (t *source) index() {
	t.runes = make([]int, 1, 2+len(t.src)/block)
	for from := 0; from < len(t.src); from += block {
		n := countStarts(t.src[from:min(from+block, len(t.src))])
		t.runes = append(t.runes, t.runes[len(t.runes)-1]+n)
	}
}

// runesBefore returns how many code points start before a byte offset.
func (t source) runesBefore(offset int) int {
	if t.ascii {
		return offset
	}
	i := offset / block
	return t.runes[i] + countStarts(t.src[i*block:offset])
}

func countStarts(b []byte) int {
	n := 0
	for _, c := range b {
		if utf8.RuneStart(c) {
			n++
		}
	}
	return n
}

// place returns the position of a byte offset, as an empty span.
func (t source) place(offset int) diag.Span { return t.span(offset, offset) }

// span returns the positions of a range of bytes.
func (t source) span(from, to int) diag.Span {
	var s diag.Span
	s.Line, s.Col = t.position(from)
	s.EndLine, s.EndCol = t.position(to)
	return s
}

func (t source) position(offset int) (line, col int) {
	offset = min(max(offset, 0), len(t.src))
	lo, hi := 0, len(t.starts)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; t.starts[mid] <= offset {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo + 1, t.runesBefore(offset) - t.runesBefore(t.starts[lo]) + 1
}
