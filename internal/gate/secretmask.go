package gate

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/secretscan"
)

// hidden stands in a message for a value that is not shown.
const hidden = "(hidden)"

// hideSecrets takes the values of secrets out of everything that is kept of a
// file: what findings about it say, and its facts, which later findings repeat
// and the cache stores.
func hideSecrets(e *examined, src []byte, secrets []secretscan.Finding) {
	values := make([]string, 0, len(secrets))
	for _, s := range secrets {
		values = append(values, string(src[s.Start:s.End]))
	}
	longestFirst(values)
	pairs := make([]string, 0, 2*len(values))
	for _, value := range values {
		pairs = append(pairs, value, hidden)
	}
	hide := strings.NewReplacer(pairs...).Replace
	for i := range e.found {
		d := &e.found[i]
		d.Message, d.Help, d.Suggestion = hide(d.Message), hide(d.Help), hide(d.Suggestion)
	}
	(&coder{visit: hide}).facts(&e.facts)
}

// longestFirst sorts values so that one that begins with another is replaced
// whole.
func longestFirst(values []string) {
	slices.SortFunc(values, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
}

// Mask returns a function for diag.TextOptions.Source: the text of a file with
// every finding of SBX5xx in set, and every part of the text equal to one,
// replaced by asterisks, column for column. Read returns a file's bytes, or nil.
func Mask(set *diag.Set, read func(file string) []byte) func(file string) []byte {
	spans := map[string][]diag.Span{}
	for _, d := range set.All() {
		if strings.HasPrefix(d.Rule, "SBX5") {
			spans[d.File] = append(spans[d.File], d.Span())
		}
	}
	return func(file string) []byte {
		src := read(file)
		if len(spans[file]) == 0 || src == nil {
			return src
		}
		lines := strings.SplitAfter(string(src), "\n")
		masked := make([]string, 0, len(spans[file]))
		for _, s := range spans[file] {
			if s.Line < 1 || s.Line > len(lines) {
				continue
			}
			line := []rune(strings.TrimPrefix(lines[s.Line-1], "\ufeff"))
			from, to := min(s.Col-1, len(line)), min(s.EndCol-1, len(line))
			if from >= 0 && from < to {
				masked = append(masked, string(line[from:to]))
			}
		}
		longestFirst(masked)
		out := bytes.Clone(src)
		for _, value := range masked {
			out = bytes.ReplaceAll(out, []byte(value), bytes.Repeat([]byte{'*'}, len([]rune(value))))
		}
		return out
	}
}
