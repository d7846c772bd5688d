package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// resumeCommand is what goes on with a session that was left: the place as it was
// given is repeated, because the answers that are kept do not hold it.
func resumeCommand(cmd *cobra.Command) string {
	out := []string{"sbxgen", "new", "provider", "--resume"}
	for _, name := range []string{"chdir", "module", "dir", "replace"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			out = append(out, "--"+name, shellWord(f.Value.String()))
		}
	}
	return strings.Join(out, " ")
}

// shellWord writes a word so that a shell reads it back as it is.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%,=~", r)
	}
	if s != "" && s[0] != '~' && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
