package evidence

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/conformance"
)

func TestCompare(t *testing.T) {
	g := newGenuine(t)
	before, after := g.run.Report, genuineReport(g.now, nil)
	require.Empty(t, Compare(before, after))
	c := check(after, "ready.functional")
	c.Verdict, c.Message = conformance.Failed, "no answer"
	c = check(after, "create.returns-id")
	c.Verdict, c.Reason = conformance.Unknown, conformance.TimedOut
	last := after.Checks[len(after.Checks)-1]
	after.Checks = after.Checks[:len(after.Checks)-1]
	require.Equal(t, []Difference{
		{Check: "create.returns-id", Before: conformance.Passed, After: conformance.Unknown, Reason: conformance.TimedOut, Owed: true},
		{Check: "ready.functional", Before: conformance.Passed, After: conformance.Failed, Message: "no answer", Owed: true, Refutes: true},
		{Check: last.ID, Before: last.Verdict, Owed: last.Owed},
	}, Compare(before, after))
}

func TestProofs(t *testing.T) {
	g := newGenuine(t)
	proven := func() map[string]bool {
		out := map[string]bool{}
		all := Proofs(g.run.Report, g.now)
		require.Equal(t, coreID, all[0].Capability)
		for _, p := range all {
			require.Positive(t, p.Owed)
			out[p.Capability] = p.Proven
		}
		return out
	}
	got := proven()
	require.True(t, got[coreID])
	require.True(t, got["files"])
	require.True(t, got["list"])
	require.False(t, got["stop"])
	check(g.run.Report, "list.contains-created").Revision--
	got = proven()
	require.True(t, got[coreID])
	require.False(t, got["list"])
	check(g.run.Report, "ready.functional").Verdict = conformance.Unknown
	require.False(t, proven()[coreID])
	for _, p := range Proofs(g.run.Report, g.now) {
		if p.Capability == coreID {
			require.Equal(t, []string{"ready.functional"}, p.Lacking)
		}
	}
}
