package main

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

func TestResumeCommandRepeatsThePlace(t *testing.T) {
	for want, args := range map[string][]string{
		"sbxgen new provider --resume":                                             {"--dry-run"},
		"sbxgen new provider --resume --module example.com/acme --dir ./acme":      {"--dir", "./acme", "--module", "example.com/acme"},
		`sbxgen new provider --resume --chdir /src --dir 'my '\''own'\'' place'`:   {"--chdir", "/src", "--dir", "my 'own' place"},
		"sbxgen new provider --resume --module example.com/a --dir . --replace ..": {"--replace", "..", "--dir", ".", "--module", "example.com/a"},
	} {
		cmd := &cobra.Command{}
		for _, name := range []string{"chdir", "dir", "module", "replace"} {
			cmd.Flags().String(name, "", "")
		}
		cmd.Flags().Bool("dry-run", false, "")
		require.NoError(t, cmd.ParseFlags(args))
		require.Equal(t, want, resumeCommand(cmd))
	}
	require.Equal(t, "''", shellWord(""))
	require.Equal(t, "'~/x'", shellWord("~/x"))
}
