package diag

import (
	"cmp"
	"fmt"
	"strings"
)

// Severity says how much a diagnostic matters. The zero value is Error, so a
// finding whose author forgot to choose is never taken for harmless.
type Severity int

// The severities, most serious first; sorting relies on this order.
const (
	Error   Severity = iota // blocks: the run fails
	Warning                 // does not block unless the caller is strict
	Note                    // information
)

// String returns error, warning or note; another value prints as a number.
func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	case Note:
		return "note"
	}
	return fmt.Sprintf("severity(%d)", int(s))
}

// Span is a range of text in one file, in 1-based lines and code-point
// columns; the end is exclusive. The zero Span means "position not known".
type Span struct {
	Line, Col, EndLine, EndCol int
}

// IsZero reports whether the span carries no position at all.
func (s Span) IsZero() bool { return s == Span{} }

// Related is a second place that explains a diagnostic, such as the first of
// two duplicate keys. An empty File means the diagnostic's own file.
type Related struct {
	File    string
	Span    Span
	Message string
}

// Diagnostic is one finding about one place of one file. It is a plain value:
// copies are independent except for the Related slice, which nobody changes
// after the diagnostic is added to a Set.
type Diagnostic struct {
	// File is the path as the user gave it, with forward slashes. Empty means
	// the finding belongs to no file.
	File string
	// Line, Col, EndLine and EndCol are as in Span; zero means not known.
	Line, Col, EndLine, EndCol int
	// Rule is the stable rule ID, such as SBX203.
	Rule string
	// Severity is Error when not set.
	Severity Severity
	// Message says what is wrong in one sentence, without position or rule.
	Message string
	// Help says how to put it right, in free words. Optional.
	Help string
	// Suggestion is the exact text to put in place of the span, shown as "did
	// you mean". Optional; Suggest finds one.
	Suggestion string
	// Next is the command to run next. Optional.
	Next string
	// Related are other places that matter. Optional.
	Related []Related
}

// Span returns the diagnostic's position.
func (d Diagnostic) Span() Span {
	return Span{Line: d.Line, Col: d.Col, EndLine: d.EndLine, EndCol: d.EndCol}
}

// At returns a copy of d placed at s.
func (d Diagnostic) At(s Span) Diagnostic {
	d.Line, d.Col, d.EndLine, d.EndCol = s.Line, s.Col, s.EndLine, s.EndCol
	return d
}

// String returns the one-line form: file:line:col: severity: message [rule].
// Control characters in the message are escaped.
func (d Diagnostic) String() string {
	var b strings.Builder
	writePlace(&b, d.File, d.Span())
	b.WriteString(d.Severity.String())
	b.WriteString(": ")
	b.WriteString(printable(d.Message))
	if d.Rule != "" {
		b.WriteString(" [" + d.Rule + "]")
	}
	return b.String()
}

// writePlace writes "file:line:col: " with the parts that are known.
func writePlace(b *strings.Builder, file string, s Span) {
	if file == "" {
		return
	}
	b.WriteString(printable(file))
	if s.Line > 0 {
		fmt.Fprintf(b, ":%d", s.Line)
		if s.Col > 0 {
			fmt.Fprintf(b, ":%d", s.Col)
		}
	}
	b.WriteString(": ")
}

// compare orders by place, then rule, severity and text, so that the order of
// a Set never depends on the order of discovery.
func compare(a, b Diagnostic) int {
	return cmp.Or(
		compareIdentity(a, b),
		cmp.Compare(a.EndLine, b.EndLine),
		cmp.Compare(a.EndCol, b.EndCol),
		// The richer twin sorts first and is the one a Set keeps.
		cmp.Compare(len(b.Related), len(a.Related)),
		cmp.Compare(b.Suggestion, a.Suggestion),
		cmp.Compare(b.Help, a.Help),
		cmp.Compare(b.Next, a.Next),
	)
}

// compareIdentity is zero when a and b are the same finding, however much each
// of them adds to it.
func compareIdentity(a, b Diagnostic) int {
	return cmp.Or(
		cmp.Compare(a.File, b.File),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Col, b.Col),
		cmp.Compare(a.Rule, b.Rule),
		cmp.Compare(a.Severity, b.Severity),
		cmp.Compare(a.Message, b.Message),
	)
}
