package gate

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/evidence"
	"github.com/agentworkforce/sbx/internal/gate/gatetest"
)

func TestGenuineEvidenceIsAccepted(t *testing.T) {
	tree := gatetest.New(t)
	tree.Verify()
	set, _ := check(t, Options{Root: tree.Root, NoCache: true}, newCheckers())
	require.Empty(t, set.All())
}

// refusal is an entry that says verified and must not pass. before changes what
// the run recorded, and is signed by who holds the key; after changes the tree.
type refusal struct {
	before func(*gatetest.Tree)
	after  func(*gatetest.Tree)
	want   string // the rule that has to be among the findings
	strict bool
	asOf   time.Time
}

// replace changes a text of a file of the tree, which has to be there.
func replace(name, old, with string) func(*gatetest.Tree) {
	return func(tree *gatetest.Tree) {
		src := string(tree.Read(name))
		if !strings.Contains(src, old) {
			panic(fmt.Sprintf("%s has no %q", name, old))
		}
		tree.Put(name, strings.Replace(src, old, with, 1))
	}
}

// changed changes the report and counts again.
func changed(edit func(*conformance.Report)) func(*gatetest.Tree) {
	return func(tree *gatetest.Tree) {
		edit(tree.Run.Report)
		gatetest.Recount(tree.Run.Report)
	}
}

// owed is the first check of a report that is owed and lies in a group.
func owed(r *conformance.Report, group string) *conformance.Result {
	i := slices.IndexFunc(r.Checks, func(c conformance.Result) bool { return c.Owed && c.Group == group })
	return &r.Checks[i]
}

// reseal does what a person does who changes the statement and signs it again.
func reseal(edit func(tree *gatetest.Tree, b *evidence.Bundle, s *evidence.Statement)) func(*gatetest.Tree) {
	return func(tree *gatetest.Tree) {
		b, err := evidence.New(tree.Run, tree.Now)
		if err != nil {
			panic(err)
		}
		s, err := b.Statement()
		if err != nil {
			panic(err)
		}
		edit(tree, b, s)
		if b.Files[evidence.StatementName], err = s.Encode(); err != nil {
			panic(err)
		}
		tree.Sign(b, tree.Key)
		tree.Write(b)
	}
}

// passedAnyway signs a statement that says passed, whatever the records show.
func passedAnyway() func(*gatetest.Tree) {
	return reseal(func(_ *gatetest.Tree, _ *evidence.Bundle, s *evidence.Statement) {
		s.Predicate.Verdict, s.Predicate.Reasons = evidence.Passed, nil
	})
}

// chains changes every ledger's text before it is bound and signed.
func chains(edit func([]byte) []byte) func(*gatetest.Tree) {
	return func(tree *gatetest.Tree) {
		for run, src := range tree.Run.Ledgers {
			tree.Run.Ledgers[run] = edit(src)
		}
	}
}

func ledgerLines(src []byte) [][]byte {
	return bytes.SplitAfter(bytes.TrimSuffix(src, []byte{'\n'}), []byte{'\n'})
}

func simulated(tree *gatetest.Tree) { tree.Run.Report.Mode.Endpoints[0].Overridden = true }

// refusals are the ways of being refused; the letters are those of the list
// that the design began with.
func refusals() map[string]refusal {
	file := func(name string) string { return gatetest.Dir + "/" + name }
	return map[string]refusal{
		"a-no-evidence": {after: func(tree *gatetest.Tree) {
			tree.Put(gatetest.Entry, "provider: acme\nstatus: verified\nverifiedAt: 2026-08-20T11:00:00Z\nverifiedBy: A. Person\nexpiresAt: 2026-10-01T00:00:00Z\n")
		}, want: "SBX203"},
		"b-missing-report":     {after: func(tree *gatetest.Tree) { tree.Remove(file("conformance.json")) }, want: "SBX204"},
		"b-missing-statement":  {after: func(tree *gatetest.Tree) { tree.Remove(file("statement.json")) }, want: "SBX204"},
		"b-missing-plot":       {after: func(tree *gatetest.Tree) { tree.Remove(file("benchmark.svg")) }, want: "SBX204"},
		"c-flipped-report":     {after: replace(file("conformance.json"), `"cpus": 2`, `"cpus": 3`), want: "SBX205"},
		"c-flipped-benchmark":  {after: replace(file("benchmark.json"), `"cpus": 2`, `"cpus": 3`), want: "SBX205"},
		"c-flipped-plot":       {after: replace(file("benchmark.svg"), `<svg/>`, `<svg />`), want: "SBX205"},
		"c-flipped-statement":  {after: replace(file("statement.json"), `"v0.1.0"`, `"v0.1.1"`), want: "SBX205"},
		"d-other-provider":     {after: reseal(func(_ *gatetest.Tree, _ *evidence.Bundle, s *evidence.Statement) { s.Predicate.Provider = "zeta" }), want: "SBX226"},
		"d-records-of-another": {before: changed(func(r *conformance.Report) { r.Provider = "zeta" }), after: passedAnyway(), want: "SBX226"},
		"e-adapter-changed":    {after: replace(gatetest.Adapter, "type Adapter struct{}", "type Adapter struct{ n int }"), want: "SBX210"},
		"e-claims-changed":     {after: replace(gatetest.Manifest, "pty: {support: unknown, reason: Nobody has tried it.}", "pty: {support: supported, from: docs, class: documented}"), want: "SBX211"},
		"e-contract-changed":   {after: reseal(func(_ *gatetest.Tree, _ *evidence.Bundle, s *evidence.Statement) { s.Predicate.Binding.Core-- }), want: "SBX212"},
		"e-check-changed":      {before: changed(func(r *conformance.Report) { owed(r, "create").Revision-- }), after: passedAnyway(), want: "SBX213"},
		"f-simulated":          {before: simulated, want: "SBX209"},
		"f-simulated-says-live": {before: simulated, after: reseal(func(_ *gatetest.Tree, _ *evidence.Bundle, s *evidence.Statement) {
			s.Predicate.Verdict, s.Predicate.Reasons, s.Predicate.Mode = evidence.Passed, nil, evidence.Live
		}), want: "SBX209"},
		"f-loopback": {before: func(tree *gatetest.Tree) {
			tree.Run.Endpoints[0] = evidence.Endpoint{Name: "api", Origin: "http://127.0.0.1:8080"}
		}, want: "SBX209"},
		"g-owed-failed": {before: changed(func(r *conformance.Report) { owed(r, "cleanup").Verdict = conformance.Failed }), after: passedAnyway(), want: "SBX214"},
		"g-owed-missing": {before: changed(func(r *conformance.Report) {
			r.Checks = slices.DeleteFunc(r.Checks, func(c conformance.Result) bool { return c.Capability == "list" })
		}), after: passedAnyway(), want: "SBX214"},
		"g-owed-unknown": {before: changed(func(r *conformance.Report) {
			c := owed(r, "execute")
			c.Verdict, c.Reason, c.StartedAt, c.Duration = conformance.Unknown, conformance.NotAttempted, time.Time{}, 0
		}), after: passedAnyway(), want: "SBX214"},
		"g-failed-run":        {before: changed(func(r *conformance.Report) { owed(r, "cleanup").Verdict = conformance.Failed }), want: "SBX227"},
		"h-ledger-reordered":  {before: chains(func(src []byte) []byte { l := ledgerLines(src); l[2], l[3] = l[3], l[2]; return bytes.Join(l, nil) }), after: passedAnyway(), want: "SBX216"},
		"h-ledger-truncated":  {before: chains(func(src []byte) []byte { l := ledgerLines(src); return bytes.Join(l[:len(l)-2], nil) }), after: passedAnyway(), want: "SBX216"},
		"h-ledger-unbalanced": {before: func(tree *gatetest.Tree) { tree.Run.Ledgers = tree.LeakingLedgers() }, after: passedAnyway(), want: "SBX216"},
		"i-expired":           {asOf: gatetest.AsOf().AddDate(0, 0, 100), strict: true, want: "SBX219"},
		"j-vendor-key": {before: func(tree *gatetest.Tree) {
			tree.Run.Report.Problems = nil
			tree.Run.Plot = []byte("<svg>e2b_" + strings.Repeat("0123456789", 4) + "</svg>\n")
		}, want: "SBX501"},
		"j-dummy-secret":     {before: func(tree *gatetest.Tree) { tree.Run.Plot = []byte("<svg>" + DummyPrefix + "0011</svg>\n") }, want: "SBX505"},
		"k-extra-file":       {after: func(tree *gatetest.Tree) { tree.Put(file("notes.json"), "{}\n") }, want: "SBX207"},
		"k-extra-ledger":     {after: func(tree *gatetest.Tree) { tree.Put(file("ledger/20260820T100000Z-aaaaaaaaaaaa.jsonl"), "") }, want: "SBX207"},
		"k-subject-left-out": {after: reseal(func(_ *gatetest.Tree, _ *evidence.Bundle, s *evidence.Statement) { s.Subject = s.Subject[1:] }), want: "SBX207"},
		"l-no-signature":     {after: func(tree *gatetest.Tree) { tree.Remove(file("statement.dsse.json")) }, want: "SBX208"},
		"l-wrong-signature": {after: func(tree *gatetest.Tree) {
			replace(file("statement.dsse.json"), `"sig": "`, `"sig": "AAAA`)(tree)
		}, want: "SBX233"},
		"l-withdrawn-key": {after: func(tree *gatetest.Tree) {
			tree.Put(evidence.KeysFile, string(tree.Read(evidence.KeysFile))+"    revoked: {at: 2026-08-30T00:00:00Z, reason: compromised}\n")
		}, want: "SBX234"},
		"m-nothing-run": {before: changed(func(r *conformance.Report) {
			for i := range r.Checks {
				c := &r.Checks[i]
				c.Verdict, c.Reason, c.Message, c.StartedAt, c.Duration = conformance.Unknown, conformance.NotAttempted, "", time.Time{}, 0
			}
		}), after: passedAnyway(), want: "SBX231"},
		"n-counts":     {before: func(tree *gatetest.Tree) { tree.Run.Report.Counts.Passed++ }, after: passedAnyway(), want: "SBX215"},
		"n-statistics": {before: func(tree *gatetest.Tree) { tree.Run.Benchmark.Metrics[0].Stats.Median /= 2 }, after: passedAnyway(), want: "SBX215"},
		"n-samples": {before: func(tree *gatetest.Tree) {
			m := &tree.Run.Benchmark.Metrics[0]
			m.Samples = m.Samples[:3]
			m.Stats.N = 3
		}, after: passedAnyway(), want: "SBX217"},
		"n-vendor-side": {before: func(tree *gatetest.Tree) { tree.Run.Report.Vendor.After = map[string]int{"sandbox": 2} }, after: passedAnyway(), want: "SBX236"},
		"n-times":       {after: replace(gatetest.Entry, "verifiedAt: 2026-08-20T11", "verifiedAt: 2026-08-20T12"), want: "SBX218"},
		"n-other-run":   {before: func(tree *gatetest.Tree) { tree.Run.Report.Run = "20260820T100000Z-ffffffffffff" }, after: passedAnyway(), want: "SBX235"},
		"o-ran-nothing": {after: func(tree *gatetest.Tree) {
			// Complete and consistent, made by a program that ran nothing, and signed with
			// a key of its own: the same bundle that is accepted with a listed one.
			b, err := evidence.New(tree.Run, tree.Now)
			if err != nil {
				panic(err)
			}
			tree.Sign(b, tree.NewKey("stranger"))
			tree.Write(b)
		}, want: "SBX232"},
		"p-key-list": {after: replace(evidence.KeysFile, "public: ", "public: 00"), want: "SBX232"},
		"p-key-id": {after: func(tree *gatetest.Tree) {
			other := tree.NewKey("other")
			replace(evidence.KeysFile, "public: "+tree.Key.Public(), "public: "+other.Public())(tree)
		}, want: "SBX228"},
		"p-unreadable": {after: func(tree *gatetest.Tree) {
			tree.Put(file("conformance.json"), strings.Replace(string(tree.Read(file("conformance.json"))), `"passed"`, `"fine"`, 1))
		}, want: "SBX206"},
	}
}

// TestEveryRefusal: each entry is refused by its own rule, at the place of the
// claim. The places and rules are kept in testdata/gate.
func TestEveryRefusal(t *testing.T) {
	c := newCheckers()
	runAll(t, c, refusals())
}

// places are where which rules were broken: what does not change with the list of
// checks.
func places(set *diag.Set) string {
	var out []string
	for _, d := range set.All() {
		out = append(out, fmt.Sprintf("%s:%d:%d: %s [%s]\n", d.File, d.Line, d.Col, d.Severity, d.Rule))
	}
	return strings.Join(slices.Compact(out), "")
}

func runAll(t *testing.T, c *checkers, all map[string]refusal) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		r := all[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := gatetest.New(t)
			if r.before != nil {
				r.before(tree)
			}
			tree.Verify()
			if r.after != nil {
				r.after(tree)
			}
			set, _ := check(t, Options{Root: tree.Root, NoCache: true, AsOf: r.asOf, Strict: r.strict}, c)
			require.Error(t, set.Err())
			var rules []string
			for _, d := range set.All() {
				rules = append(rules, d.Rule)
				require.Positive(t, d.Line, d)
				require.Positive(t, d.Col, d)
			}
			require.Contains(t, rules, r.want, set.Error())
			golden := filepath.Join("testdata", "gate", name+".txt")
			got := places(set)
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(golden), 0o755))
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}

// vacuousPasses are ways in which other tools were seen to accept what nothing
// proves, each built here and refused.
func vacuousPasses() map[string]refusal {
	file := func(name string) string { return gatetest.Dir + "/" + name }
	return map[string]refusal{
		"v01-fake-instead-of-the-vendor": {before: func(tree *gatetest.Tree) {
			simulated(tree)
			tree.Run.Report.Mode.Scope = ""
		}, want: "SBX209"},
		"v02-teardown-that-cannot-fail": {before: func(tree *gatetest.Tree) { tree.Run.Ledgers = tree.LeakingLedgers() }, after: passedAnyway(), want: "SBX216"},
		"v03-missing-input-passes":      {before: changed(func(r *conformance.Report) { r.Checks = []conformance.Result{} }), after: passedAnyway(), want: "SBX231"},
		"v04-nothing-is-registered": {after: func(tree *gatetest.Tree) {
			tree.Put("catalog/zeta.yaml", strings.ReplaceAll(string(tree.Read(gatetest.Entry)), "acme", "zeta"))
		}, want: "SBX201"},
		"v05-unsupported-drops-out": {before: changed(func(r *conformance.Report) {
			r.Checks = slices.DeleteFunc(r.Checks, func(c conformance.Result) bool { return c.Capability == "stop" })
		}), after: passedAnyway(), want: "SBX214"},
		"v06-good-by-default": {after: func(tree *gatetest.Tree) { tree.Put(gatetest.Entry, "provider: acme\nstatus: verified\n") }, want: "SBX203"},
		"v07-empty-answer":    {after: replace(gatetest.Entry, "verifiedBy: A. Person", `verifiedBy: ""`), want: "SBX125"},
		"v08-unnamed-files": {after: func(tree *gatetest.Tree) {
			tree.Remove(file("benchmark.json"))
			tree.Put(file("benchmark2.json"), "{}\n")
		}, want: "SBX207"},
		"v09-stable-without-a-suite": {after: replace(gatetest.Entry, gatetest.Run, "20260820T100000Z-000000000000"), want: "SBX204"},
		"v10-log-without-digest-or-signature": {after: func(tree *gatetest.Tree) {
			tree.Remove(file("statement.dsse.json"))
			replace(file("conformance.json"), `"cpus": 2`, `"cpus": 3`)(tree)
		}, want: "SBX208"},
		"v11-no-age":  {asOf: gatetest.AsOf().AddDate(3, 0, 0), strict: true, want: "SBX219"},
		"v12-orphans": {after: func(tree *gatetest.Tree) { tree.Put(file("old-conformance.json"), "{}\n") }, want: "SBX207"},
		"v13-done-without-a-validator": {before: changed(func(r *conformance.Report) {
			c := owed(r, "capability")
			c.StartedAt, c.Duration = time.Time{}, 0
		}), after: passedAnyway(), want: "SBX215"},
		"v14-replay-of-any-age": {before: func(tree *gatetest.Tree) {
			tree.Run.Endpoints[0] = evidence.Endpoint{Name: "api", Origin: "https://localhost:443", TLSKey: strings.Repeat("d", 64)}
		}, after: passedAnyway(), want: "SBX209"},
	}
}

func TestVacuousPassesAreRefused(t *testing.T) {
	all := vacuousPasses()
	require.Len(t, all, 14)
	runAll(t, newCheckers(), all)
}

// TestEveryRuleOfEvidenceIsShown: no rule about evidence is without a case.
func TestEveryRuleOfEvidenceIsShown(t *testing.T) {
	shown := map[string]bool{}
	for _, all := range []map[string]refusal{refusals(), vacuousPasses()} {
		for _, r := range all {
			shown[r.want] = true
		}
	}
	for _, rule := range evidenceRules() {
		require.True(t, shown[rule], "no case shows %s", rule)
	}
	for _, k := range evidence.Kinds() {
		require.NotEmpty(t, ruleOf(k))
	}
}
