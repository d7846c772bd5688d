package gatetest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/bench"
	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/internal/evidence"
	"github.com/agentworkforce/sbx/ledger"
)

// account is the hash of the account that was used.
const account = "f0e1d2c3b4a59687"

// genuineRun makes the records of a run that passed.
func genuineRun(tb TB, now *evidence.Current) evidence.Run {
	tb.Helper()
	ledgers, named := someLedgers(tb, false)
	return evidence.Run{ID: Run, StartedAt: Began(), FinishedAt: Began().Add(time.Hour), Tool: "v0.1.0",
		Report: genuineReport(now, named), Benchmark: genuineBenchmark(now), Ledgers: ledgers, Plot: []byte("<svg/>\n"),
		Endpoints: []evidence.Endpoint{{Name: "api", Origin: "https://api.acme.example:443", TLSKey: strings.Repeat("d", 64)}}}
}

func genuineReport(now *evidence.Current, ledgers []conformance.LedgerSummary) *conformance.Report {
	r := &conformance.Report{Format: "sbx.conformance/1", Suite: now.Suite, Provider: now.Provider, Run: Run,
		StartedAt: Began().Add(time.Second), FinishedAt: Began().Add(30 * time.Minute),
		Mode: conformance.Mode{Scope: account, Settings: []conformance.SettingSource{{Key: "apiKey", Source: "ACME_API_KEY"}},
			Endpoints: []conformance.EndpointMode{{Name: "api", URL: "https://api.acme.example/v1"}}},
		Environment: conformance.Environment{OS: "linux", Arch: "amd64", CPUs: 2, Go: "go1.26.0", Parallel: 1},
		Vendor:      conformance.VendorCounts{Method: conformance.CountIndependent, Before: map[string]int{"sandbox": 1}, After: map[string]int{"sandbox": 1}},
		Ledgers:     ledgers}
	for i, c := range now.Checks {
		res := conformance.Result{ID: c.ID, Revision: c.Revision, Group: c.Group, Capability: c.Capability, Level: c.Level, Rule: c.Rule,
			Owed: now.Owes(c), StartedAt: Began().Add(time.Duration(i+2) * time.Second), Duration: time.Second}
		switch {
		case res.Owed || c.Capability == "core" && c.Implemented:
			res.Verdict = conformance.Passed
		case c.Implemented && !slices.Contains(now.Supported, c.Capability):
			res.Verdict, res.Message = conformance.RefusedAsDeclared, c.Capability+" is unsupported"
		default:
			res.Verdict, res.Reason, res.StartedAt, res.Duration = conformance.Unknown, conformance.NotAttempted, time.Time{}, 0
		}
		r.Checks = append(r.Checks, res)
	}
	Recount(r)
	return r
}

// Recount makes the summary of a report follow from its results.
func Recount(r *conformance.Report) {
	r.Counts = conformance.Counts{}
	for _, c := range r.Checks {
		switch c.Verdict {
		case conformance.Passed:
			r.Counts.Passed++
		case conformance.Failed:
			r.Counts.Failed++
		case conformance.RefusedAsDeclared:
			r.Counts.RefusedAsDeclared++
		case conformance.Unknown:
			r.Counts.Unknown++
			if r.Counts.Reasons == nil {
				r.Counts.Reasons = map[conformance.Reason]int{}
			}
			r.Counts.Reasons[c.Reason]++
			if c.Owed {
				r.Counts.OwedUnknown++
			}
		}
		if !c.StartedAt.IsZero() {
			r.Counts.Executed++
		}
	}
}

func genuineBenchmark(now *evidence.Current) *bench.Artifact {
	a := &bench.Artifact{Format: "sbx.benchmark/1", Provider: now.Provider, Run: "20260820T103100Z-ba9876543210", Method: bench.Method,
		StartedAt: Began().Add(31 * time.Minute), FinishedAt: Began().Add(40 * time.Minute), Created: 2, VerifiedGone: 2,
		Environment: conformance.Environment{OS: "linux", Arch: "amd64", CPUs: 2, Go: "go1.26.0", Parallel: 1}}
	r := rand.New(rand.NewChaCha8(sha256.Sum256([]byte("samples"))))
	for _, m := range now.Metrics {
		row := bench.Metric{ID: m.ID, Unit: m.Unit}
		if m.Capability != "core" && !slices.Contains(now.Supported, m.Capability) || strings.Contains(m.ID, "relay") {
			row.Unknown, row.Detail = conformance.NotAttempted, "not measured here"
		} else {
			for range 12 {
				row.Samples = append(row.Samples, float64(r.IntN(1e6))/1000)
			}
			row.Stats = bench.Summarize(row.Samples)
		}
		a.Metrics = append(a.Metrics, row)
	}
	return a
}

// LeakingLedgers are the run's ledgers, except that the last sandbox of each was
// never proven gone; the chains are intact.
func (t *Tree) LeakingLedgers() map[string][]byte {
	t.tb.Helper()
	files, named := someLedgers(t.tb, true)
	t.Run.Report.Ledgers = named
	return files
}

// someLedgers are one of the suite and one of the benchmark.
func someLedgers(tb TB, leaking bool) (files map[string][]byte, named []conformance.LedgerSummary) {
	tb.Helper()
	files = map[string][]byte{}
	for i, after := range []time.Duration{2 * time.Second, 32 * time.Minute} {
		at := Began().Add(after)
		w, err := ledger.Start(context.Background(), ledger.Options{Dirs: ledger.Dirs{Root: tb.TempDir()}, Identity: ledger.Identity{Owner: "abcdefgh01234567", Host: "m-1"},
			Clock: func() time.Time { at = at.Add(time.Second); return at }, Rand: rand.NewChaCha8(sha256.Sum256(fmt.Append(nil, "ledger", i)))})
		if err != nil {
			tb.Fatal(err)
		}
		for n := range 2 {
			life(tb, w, fmt.Sprint(i*2+n+1), leaking && n == 1)
		}
		if err := w.Close(); err != nil {
			tb.Fatal(err)
		}
		src, err := os.ReadFile(w.Path())
		if err != nil {
			tb.Fatal(err)
		}
		files[w.Run()] = src
		if i == 0 {
			named = append(named, summaryOf(tb, w.Path()))
		}
	}
	return files, named
}

// life is one sandbox from intent to verified gone, or only to created.
func life(tb TB, w *ledger.Writer, intent string, leaks bool) {
	tb.Helper()
	for i, r := range []ledger.Record{
		{Event: ledger.EventIntent, Intent: intent, Kind: ledger.KindSandbox, Provider: Provider, Scope: account, Disposition: ledger.Scoped},
		{Event: ledger.EventCreated, Intent: intent, ID: "box-" + intent},
		{Event: ledger.EventDestroyRequested, Intent: intent},
		{Event: ledger.EventDestroyed, Intent: intent, Outcome: "accepted"},
		{Event: ledger.EventVerifiedGone, Intent: intent},
	} {
		if leaks && i > 1 {
			return
		}
		if _, err := w.Append(r); err != nil {
			tb.Fatal(err)
		}
	}
}

func summaryOf(tb TB, file string) conformance.LedgerSummary {
	tb.Helper()
	rep, err := ledger.Verify(file)
	if err != nil {
		tb.Fatal(err)
	}
	c := rep.Counts
	return conformance.LedgerSummary{File: filepath.Base(file), Run: rep.State.Run, Intact: rep.OK(), Balanced: rep.Balanced, Created: c.Created,
		Destroyed: c.Destroyed, VerifiedGone: c.VerifiedGone, Leaked: c.Leaked, Unresolved: c.Unresolved}
}
