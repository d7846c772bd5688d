package tree

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pmezard/go-difflib/difflib"
)

// maxDiffLines bounds the side of a diff; matching longer texts takes longer
// than anybody reads.
const maxDiffLines = 20000

// unified renders a diff of one file; nil means the file is not there.
func unified(p string, old, new []byte) string {
	from, to := "a/"+p, "b/"+p
	if old == nil {
		from = "/dev/null"
	}
	if new == nil {
		to = "/dev/null"
	}
	if bytes.Equal(old, new) && (old == nil) == (new == nil) {
		return ""
	}
	if isBinary(old) || isBinary(new) {
		return fmt.Sprintf("Binary files %s and %s differ\n", from, to)
	}
	a, b := diffLines(old), diffLines(new)
	if len(a) > maxDiffLines || len(b) > maxDiffLines {
		return fmt.Sprintf("Files %s and %s differ (%d and %d lines)\n", from, to, len(a), len(b))
	}
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: a, B: b, FromFile: from, ToFile: to, Context: 3})
	if err != nil {
		return fmt.Sprintf("Files %s and %s differ (%v)\n", from, to, err)
	}
	if text == "" {
		return fmt.Sprintf("--- %s\n+++ %s\n", from, to) // an empty file comes or goes
	}
	return text
}

func isBinary(b []byte) bool { return bytes.IndexByte(b, 0) >= 0 || !utf8.Valid(b) }

func diffLines(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	lines := strings.SplitAfter(string(b), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		return lines[:last]
	} else {
		lines[last] += "\n\\ No newline at end of file\n"
	}
	return lines
}
