package secretdiag

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/internal/diag"
)

func TestDocumentHidesWhatItFinds(t *testing.T) {
	// Put together here, so that this file holds no such value.
	key := "gh" + "p_" + strings.Repeat("aB3dE9", 6)
	derived := "ghP" + strings.ToUpper(key[4:]) // a name in Go
	src := []byte("id: acme\nenv: " + key + "\n")
	found := Document("provider.yaml", src, []diag.Diagnostic{{Rule: "SBX100", Message: "the setting " + derived + " of " + key, Suggestion: key,
		Related: []diag.Related{{Message: "settings." + derived + " is here"}}}})
	require.Len(t, found, 2)
	require.Equal(t, "the setting (hidden) of (hidden)", found[0].Message)
	require.Equal(t, "(hidden)", found[0].Suggestion)
	require.Equal(t, "(hidden) is here", found[0].Related[0].Message)
	require.Equal(t, RuleVendorKey, found[1].Rule)
	require.Equal(t, diag.Span{Line: 2, Col: 6, EndLine: 2, EndCol: 6 + len(key)}, found[1].Span())
	require.NotContains(t, found[1].Message+found[1].Help, key)
}

func TestWordsThatAreNoneStay(t *testing.T) {
	hide := Hider([]string{"a:b", "-----BEGIN " + "PRIVATE KEY-----"})
	require.Equal(t, "a/b begins, the private key stays", hide("a/b begins, the private key stays"))
}
