package gate

import (
	"bytes"
	"context"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/internal/diag"
)

func TestDeepScan(t *testing.T) {
	// Made here, so that no file of this tree holds what looks like a key. The
	// scan that always runs knows none of these forms.
	plain := "dapi" + "1f4b97c20d8e63a5f0b7c4d19e28a6f3"
	encoded := base64.StdEncoding.EncodeToString([]byte("key dapi" + "0e58d3b61c7f94a2e6d0b9f37c15a84e end"))
	root := write(t, map[string]string{
		"providers/acme/provider.yaml": goodManifest(t, "acme") + "\"" + plain + "\": x\n",
		"providers/acme/README.md":     "# Acme\n\n\u00e9 " + plain + " # gitleaks:allow\n\nblob " + encoded + "\n",
		"notes.md":                     plain + "\n",
		"catalog/acme.yaml":            "provider: acme\nstatus: unknown\nreason: No live run has been made.\n",
	})
	set, _ := check(t, Options{Root: root, NoCache: true, Deep: true}, newCheckers())
	var places []string
	for _, d := range set.All() {
		if d.Rule == ruleDeepSecret {
			places = append(places, diag.Diagnostic{File: d.File, Line: d.Line, Col: d.Col, EndCol: d.EndCol, Message: d.Message}.String())
			require.Equal(t, diag.Error, d.Severity)
		}
	}
	require.Len(t, places, 3)
	require.Contains(t, places[0], "providers/acme/README.md:3:3: error: gitleaks takes this for a secret: databricks-api-token")
	require.Contains(t, places[1], "providers/acme/README.md:5:1: error: gitleaks takes this for a secret: databricks-api-token")
	require.Regexp(t, `^providers/acme/provider.yaml:\d+:2: `, places[2])
	var out bytes.Buffer
	require.NoError(t, diag.Text(&out, set, diag.TextOptions{Source: Mask(set, readBelow(root))}))
	require.NoError(t, diag.JSON(&out, set))
	for _, value := range []string{plain, encoded} {
		require.NotContains(t, out.String(), value, "no value is printed")
	}
	require.Contains(t, out.String(), "SBX120", "the finding whose words had the value in them")

	quiet, _ := check(t, Options{Root: root, NoCache: true}, newCheckers())
	require.NotContains(t, strings.Join(rules(quiet), " "), ruleDeepSecret)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err := Validate(ctx, Options{Root: root, NoCache: true, Deep: true})
	require.ErrorIs(t, err, context.Canceled)
}
