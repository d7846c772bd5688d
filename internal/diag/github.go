package diag

import (
	"io"
	"strconv"
	"strings"
)

// GitHub prints a set as GitHub workflow commands, one annotation a line:
//
//	::error file=catalog/acme.yaml,line=14,col=5,endColumn=11,title=SBX203::message
//
// Control characters are escaped, so a file's own words cannot start a command.
// endColumn is inclusive there. GitHub refuses columns on an annotation that
// spans lines, so such a one carries line and endLine only. The error is w's.
func GitHub(w io.Writer, s *Set) error {
	var b strings.Builder
	for _, d := range s.All() {
		switch d.Severity {
		case Warning:
			b.WriteString("::warning")
		case Note:
			b.WriteString("::notice")
		default:
			b.WriteString("::error")
		}
		sep := " "
		property := func(name, value string) {
			b.WriteString(sep + name + "=" + githubProperty.Replace(value))
			sep = ","
		}
		if d.File != "" {
			property("file", d.File)
			githubPlace(d.Span(), func(name string, n int) { property(name, strconv.Itoa(n)) })
		}
		if d.Rule != "" {
			property("title", d.Rule)
		}
		d.Message, d.Help, d.Suggestion, d.Next = printable(d.Message), printable(d.Help), printable(d.Suggestion), printable(d.Next)
		b.WriteString("::" + githubData.Replace(advice(d)) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func githubPlace(s Span, property func(name string, n int)) {
	if s.Line < 1 {
		return
	}
	property("line", s.Line)
	switch {
	case s.EndLine > s.Line:
		property("endLine", s.EndLine)
	case s.Col > 0:
		property("col", s.Col)
		property("endColumn", max(s.EndCol-1, s.Col))
	}
}

// The runner decodes these and no other sequences; % comes first so that the
// replacements are not replaced.
var (
	githubData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
