package secretscan

import "strings"

// Hidden stands in a text for a value that is not shown.
const Hidden = "(hidden)"

// Hide returns text with everything that looks like a credential replaced by
// Hidden: for what repeats the words of somebody else, such as an error that
// quotes an argument.
func Hide(text string, o Options) string {
	var out strings.Builder
	done := 0
	for _, f := range Scan([]byte(text), o) {
		if f.Start >= done {
			out.WriteString(text[done:f.Start] + Hidden)
		}
		done = max(done, f.End)
	}
	return out.String() + text[done:]
}
