package gen

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEntryFacts(t *testing.T) {
	const name = "catalog/acme.yaml"
	require.Zero(t, readEntryFacts(name, []byte("provider: acme\nstatus: unknown\nreason: No run.\n")))
	require.Zero(t, readEntryFacts(name, []byte("provider: acme\nstatus: [verified\n")), "what is broken claims nothing")
	got := readEntryFacts(name, []byte("provider: acme\nstatus: verified\nevidence:\n  - path: evidence/acme/run/statement.json\n    sha256: aa\n"+
		"verifiedAt: 2026-08-20T11:00:00Z\nverifiedBy: Ada\nexpiresAt: 2026-11-18T11:00:00Z\n"))
	require.Equal(t, entryFacts{verified: true, runs: []string{"evidence/acme/run/statement.json"},
		from: "2026-08-20T11:00:00Z", to: "2026-11-18T11:00:00Z", by: "Ada"}, got)
	require.True(t, readEntryFacts(name, []byte("status: \"verifie\\u0064\"\n")).verified, "an escape hides nothing")
	require.NotEqual(t, entryFacts{}.input(), got.input())
}

func TestEvidenceItems(t *testing.T) {
	m := &providerModel{id: "acme", kind: "native"}
	open := evidenceItems(m, entryFacts{})
	require.Len(t, open, 3)
	for _, item := range open {
		require.False(t, item.Done, "%s: nothing was shown", item.Text)
		require.NotEmpty(t, item.Next)
	}
	require.Contains(t, open[1].Next, "sbxgen evidence collect acme")
	done := evidenceItems(m, entryFacts{verified: true, runs: []string{"evidence/acme/run/statement.json"}, from: "A", to: "B", by: "Ada"})
	require.True(t, done[1].Done)
	require.Contains(t, done[1].Text, "evidence/acme/run/statement.json")
	require.True(t, done[2].Done)
	require.Contains(t, done[2].Text, "from A until B, by Ada")
	m.kind = "none"
	require.Equal(t, "there has to be an adapter first", evidenceItems(m, entryFacts{})[1].Next)
}
