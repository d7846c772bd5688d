package main

import (
	"testing"
	"time"

	"github.com/agentworkforce/sbx/catalog"
	"github.com/stretchr/testify/require"
)

func TestVerifiedIsJudgedByTheClock(t *testing.T) {
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	whole := catalog.Entry{ID: "cloud", Status: "verified", VerifiedAt: at, ExpiresAt: at.AddDate(0, 0, 90),
		Evidence: []catalog.Run{{Path: "evidence/cloud/run-1/statement.json"}}}
	change := func(f func(*catalog.Entry)) catalog.Entry { e := whole; f(&e); return e }
	for name, tc := range map[string]struct {
		entry           catalog.Entry
		now             time.Time
		verdict, column string
	}{
		"fresh":      {whole, at.AddDate(0, 0, 89), "verified", "until 2026-05-30"},
		"expired":    {whole, whole.ExpiresAt, "unknown", "unknown (expired 2026-05-30)"},
		"too early":  {whole, at.Add(-time.Second), "unknown", "unknown (dated in the future)"},
		"not known":  {catalog.Entry{}, at, "unknown", "unknown (no evidence)"},
		"no run":     {change(func(e *catalog.Entry) { e.Evidence = nil }), at, "unknown", "unknown (no evidence)"},
		"no end":     {change(func(e *catalog.Entry) { e.ExpiresAt = time.Time{} }), at, "unknown", "unknown (no evidence)"},
		"other word": {change(func(e *catalog.Entry) { e.Status = "unknown"; e.Reason = "nobody ran it" }), at, "unknown", "unknown (nobody ran it)"},
	} {
		v := verifiedOf(tc.entry, tc.now)
		require.Equal(t, tc.verdict, v.Verdict, name)
		require.Equal(t, tc.column, v.word(), name)
		require.Equal(t, tc.verdict == "unknown", v.Reason != "", name)
	}
}

// Providers that the catalog of this build does not know stay unknown.
func TestProvidersSayByWhichRun(t *testing.T) {
	d := newDesk(t)
	require.Equal(t, 0, d.sbx("providers"))
	require.Contains(t, d.out.String(), "unknown (no evidence)")
	d.catalog = func() ([]catalog.Entry, error) {
		return []catalog.Entry{{ID: "cloud", Status: "verified", VerifiedAt: *born(), ExpiresAt: born().AddDate(0, 0, 90),
			Evidence: []catalog.Run{{Path: "evidence/cloud/run-1/statement.json"}}}}, nil
	}
	d.now = func() time.Time { return born().AddDate(0, 0, 1) }
	require.Equal(t, 0, d.sbx("providers"))
	require.Contains(t, d.out.String(), "cloud: verified by run run-1 until 2026-04-02")
	d.now = func() time.Time { return born().AddDate(0, 0, 90) }
	require.Equal(t, 0, d.sbx("providers"))
	require.Contains(t, d.out.String(), "unknown (expired 2026-04-02)")
	require.Equal(t, 2, d.sbx("new", "--provider", "e2b"))
	require.Contains(t, d.err.String(), "described only: there is no adapter for it yet; there are cloud")
}
