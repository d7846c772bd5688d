package diag

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// defaultWidth is how many columns of a source line are shown by default.
const defaultWidth = 100

// TextOptions says how Text prints. The zero value prints without colour and
// without source lines.
type TextOptions struct {
	// Color asks for ANSI colours. Text never guesses; the caller knows its
	// terminal.
	Color bool
	// Source returns a file's bytes, or nil when it has none to show. It is
	// called once for each file. Nil means no source lines.
	Source func(file string) []byte
	// Width is the number of columns of a source line to show; a longer line
	// is cut to a window around the caret. 0 means 100; less than 20 is 20.
	Width int
}

// Text prints a set for people:
//
//	catalog/acme.yaml:14:11: error: unknown status "verifed" [SBX203]
//	14 |   status: verifed
//	   |           ^~~~~~~
//	     did you mean "verified"?
//	     run: sbxgen explain SBX203
//
// The source line and the lines under it appear only where there is something
// to say. It prints no summary; print Counts for that. The error is w's.
func Text(w io.Writer, s *Set, opt TextOptions) error {
	p := textPrinter{opt: opt, lines: map[string][]string{}}
	if p.opt.Width == 0 {
		p.opt.Width = defaultWidth
	}
	p.opt.Width = max(p.opt.Width, 20)
	for _, d := range s.All() {
		p.diagnostic(d)
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

type textPrinter struct {
	b     strings.Builder
	opt   TextOptions
	lines map[string][]string
}

// The ANSI codes Text uses.
const (
	ansiBold   = "1"
	ansiRed    = "1;31"
	ansiYellow = "1;33"
	ansiBlue   = "1;34"
	ansiCyan   = "1;36"
)

func (p *textPrinter) paint(code, s string) string {
	if !p.opt.Color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func severityColor(s Severity) string {
	switch s {
	case Warning:
		return ansiYellow
	case Note:
		return ansiCyan
	}
	return ansiRed
}

func (p *textPrinter) diagnostic(d Diagnostic) {
	var place strings.Builder
	writePlace(&place, d.File, d.Span())
	color := severityColor(d.Severity)
	p.b.WriteString(p.paint(ansiBold, strings.TrimSuffix(place.String(), " ")))
	if place.Len() > 0 {
		p.b.WriteByte(' ')
	}
	p.b.WriteString(p.paint(color, d.Severity.String()+":"))
	p.b.WriteString(" " + printable(d.Message))
	if d.Rule != "" {
		p.b.WriteString(" [" + d.Rule + "]")
	}
	p.b.WriteByte('\n')

	indent := "     "
	if line, ok := p.line(d.File, d.Line); ok {
		gutter := fmt.Sprintf("%*d", 2, d.Line)
		indent = strings.Repeat(" ", len(gutter)+3)
		p.listing(d, line, gutter, color)
	}
	if d.Help != "" {
		p.aside(indent, ansiBlue, "help:", d.Help)
	}
	if d.Suggestion != "" {
		fmt.Fprintf(&p.b, "%s%s %s?\n", indent, p.paint(ansiBlue, "did you mean"), printable(quoted(d.Suggestion)))
	}
	for _, r := range d.Related {
		var at strings.Builder
		file := r.File
		if file == "" {
			file = d.File
		}
		writePlace(&at, file, r.Span)
		p.aside(indent, ansiCyan, "note:", at.String()+r.Message)
	}
	if d.Next != "" {
		p.aside(indent, ansiBlue, "run:", d.Next)
	}
}

func (p *textPrinter) aside(indent, color, label, text string) {
	fmt.Fprintf(&p.b, "%s%s %s\n", indent, p.paint(color, label), printable(text))
}

// line returns a file's nth line, reading the file once.
func (p *textPrinter) line(file string, n int) (string, bool) {
	if p.opt.Source == nil || file == "" || n < 1 {
		return "", false
	}
	lines, seen := p.lines[file]
	if !seen {
		if src := p.opt.Source(file); src != nil {
			src = bytes.TrimPrefix(src, []byte("\ufeff"))
			lines = strings.Split(string(src), "\n")
		}
		p.lines[file] = lines
	}
	if n > len(lines) {
		return "", false
	}
	return strings.TrimSuffix(lines[n-1], "\r"), true
}

// listing prints the source line and, when the column is known, the caret.
func (p *textPrinter) listing(d Diagnostic, line, gutter, color string) {
	line, dropped := crop(line, d.Col, p.opt.Width)
	cs := cells(line)
	first, last := caretCells(d, dropped, len(cs))
	shown, from, to := window(cs, first, p.opt.Width)
	if shown = strings.TrimRight(shown, " "); shown != "" {
		shown = " " + shown
	}
	p.b.WriteString(p.paint(ansiBlue, gutter+" |") + shown + "\n")
	if d.Col < 1 {
		return
	}
	lead := 0
	if from > 0 {
		lead = 1 // the ellipsis
	}
	for i := from; i < first && i < len(cs); i++ {
		lead += cs[i].width
	}
	span := 0
	for i := first; i < min(last, to); i++ {
		span += cs[i].width
	}
	marks := "^" + strings.Repeat("~", max(span-1, 0))
	fmt.Fprintf(&p.b, "%s %s%s\n", p.paint(ansiBlue, strings.Repeat(" ", len(gutter))+" |"),
		strings.Repeat(" ", lead), p.paint(color, marks))
}

// crop cuts a very long line to its part around col, so that a listing costs
// the same however long the line is, and says how many characters it dropped
// in front. The part still reaches beyond the window on both sides.
func crop(line string, col, width int) (part string, dropped int) {
	const long = 8 << 10
	if len(line) <= long {
		return line, 0
	}
	from, to := max(col-1-2*width, 0), max(col, 1)+2*width
	start, end, n := len(line), len(line), 0
	for i := range line {
		if n == from {
			start = i
		}
		if n == to {
			end = i
			break
		}
		n++
	}
	return line[start:end], min(from, n)
}

// caretCells returns the cells a diagnostic covers on its first line, of which
// the first dropped characters are not among the n cells.
func caretCells(d Diagnostic, dropped, n int) (first, last int) {
	first = min(max(d.Col-1-dropped, 0), n)
	switch {
	case d.EndLine > d.Line:
		last = n
	case d.EndCol > d.Col:
		last = min(d.EndCol-1-dropped, n)
	default:
		last = min(first+1, n)
	}
	return first, last
}

// window cuts a line to width columns around cell at, marking each cut with an
// ellipsis, and says which cells it kept.
func window(cs []cell, at, width int) (shown string, from, to int) {
	total := 0
	for _, c := range cs {
		total += c.width
	}
	to = len(cs)
	if total > width {
		from = at
		for before := 0; from > 0 && before+cs[from-1].width <= width/3; from-- {
			before += cs[from-1].width
		}
		used := 0
		for to = from; to < len(cs) && used+cs[to].width <= width-2; to++ {
			used += cs[to].width
		}
	}
	var b strings.Builder
	if from > 0 {
		b.WriteString("…")
	}
	for _, c := range cs[from:to] {
		b.WriteString(c.text)
	}
	if to < len(cs) {
		b.WriteString("…")
	}
	return b.String(), from, to
}
