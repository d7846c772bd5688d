package evidence

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/bench"
	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/schema"
)

func TestRefusedRecords(t *testing.T) {
	t.Parallel()
	benchmark := func(edit func(*bench.Artifact), want ...Kind) refusal {
		return refusal{resealed: editBenchmark(edit), want: want}
	}
	ledgers := func(n int, edit func([]string) []string, want ...Kind) refusal {
		return refusal{resealed: editLedger(n, edit), want: want}
	}
	runAll(t, map[string]refusal{
		"no benchmark":    {resealed: func(b *Bundle) func(*Statement) { delete(b.Files, BenchmarkName); return nil }, want: []Kind{KindMissing, KindCounts}},
		"statistics":      benchmark(func(a *bench.Artifact) { a.Metrics[0].Stats.Median /= 2 }, KindStatistics),
		"a better sample": benchmark(func(a *bench.Artifact) { a.Metrics[0].Samples[0] = 0.5 }, KindStatistics),
		"a negative sample": benchmark(func(a *bench.Artifact) {
			a.Metrics[0].Samples[0] = -1
			a.Metrics[0].Stats = bench.Summarize(a.Metrics[0].Samples)
		}, KindStatistics),
		"trimmed": benchmark(func(a *bench.Artifact) {
			a.Metrics[0].Samples = a.Metrics[0].Samples[:9]
			a.Metrics[0].Stats = bench.Summarize(a.Metrics[0].Samples)
		}, KindSamples),
		"a metric left out":    benchmark(func(a *bench.Artifact) { a.Metrics = a.Metrics[1:] }, KindSamples),
		"a metric twice":       benchmark(func(a *bench.Artifact) { a.Metrics = append(a.Metrics, a.Metrics[0]) }, KindStatistics),
		"another unit":         benchmark(func(a *bench.Artifact) { a.Metrics[0].Unit = "s" }, KindStatistics),
		"unknown and measured": benchmark(func(a *bench.Artifact) { a.Metrics[0].Unknown = conformance.NotAttempted }, KindStatistics),
		"a made-up metric":     benchmark(func(a *bench.Artifact) { m := a.Metrics[0]; m.ID = "score"; a.Metrics = append(a.Metrics, m) }, KindStatistics),
		"neither":              benchmark(func(a *bench.Artifact) { a.Metrics[0].Samples, a.Metrics[0].Stats = nil, nil }, KindSamples),
		"another method":       benchmark(func(a *bench.Artifact) { a.Method = "trimmed" }, KindStatistics),
		"one sandbox less":     benchmark(func(a *bench.Artifact) { a.Created, a.VerifiedGone = 1, 1 }, KindCounts),
		"a leak":               benchmark(func(a *bench.Artifact) { a.VerifiedGone = 1 }, KindBalance, KindCounts),
		"another provider's":   benchmark(func(a *bench.Artifact) { a.Provider = "other" }, KindProvider),
		"reordered":            ledgers(0, func(l []string) []string { l[1], l[2] = l[2], l[1]; return l }, KindLedger, KindCounts),
		"a record removed":     ledgers(0, func(l []string) []string { return append(l[:2], l[3:]...) }, KindLedger, KindBalance),
		"cut at the end":       ledgers(3, func(l []string) []string { return l[:len(l)-1] }, KindLedger),
		"cut in a line":        ledgers(3, func(l []string) []string { l[len(l)-1] = l[len(l)-1][:20]; return l }, KindLedger),
		"cut before the proof": ledgers(3, func(l []string) []string { return l[:len(l)-2] }, KindLedger, KindBalance),
		"a ledger left out":    {resealed: func(b *Bundle) func(*Statement) { delete(b.Files, b.ledgers()[0]); return nil }, want: []Kind{KindMissing, KindBalance}},
		"under another name": {resealed: func(b *Bundle) func(*Statement) {
			name := b.ledgers()[3]
			b.Files[LedgerName("20261129T100000Z-0123456789ff")] = b.Files[name]
			delete(b.Files, name)
			return nil
		}, want: []Kind{KindLedger}},
	})
}

func TestRefusedTimesAndCurrency(t *testing.T) {
	t.Parallel()
	report := func(edit func(*conformance.Report)) func(*Bundle) func(*Statement) { return editReport(edit) }
	now := func(edit func(c *Current)) func(o *Options) {
		return func(o *Options) {
			c := *o.Current
			c.Checks = slices.Clone(c.Checks)
			edit(&c)
			o.Current = &c
		}
	}
	bump := func(id string) func(o *Options) {
		return now(func(c *Current) {
			contract := map[string]int{}
			for k, v := range c.Contract {
				contract[k] = v
			}
			contract[id]++
			c.Contract = contract
		})
	}
	revise := func(id string) func(o *Options) {
		return now(func(c *Current) {
			i := slices.IndexFunc(c.Checks, func(c schema.Check) bool { return c.ID == id })
			c.Checks[i].Revision++
		})
	}
	runAll(t, map[string]refusal{
		"ends before it begins": {resealed: statementOnly(func(s *Statement) { s.Predicate.FinishedAt = s.Predicate.StartedAt.Add(-time.Hour) }), want: []Kind{KindTimes}},
		"later than it was":     {resealed: statementOnly(func(s *Statement) { s.Predicate.StartedAt = began().Add(5 * time.Minute) }), want: []Kind{KindTimes}},
		"another day": {resealed: statementOnly(func(s *Statement) {
			s.Predicate.StartedAt, s.Predicate.FinishedAt = began().AddDate(0, 0, -9), began().AddDate(0, 0, -9).Add(time.Hour)
		}), want: []Kind{KindTimes}},
		"has not come":               {options: func(o *Options) { o.Now = began() }, want: []Kind{KindTimes}},
		"a check before the run":     {resealed: report(func(r *conformance.Report) { check(r, "ready.functional").StartedAt = began().Add(-time.Hour) }), want: []Kind{KindTimes}},
		"a check too long":           {resealed: report(func(r *conformance.Report) { check(r, "ready.functional").Duration = 24 * time.Hour }), want: []Kind{KindTimes}},
		"a check of no time":         {resealed: report(func(r *conformance.Report) { check(r, "ready.functional").Duration = -1 }), want: []Kind{KindTimes}},
		"a benchmark of another day": {resealed: editBenchmark(func(a *bench.Artifact) { a.StartedAt = began().AddDate(0, 0, -1) }), want: []Kind{KindTimes}},
		"expired":                    {options: func(o *Options) { o.Now = began().Add(time.Hour + MaxAge) }, want: []Kind{KindExpired}},
		"another adapter":            {options: now(func(c *Current) { c.Adapter = "h1:B" }), want: []Kind{KindAdapter}},
		"no adapter":                 {options: now(func(c *Current) { c.Adapter = "" }), want: []Kind{KindAdapter}},
		"other claims":               {options: now(func(c *Current) { c.Claims = "x" }), want: []Kind{KindClaims}},
		"another core":               {options: bump(coreID), want: []Kind{KindCore}},
		"another capability":         {options: bump("list"), want: []Kind{KindContract}},
		"an owed check rose":         {options: revise("list.contains-created"), want: []Kind{KindStaleCheck}},
		"the suite rose":             {options: now(func(c *Current) { c.Suite++ }), want: []Kind{KindStaleCheck}},
		"a new owed check": {options: now(func(c *Current) {
			c.Checks = append(c.Checks, schema.Check{ID: "create.new", Revision: 1, Group: "create", Capability: coreID, Level: "L1"})
		}), want: []Kind{KindCoverage}},
		"a claim more":   {options: now(func(c *Current) { c.Supported = append(slices.Clone(c.Supported), "stop") }), want: []Kind{KindContract, KindNotPassed, KindCounts}},
		"other provider": {options: now(func(c *Current) { c.Provider = "other" }), want: []Kind{KindProvider}},
		"other endpoint": {options: now(func(c *Current) { c.Endpoints = []ManifestEndpoint{{"api", "https://api2.acme.example"}} }), want: []Kind{KindMode}},
	})
	g := newGenuine(t)
	for name, o := range map[string]func(*Options){"a capability nobody claims": bump("stop"), "a check nobody owes": revise("stop.settles-as-stopped"),
		"a check less": now(func(c *Current) {
			c.Checks = slices.DeleteFunc(c.Checks, func(c schema.Check) bool { return c.ID == "shape.pinned-client" })
		})} {
		opts := g.options()
		if name == "a check nobody owes" && !slices.ContainsFunc(g.now.Checks, func(c schema.Check) bool { return c.ID == "stop.settles-as-stopped" }) {
			o = revise(g.now.Checks[0].ID)
		}
		o(&opts)
		require.Empty(t, verify(t, g.bundle(t), opts), name)
	}
}
