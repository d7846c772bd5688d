package secretdiag

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/secretscan"
)

// minFolded is the shortest value, without punctuation, that names are searched
// for: a shorter one would be found in words that have nothing to do with it.
const minFolded = 12

// Values are the parts of src that were found.
func Values(src []byte, secrets []secretscan.Finding) []string {
	out := make([]string, 0, len(secrets))
	for _, s := range secrets {
		out = append(out, string(src[s.Start:s.End]))
	}
	return out
}

// Hide takes values out of what findings say. Places and rules stay.
func Hide(found []diag.Diagnostic, hide func(string) string) {
	for i := range found {
		d := &found[i]
		d.Message, d.Help, d.Suggestion = hide(d.Message), hide(d.Help), hide(d.Suggestion)
		d.Related = slices.Clone(d.Related)
		for j := range d.Related {
			d.Related[j].Message = hide(d.Related[j].Message)
		}
	}
}

// Hider returns a function that takes values out of a text, and the words that
// were made of one: a name that is derived from a value in other cases and with
// other punctuation gives it away as well.
func Hider(values []string) func(string) string {
	values = slices.Clone(values)
	slices.SortFunc(values, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // one that begins with another is replaced whole
	var pairs, folded []string
	for _, value := range values {
		pairs = append(pairs, value, secretscan.Hidden)
		if f := fold(value); len(f) >= minFolded {
			folded = append(folded, f)
		}
	}
	exact := strings.NewReplacer(pairs...)
	return func(text string) string {
		text = exact.Replace(text)
		if len(folded) == 0 {
			return text
		}
		var out strings.Builder
		for len(text) > 0 {
			n := strings.IndexFunc(text, func(r rune) bool { return !inName(r) })
			if n < 0 {
				n = len(text)
			}
			word := fold(text[:n])
			if slices.ContainsFunc(folded, func(value string) bool { return strings.Contains(word, value) }) {
				out.WriteString(secretscan.Hidden)
			} else {
				out.WriteString(text[:n])
			}
			text = text[n:]
			if n = strings.IndexFunc(text, inName); n < 0 {
				n = len(text)
			}
			out.WriteString(text[:n])
			text = text[n:]
		}
		return out.String()
	}
}

// inName reports what a name or a path is made of.
func inName(r rune) bool { return isAlnum(r) || strings.ContainsRune("_-./+", r) }

func isAlnum(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// fold leaves the letters and digits of a value, in lower case.
func fold(value string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if isAlnum(r) {
			return r
		}
		return -1
	}, value))
}
