package evidence

import (
	"bytes"
	"context"
	"crypto/sha256"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/bench"
	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/ledger"
)

// genuine is a run of a provider that does not exist, whose records are as those
// of a run that passed, and what it has to match.
type genuine struct {
	run  Run
	now  *Current
	key  PrivateKey
	keys *Keys
}

const (
	runID   = "20261129T100000Z-0123456789ab"
	account = "f0e1d2c3b4a59687"
)

func began() time.Time { return time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC) }

func seeded(text string) *rand.ChaCha8 { return rand.NewChaCha8(sha256.Sum256([]byte(text))) }

func newGenuine(t testing.TB) *genuine {
	t.Helper()
	now, err := lists()
	require.NoError(t, err)
	now.Provider, now.Supported = "acme", []string{"files", "list"}
	now.Adapter, now.Claims = "h1:"+strings.Repeat("A", 43)+"=", strings.Repeat("c", 64)
	now.Endpoints = []ManifestEndpoint{{"api", "https://api.acme.example/v1"}}
	key, err := NewPrivateKey(seeded("trusted"))
	require.NoError(t, err)
	g := &genuine{now: now, key: key, keys: &Keys{Keys: []Key{listed(key, "Ada")}}}
	ledgers, named := genuineLedgers(t)
	g.run = Run{ID: runID, StartedAt: began(), FinishedAt: began().Add(time.Hour), Tool: "v0.1.0",
		Report: genuineReport(now, named), Benchmark: genuineBenchmark(now), Ledgers: ledgers, Plot: []byte("<svg/>\n"),
		Endpoints: []Endpoint{{"api", "https://api.acme.example:443", strings.Repeat("d", 64)}}, Commit: strings.Repeat("e", 40),
		Producer: &Producer{Person: "Ada"}}
	return g
}

func listed(key PrivateKey, owner string) Key {
	return Key{ID: key.ID(), Public: key.Public(), Owner: owner, ValidFrom: began().AddDate(0, -1, 0), ValidUntil: began().AddDate(1, 0, 0)}
}

func genuineReport(now *Current, ledgers []conformance.LedgerSummary) *conformance.Report {
	r := &conformance.Report{Format: "sbx.conformance/1", Suite: now.Suite, Provider: now.Provider, Run: runID,
		StartedAt: began().Add(time.Second), FinishedAt: began().Add(30 * time.Minute),
		Mode: conformance.Mode{Scope: account, Settings: []conformance.SettingSource{{Key: "apiKey", Source: "ACME_API_KEY"}},
			Endpoints: []conformance.EndpointMode{{Name: "api", URL: "https://api.acme.example/v1"}}},
		Environment: conformance.Environment{OS: "linux", Arch: "amd64", CPUs: 2, Go: "go1.26.0", Parallel: 1},
		Vendor:      conformance.VendorCounts{Method: conformance.CountIndependent, Before: map[string]int{"sandbox": 1}, After: map[string]int{"sandbox": 1}},
		Ledgers:     ledgers}
	for i, c := range now.Checks {
		res := conformance.Result{ID: c.ID, Revision: c.Revision, Group: c.Group, Capability: c.Capability, Level: c.Level, Rule: c.Rule,
			Owed: now.Owes(c), StartedAt: began().Add(time.Duration(i+2) * time.Second), Duration: time.Second}
		switch {
		case res.Owed || c.Capability == coreID && c.Implemented:
			res.Verdict = conformance.Passed
		case c.Implemented && !slices.Contains(now.Supported, c.Capability):
			res.Verdict, res.Message = conformance.RefusedAsDeclared, c.Capability+" is unsupported"
		default:
			res.Verdict, res.Reason, res.StartedAt, res.Duration = conformance.Unknown, conformance.NotAttempted, time.Time{}, 0
		}
		r.Checks = append(r.Checks, res)
	}
	recount(r)
	return r
}

// recount makes the summary of a report follow from its results.
func recount(r *conformance.Report) {
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

func genuineBenchmark(now *Current) *bench.Artifact {
	a := &bench.Artifact{Format: "sbx.benchmark/1", Provider: now.Provider, Run: "20261129T103100Z-ba9876543210", Method: bench.Method,
		StartedAt: began().Add(31 * time.Minute), FinishedAt: began().Add(40 * time.Minute), Created: 2, VerifiedGone: 2,
		Environment: conformance.Environment{OS: "linux", Arch: "amd64", CPUs: 2, Go: "go1.26.0", Parallel: 1}}
	r := rand.New(seeded("samples"))
	for _, m := range now.Metrics {
		row := bench.Metric{ID: m.ID, Unit: m.Unit}
		if m.Capability != coreID && !slices.Contains(now.Supported, m.Capability) || strings.Contains(m.ID, "relay") {
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

// genuineLedgers are those of a run whose second process was killed and
// recovered, of a reaper that destroyed what the first had kept, and of a
// benchmark.
func genuineLedgers(t testing.TB) (files map[string][]byte, named []conformance.LedgerSummary) {
	t.Helper()
	at := began().Add(2 * time.Second)
	opts := ledger.Options{Dirs: ledger.Dirs{Root: t.TempDir()}, Identity: ledger.Identity{Owner: "abcdefgh01234567", Host: "m-1"},
		Clock: func() time.Time { at = at.Add(time.Second); return at }, Rand: seeded("ledgers")}
	files = map[string][]byte{}
	main, died, reaper := startLedger(t, opts), startLedger(t, opts), startLedger(t, opts)
	life(t, main, "1", ledger.Scoped, true)
	life(t, main, "2", ledger.Scoped, true)
	life(t, main, "3", ledger.Kept, false)
	add(t, reaper, ledger.Record{Event: ledger.EventAdopted, Intent: "r3", ID: "box-3", Kind: ledger.KindSandbox, Provider: "acme", Scope: account, Disposition: ledger.Scoped})
	end(t, reaper, "r3")
	life(t, died, "4", ledger.Scoped, false)
	kill(t, died)
	again, _, err := ledger.OpenDead(context.Background(), died.Path(), reaper.Run(), opts)
	require.NoError(t, err)
	end(t, again, "4")
	require.NoError(t, again.Close())
	for _, w := range []*ledger.Writer{main, reaper} {
		require.NoError(t, w.Close())
	}
	for _, w := range []*ledger.Writer{main, died, reaper} {
		named = append(named, summaryOf(t, w.Path()))
	}
	at = began().Add(32 * time.Minute)
	measured := startLedger(t, opts)
	life(t, measured, "5", ledger.Scoped, true)
	life(t, measured, "6", ledger.Scoped, true)
	add(t, measured, ledger.Record{Event: ledger.EventIntent, Intent: "7", Kind: ledger.KindSnapshot, Provider: "acme", Scope: account, Disposition: ledger.Scoped})
	add(t, measured, ledger.Record{Event: ledger.EventCreated, Intent: "7", ID: "shot-7", Parent: "box-6"})
	end(t, measured, "7")
	require.NoError(t, measured.Close())
	for _, w := range []*ledger.Writer{main, died, reaper, measured} {
		src, err := os.ReadFile(w.Path())
		require.NoError(t, err)
		files[w.Run()] = src
	}
	return files, named
}

func startLedger(t testing.TB, opts ledger.Options) *ledger.Writer {
	t.Helper()
	w, err := ledger.Start(context.Background(), opts)
	require.NoError(t, err)
	return w
}

func add(t testing.TB, w *ledger.Writer, r ledger.Record) {
	t.Helper()
	_, err := w.Append(r)
	require.NoError(t, err)
}

func life(t testing.TB, w *ledger.Writer, intent string, d ledger.Disposition, gone bool) {
	t.Helper()
	add(t, w, ledger.Record{Event: ledger.EventIntent, Intent: intent, Kind: ledger.KindSandbox, Provider: "acme", Scope: account, Disposition: d})
	add(t, w, ledger.Record{Event: ledger.EventCreated, Intent: intent, ID: "box-" + intent})
	if gone {
		end(t, w, intent)
	}
}

func end(t testing.TB, w *ledger.Writer, intent string) {
	t.Helper()
	add(t, w, ledger.Record{Event: ledger.EventDestroyRequested, Intent: intent})
	add(t, w, ledger.Record{Event: ledger.EventDestroyed, Intent: intent, Outcome: "accepted"})
	add(t, w, ledger.Record{Event: ledger.EventVerifiedGone, Intent: intent})
}

// kill leaves a ledger as a killed process does: closed in order it would say
// that it ended, so its last record is taken away again.
func kill(t testing.TB, w *ledger.Writer) {
	t.Helper()
	require.NoError(t, w.Close())
	src, err := os.ReadFile(w.Path())
	require.NoError(t, err)
	lines := bytes.SplitAfter(src, []byte{'\n'})
	require.NoError(t, os.WriteFile(w.Path(), bytes.Join(lines[:len(lines)-2], nil), 0o600))
}

func summaryOf(t testing.TB, path string) conformance.LedgerSummary {
	t.Helper()
	rep, err := ledger.Verify(path)
	require.NoError(t, err)
	c := rep.Counts
	return conformance.LedgerSummary{File: filepath.Base(path), Run: rep.State.Run, Intact: rep.OK(), Balanced: rep.Balanced, Created: c.Created,
		Destroyed: c.Destroyed, VerifiedGone: c.VerifiedGone, Leaked: c.Leaked, Unresolved: c.Unresolved}
}

// clone is a genuine run that a test may change.
func (g *genuine) clone(t testing.TB) *genuine {
	t.Helper()
	c := *g
	now := *g.now
	now.Checks = slices.Clone(now.Checks)
	c.now, c.keys, c.run.Endpoints = &now, &Keys{Keys: slices.Clone(g.keys.Keys)}, slices.Clone(g.run.Endpoints)
	producer := *g.run.Producer
	c.run.Producer, c.run.Ledgers = &producer, maps.Clone(g.run.Ledgers)
	return &c
}

// bundle makes and signs the run's bundle.
func (g *genuine) bundle(t testing.TB) *Bundle {
	t.Helper()
	b, err := New(g.run, g.now)
	require.NoError(t, err)
	g.sign(t, b)
	return b
}

func (g *genuine) sign(t testing.TB, b *Bundle) {
	t.Helper()
	envelope, err := Sign(context.Background(), b.Files[StatementName], g.key)
	require.NoError(t, err)
	b.Files[EnvelopeName] = envelope
}

func (g *genuine) options() Options {
	return Options{Now: began().AddDate(0, 0, 1), Keys: g.keys, RequireSignature: true, Current: g.now}
}

// reseal is what who holds the key does after a change: a statement about the
// files as they are, changed by edit, and a signature.
func (g *genuine) reseal(t testing.TB, b *Bundle, edit func(*Statement)) {
	t.Helper()
	s, err := b.Statement()
	require.NoError(t, err)
	s.Subject = b.subjects()
	if edit != nil {
		edit(s)
	}
	b.Files[StatementName], err = s.Encode()
	require.NoError(t, err)
	g.sign(t, b)
}

func (b *Bundle) clone() *Bundle {
	return &Bundle{Provider: b.Provider, Run: b.Run, Files: maps.Clone(b.Files)}
}

func kinds(found []Finding) []Kind {
	var out []Kind
	for _, f := range found {
		out = append(out, f.Kind)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func verify(t testing.TB, b *Bundle, o Options) []Finding {
	t.Helper()
	found, err := Verify(b, o)
	require.NoError(t, err)
	return found
}
