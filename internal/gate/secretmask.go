package gate

import (
	"bytes"
	"strings"

	"github.com/agentworkforce/sbx/internal/diag"
)

// hidden stands in a message for a value that is not shown.
const hidden = "(hidden)"

// hideSecrets takes the values of secrets out of what findings about the same
// file say.
func hideSecrets(found []diag.Diagnostic, src []byte, secrets []secret) {
	for _, s := range secrets {
		value := string(src[s.start:s.end])
		for i := range found {
			d := &found[i]
			for _, text := range []*string{&d.Message, &d.Help, &d.Suggestion} {
				*text = strings.ReplaceAll(*text, value, hidden)
			}
		}
	}
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
		out := bytes.Clone(src)
		for _, value := range masked {
			out = bytes.ReplaceAll(out, []byte(value), bytes.Repeat([]byte{'*'}, len([]rune(value))))
		}
		return out
	}
}
