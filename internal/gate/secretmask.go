package gate

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/secretdiag"
	"github.com/agentworkforce/sbx/internal/secretscan"
)

// hideSecrets takes the values of secrets out of everything that is kept of a
// file: what findings about it say, and its facts, which later findings repeat
// and the cache stores.
func hideSecrets(e *examined, src []byte, secrets []secretscan.Finding) {
	hide := secretdiag.Hider(secretdiag.Values(src, secrets))
	secretdiag.Hide(e.found, hide)
	(&coder{visit: hide}).facts(&e.facts)
}

// Mask returns a function for diag.TextOptions.Source: the text of a file in
// which, character for character, asterisks stand for every line that a finding
// of SBX5xx in set is about or that holds what looks like a credential, and for
// every other part of the text equal to one. The whole line, because names that
// are made of a value stand beside it. Read returns a file's bytes, or nil.
func Mask(set *diag.Set, read func(file string) []byte) func(file string) []byte {
	spans := map[string][]diag.Span{}
	for _, d := range set.All() {
		if strings.HasPrefix(d.Rule, "SBX5") {
			spans[d.File] = append(spans[d.File], d.Span())
		}
	}
	return func(file string) []byte {
		src := read(file)
		secrets := secretscan.Scan(src, secretscan.Options{Entropy: path.Ext(file) != ".go"})
		if len(spans[file])+len(secrets) == 0 {
			return src
		}
		values := secretdiag.Values(src, secrets)
		at := slices.Clone(spans[file])
		for _, d := range secretdiag.Diagnostics(file, src, secrets) {
			at = append(at, d.Span())
		}
		lines := strings.SplitAfter(string(src), "\n")
		for _, s := range at {
			if s.Line < 1 || s.Line > len(lines) {
				continue
			}
			line := []rune(strings.TrimPrefix(lines[s.Line-1], "\ufeff"))
			from, to := min(s.Col-1, len(line)), min(s.EndCol-1, len(line))
			if from >= 0 && from < to {
				values = append(values, string(line[from:to]))
			}
		}
		for _, s := range at {
			if s.Line >= 1 && s.Line <= len(lines) {
				lines[s.Line-1] = stars(lines[s.Line-1])
			}
		}
		return maskValues([]byte(strings.Join(lines, "")), values)
	}
}

// maskValues replaces values, the longest first, so that one that begins with
// another is replaced whole.
func maskValues(src []byte, values []string) []byte {
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) })
	for _, value := range values {
		if strings.Trim(value, "* ") != "" {
			src = bytes.ReplaceAll(src, []byte(value), bytes.Repeat([]byte{'*'}, len([]rune(value))))
		}
	}
	return src
}

// stars replaces what is seen of a line.
func stars(line string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\r\n\ufeff", r) {
			return r
		}
		return '*'
	}, line)
}
