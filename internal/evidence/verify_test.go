package evidence

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/bench"
	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/internal/gitleaks"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

func TestGenuineIsAccepted(t *testing.T) {
	g := newGenuine(t)
	b := g.bundle(t)
	s, err := b.Statement()
	require.NoError(t, err)
	require.Equal(t, Passed, s.Predicate.Verdict, s.Predicate.Reasons)
	require.Equal(t, Live, s.Predicate.Mode)
	require.Len(t, s.Subject, 7)
	o := g.options()
	o.Link = SHA256(b.Files[StatementName])
	require.Empty(t, verify(t, b, o))
	again, err := New(g.run, g.now)
	require.NoError(t, err)
	require.Equal(t, b.Files[StatementName], again.Files[StatementName], "the same run makes the same statement")
	o.Now = s.Predicate.ExpiresAt().Add(-time.Nanosecond)
	require.Empty(t, verify(t, b, o))
	require.Empty(t, verify(t, b, Options{Now: o.Now}), "a record by itself")
}

// refusal is a bundle that is not to be accepted.
type refusal struct {
	// before changes the run and what is known before anything is made, resealed
	// the files by who holds the key, after by who does not.
	before   func(g *genuine)
	resealed func(b *Bundle) func(*Statement)
	after    func(b *Bundle)
	options  func(o *Options)
	want     []Kind
}

// statementOnly changes the statement and signs it again.
func statementOnly(edit func(*Statement)) func(*Bundle) func(*Statement) {
	return func(*Bundle) func(*Statement) { return edit }
}

func editReport(edit func(*conformance.Report)) func(*Bundle) func(*Statement) {
	return func(b *Bundle) func(*Statement) {
		r, err := conformance.DecodeReport(b.Files[ReportName])
		if err != nil {
			panic(err)
		}
		edit(r)
		var buf bytes.Buffer
		if err := r.Encode(&buf); err != nil {
			panic(err)
		}
		b.Files[ReportName] = buf.Bytes()
		return nil
	}
}

func editBenchmark(edit func(*bench.Artifact)) func(*Bundle) func(*Statement) {
	return func(b *Bundle) func(*Statement) {
		a, err := bench.DecodeArtifact(b.Files[BenchmarkName])
		if err != nil {
			panic(err)
		}
		edit(a)
		var buf bytes.Buffer
		if err := a.Encode(&buf); err != nil {
			panic(err)
		}
		b.Files[BenchmarkName] = buf.Bytes()
		return nil
	}
}

// editLedger changes the nth ledger as lines.
func editLedger(n int, edit func(lines []string) []string) func(*Bundle) func(*Statement) {
	return func(b *Bundle) func(*Statement) {
		name := b.ledgers()[n]
		lines := strings.SplitAfter(strings.TrimSuffix(string(b.Files[name]), "\n"), "\n")
		lines[len(lines)-1] += "\n"
		b.Files[name] = []byte(strings.Join(edit(lines), ""))
		return nil
	}
}

func check(r *conformance.Report, id string) *conformance.Result {
	i := slices.IndexFunc(r.Checks, func(c conformance.Result) bool { return c.ID == id })
	return &r.Checks[i]
}

func (r refusal) run(t *testing.T, g *genuine) {
	t.Helper()
	if r.before != nil {
		r.before(g)
	}
	b := g.bundle(t)
	if r.resealed != nil {
		edit := r.resealed(b)
		g.reseal(t, b, edit)
	}
	if r.after != nil {
		r.after(b)
	}
	o := g.options()
	if r.options != nil {
		r.options(&o)
	}
	found := verify(t, b, o)
	got := kinds(found)
	for _, want := range r.want {
		require.Contains(t, got, want, "%v", found)
	}
	for _, f := range found {
		require.NotEmpty(t, f.Message)
		require.Contains(t, Kinds(), f.Kind)
	}
	if len(r.want) == 1 {
		require.Equal(t, r.want, got, "%v", found)
	}
}

func runAll(t *testing.T, all map[string]refusal) {
	t.Helper()
	g := newGenuine(t)
	for name, r := range all {
		t.Run(name, func(t *testing.T) { r.run(t, g.clone(t)) })
	}
}

func TestRefusedFiles(t *testing.T) {
	t.Parallel()
	runAll(t, map[string]refusal{
		"no statement":      {after: func(b *Bundle) { delete(b.Files, StatementName) }, want: []Kind{KindMissing}},
		"a missing file":    {after: func(b *Bundle) { delete(b.Files, PlotName) }, want: []Kind{KindMissing}},
		"no report":         {after: func(b *Bundle) { delete(b.Files, ReportName) }, want: []Kind{KindMissing}},
		"a flipped byte":    {after: func(b *Bundle) { b.Files[PlotName] = []byte("<svg />\n") }, want: []Kind{KindDigest}},
		"an uncovered file": {after: func(b *Bundle) { b.Files[LedgerName("20261129T100000Z-0123456789ff")] = nil }, want: []Kind{KindExtra, KindLedger}},
		"a file of no kind": {after: func(b *Bundle) { b.Files["notes.txt"] = []byte("x") }, want: []Kind{KindExtra}},
		"a covered file of no kind": {resealed: func(b *Bundle) func(*Statement) { b.Files["notes.txt"] = []byte("x"); return nil },
			want: []Kind{KindExtra}},
		"a subject left out":       {resealed: statementOnly(func(s *Statement) { s.Subject = s.Subject[1:] }), want: []Kind{KindExtra}},
		"a subject twice":          {resealed: statementOnly(func(s *Statement) { s.Subject = append(s.Subject, s.Subject[0]) }), want: []Kind{KindExtra}},
		"a subject of itself":      {resealed: statementOnly(func(s *Statement) { s.Subject = append(s.Subject, Subject{Name: StatementName}) }), want: []Kind{KindExtra}},
		"another statement linked": {options: func(o *Options) { o.Link = strings.Repeat("0", 64) }, want: []Kind{KindLink}},
		"an unknown field": {resealed: func(b *Bundle) func(*Statement) {
			b.Files[ReportName] = bytes.Replace(b.Files[ReportName], []byte(`"suite"`), []byte(`"note": 1, "suite"`), 1)
			return nil
		}, want: []Kind{KindUnreadable}},
		"a key twice": {resealed: func(b *Bundle) func(*Statement) {
			b.Files[ReportName] = bytes.Replace(b.Files[ReportName], []byte(`"suite"`), []byte(`"suite": 9, "suite"`), 1)
			return nil
		}, want: []Kind{KindUnreadable}},
		"a key in another case": {resealed: func(b *Bundle) func(*Statement) {
			b.Files[BenchmarkName] = bytes.Replace(b.Files[BenchmarkName], []byte(`"created"`), []byte(`"Created"`), 1)
			return nil
		}, want: []Kind{KindUnreadable}},
		"a field of a record": {resealed: editLedger(0, func(l []string) []string {
			l[len(l)-1] = strings.Replace(l[len(l)-1], `{"v"`, `{"x":1,"v"`, 1)
			return l
		}), want: []Kind{KindUnreadable}},
		"text after the document": {resealed: func(b *Bundle) func(*Statement) {
			b.Files[BenchmarkName] = append(b.Files[BenchmarkName], "{}"...)
			return nil
		}, want: []Kind{KindUnreadable}},
	})
}

func TestRefusedSignatures(t *testing.T) {
	t.Parallel()
	other, err := NewPrivateKey(seeded("other"))
	require.NoError(t, err)
	signedBy := func(key PrivateKey) func(b *Bundle) {
		return func(b *Bundle) {
			envelope, err := Sign(context.Background(), b.Files[StatementName], key)
			require.NoError(t, err)
			b.Files[EnvelopeName] = envelope
		}
	}
	withKey := func(edit func(k *Key)) func(g *genuine) {
		return func(g *genuine) { edit(&g.keys.Keys[0]) }
	}
	end := began().Add(time.Hour)
	runAll(t, map[string]refusal{
		"none":           {after: func(b *Bundle) { delete(b.Files, EnvelopeName) }, want: []Kind{KindUnsigned}},
		"not a list":     {after: signedBy(other), want: []Kind{KindUntrustedKey}},
		"no keys at all": {options: func(o *Options) { o.Keys = nil }, want: []Kind{KindUntrustedKey}},
		"another's under a listed name": {after: func(b *Bundle) {
			signedBy(other)(b)
			b.Files[EnvelopeName] = bytes.Replace(b.Files[EnvelopeName], []byte(other.ID()), []byte(newGenuine(t).key.ID()), 1)
		}, want: []Kind{KindBadSignature}},
		"of another statement": {after: func(b *Bundle) { b.Files[StatementName] = append(b.Files[StatementName], '\n') }, want: []Kind{KindBadEnvelope}},
		"with a space":         {after: func(b *Bundle) { b.Files[EnvelopeName] = append(b.Files[EnvelopeName], ' ') }, want: []Kind{KindBadEnvelope}},
		"not JSON":             {after: func(b *Bundle) { b.Files[EnvelopeName] = []byte("signed\n") }, want: []Kind{KindBadEnvelope}},
		"compromised":          {before: withKey(func(k *Key) { k.Revoked = &Revocation{end.AddDate(0, 1, 0), Compromised} }), want: []Kind{KindKeyTime}},
		"retired before":       {before: withKey(func(k *Key) { k.Revoked = &Revocation{end.Add(-time.Minute), Retired} }), want: []Kind{KindKeyTime}},
		"not yet valid":        {before: withKey(func(k *Key) { k.ValidFrom = end.Add(time.Minute) }), want: []Kind{KindKeyTime}},
		"no longer valid":      {before: withKey(func(k *Key) { k.ValidUntil = end }), want: []Kind{KindKeyTime}},
		"under another's ID":   {before: withKey(func(k *Key) { k.Public = other.Public() }), want: []Kind{KindUntrustedKey}},
	})
	g := newGenuine(t)
	g.keys.Keys[0].Revoked = &Revocation{end.Add(time.Minute), Retired}
	require.Empty(t, verify(t, g.bundle(t), g.options()), "what a key signed before it was retired stands")
	b := g.bundle(t)
	delete(b.Files, EnvelopeName)
	o := g.options()
	o.RequireSignature = false
	require.Empty(t, verify(t, b, o))
	signedBy(other)(b)
	require.Equal(t, []Kind{KindUntrustedKey}, kinds(verify(t, b, o)), "a signature that is there counts")
}

func TestRefusedProof(t *testing.T) {
	t.Parallel()
	report := func(edit func(*conformance.Report)) refusal { return refusal{resealed: editReport(edit)} }
	with := func(r refusal, want ...Kind) refusal { r.want = want; return r }
	runAll(t, map[string]refusal{
		"another provider":         {after: func(b *Bundle) { b.Provider = "other" }, want: []Kind{KindProvider}},
		"another provider's files": with(report(func(r *conformance.Report) { r.Provider = "other" }), KindProvider),
		"another run":              {after: func(b *Bundle) { b.Run = "20261129T100000Z-0123456789ac" }, want: []Kind{KindRun}},
		"another run's report":     with(report(func(r *conformance.Report) { r.Run = "20261129T100000Z-0123456789ac" }), KindRun),
		"another machine":          with(report(func(r *conformance.Report) { r.Environment.CPUs = 64 }), KindRun),
		"failed":                   {resealed: statementOnly(func(s *Statement) { s.Predicate.Verdict = Failed }), want: []Kind{KindVerdict}},
		"overridden":               with(report(func(r *conformance.Report) { r.Mode.Endpoints[0].Overridden = true }), KindMode),
		"typed as live": {before: func(g *genuine) { g.run.Endpoints[0].Origin = "http://127.0.0.1:8080" },
			resealed: statementOnly(func(s *Statement) { s.Predicate.Mode, s.Predicate.Verdict = Live, Passed }), want: []Kind{KindMode}},
		"simulated":       {before: func(g *genuine) { g.run.Endpoints[0].Origin = "http://127.0.0.1:8080" }, want: []Kind{KindMode, KindVerdict}},
		"no account":      with(report(func(r *conformance.Report) { r.Mode.Scope = "" }), KindMode),
		"another account": {resealed: statementOnly(func(s *Statement) { s.Predicate.Target.Account = "x" }), want: []Kind{KindMode}},
		"no identity":     {resealed: statementOnly(func(s *Statement) { s.Predicate.Target.Endpoints[0].TLSKey = "" }), want: []Kind{KindMode}},
		"nothing was run": with(report(func(r *conformance.Report) {
			for i := range r.Checks {
				r.Checks[i].Verdict, r.Checks[i].Reason = conformance.Unknown, conformance.NotAttempted
				r.Checks[i].StartedAt, r.Checks[i].Duration = time.Time{}, 0
			}
			recount(r)
		}), KindNothingRun, KindNotPassed, KindCoverage),
		"no checks at all": {resealed: func(b *Bundle) func(*Statement) {
			editReport(func(r *conformance.Report) { r.Checks = []conformance.Result{}; recount(r) })(b)
			return func(s *Statement) { s.Predicate.Binding.Checks = []string{} }
		}, want: []Kind{KindNothingRun, KindCoverage}},
		"a selection":    with(report(func(r *conformance.Report) { r.Selected = "create" }), KindCoverage),
		"a failed check": with(report(func(r *conformance.Report) { check(r, "create.returns-id").Verdict = conformance.Failed; recount(r) }), KindNotPassed),
		"a failed check nobody owes": with(report(func(r *conformance.Report) {
			check(r, "shape.manifest-matches").Verdict = conformance.Failed
			recount(r)
		}), KindNotPassed),
		"an unknown owed check": with(report(func(r *conformance.Report) {
			c := check(r, "ready.functional")
			c.Verdict, c.Reason = conformance.Unknown, conformance.TimedOut
			recount(r)
		}), KindNotPassed),
		"an owed check refused": with(report(func(r *conformance.Report) {
			check(r, "list.contains-created").Verdict = conformance.RefusedAsDeclared
			recount(r)
		}), KindNotPassed),
		"an owed check left out": {resealed: func(b *Bundle) func(*Statement) {
			editReport(func(r *conformance.Report) {
				r.Checks = slices.DeleteFunc(r.Checks, func(c conformance.Result) bool { return c.ID == "ready.functional" })
				recount(r)
			})(b)
			return func(s *Statement) {
				s.Predicate.Binding.Checks = slices.DeleteFunc(s.Predicate.Binding.Checks, func(c string) bool { return strings.HasPrefix(c, "ready.functional@") })
			}
		}, want: []Kind{KindCoverage}},
		"not owed, they say": with(report(func(r *conformance.Report) {
			c := check(r, "ready.functional")
			c.Owed, c.Verdict, c.Reason = false, conformance.Unknown, conformance.TimedOut
			recount(r)
		}), KindCounts, KindNotPassed),
		"another group": with(report(func(r *conformance.Report) { check(r, "ready.functional").Group = "shape" }), KindCounts),
		"counts":        with(report(func(r *conformance.Report) { r.Counts.Passed++ }), KindCounts),
		"reasons":       with(report(func(r *conformance.Report) { r.Counts.Reasons[conformance.SimOnly] = 3 }), KindCounts),
		"passed without a start": with(report(func(r *conformance.Report) {
			c := check(r, "ready.functional")
			c.StartedAt, c.Duration = time.Time{}, 0
			recount(r)
		}), KindCounts),
		"blocked by what passed": with(report(func(r *conformance.Report) {
			c := check(r, "ready.functional")
			c.Verdict, c.Reason, c.BlockedBy = conformance.Unknown, conformance.BlockedBy, "create.returns-id"
			recount(r)
		}), KindCounts, KindNotPassed),
		"a problem":             with(report(func(r *conformance.Report) { r.Problems = []string{"the ledger was lost"} }), KindNotPassed),
		"bound to other checks": {resealed: statementOnly(func(s *Statement) { s.Predicate.Binding.Checks[0] += "0" }), want: []Kind{KindCounts}},
		"another suite":         with(report(func(r *conformance.Report) { r.Suite++ }), KindCounts),
		"left at the vendor":    with(report(func(r *conformance.Report) { r.Vendor.After["sandbox"] = 2 }), KindVendor),
		"not counted":           with(report(func(r *conformance.Report) { r.Vendor.After = nil }), KindVendor),
		"count failed":          with(report(func(r *conformance.Report) { r.Vendor.Problem = "after: timeout" }), KindVendor),
	})
}

func TestRefusedSecrets(t *testing.T) {
	t.Parallel()
	dummy := "dummy-" + "value-0123456789"
	redactor, err := wire.NewRedactor(wire.NamedSecret{Name: "ACME_API_KEY", Value: port.NewSecret(dummy)})
	require.NoError(t, err)
	shape := "gh" + "p_" + strings.Repeat("aB3dE9", 6)
	message := func(text string) func(*Bundle) func(*Statement) {
		return editReport(func(r *conformance.Report) { check(r, "ready.functional").Message = text })
	}
	known := func(o *Options) { o.Secrets = redactor }
	scanner, err := gitleaks.New()
	require.NoError(t, err)
	deep := func(o *Options) { o.Deep = scanner }
	rare := "dapi" + "1f4b97c20d8e63a5f0b7c4d19e28a6f3" // no form that the scan that always runs knows
	runAll(t, map[string]refusal{
		"a known value":            {resealed: message("it was " + dummy), options: known, want: []Kind{KindKnownSecret}},
		"a vendor's key":           {resealed: message("it was " + shape), want: []Kind{KindVendorKey}},
		"in an address":            {resealed: message("https://me:" + "secretsecret@api.acme.example/"), want: []Kind{KindURLSecret}},
		"a private key":            {resealed: message("-----BEGIN " + "PRIVATE KEY-----"), want: []Kind{KindPrivateKey}},
		"in the plot":              {resealed: func(b *Bundle) func(*Statement) { b.Files[PlotName] = []byte(shape); return nil }, want: []Kind{KindVendorKey}},
		"by gitleaks' rules":       {resealed: message("it was " + rare), options: deep, want: []Kind{KindDeepSecret}},
		"in base64":                {resealed: message(base64.StdEncoding.EncodeToString([]byte("it was " + rare))), options: deep, want: []Kind{KindDeepSecret}},
		"not looked for so deeply": {resealed: message("it was " + rare)},
		"in the producer":          {before: func(g *genuine) { g.run.Producer.Agent = dummy }, options: known, want: []Kind{KindKnownSecret}},
	})
	g := newGenuine(t)
	o := g.options()
	known(&o)
	require.Empty(t, verify(t, g.bundle(t), o))
	b := g.bundle(t)
	b.Files[PlotName] = []byte("a\nb " + dummy)
	found := b.Secrets(o)
	require.Len(t, found, 1)
	require.Equal(t, 2, found[0].Line)
	require.NotContains(t, found[0].Message, dummy)
}

func TestKindsHaveOneClass(t *testing.T) {
	seen := map[Kind]bool{}
	for _, k := range Kinds() {
		require.False(t, seen[k], k)
		seen[k] = true
		require.Contains(t, kindsOf(k.Class()), k)
	}
	require.Len(t, seen, 35)
}

func TestDecodeStatement(t *testing.T) {
	g := newGenuine(t)
	b := g.bundle(t)
	s, err := b.Statement()
	require.NoError(t, err)
	require.Equal(t, began().Add(time.Hour).Add(MaxAge), s.Predicate.ExpiresAt())
	var any map[string]any
	require.NoError(t, json.Unmarshal(b.Files[StatementName], &any))
	any["predicateType"] = "https://sbx.dev/evidence/v2"
	other, err := json.Marshal(any)
	require.NoError(t, err)
	_, err = DecodeStatement(other)
	require.Error(t, err)
	_, err = (&Bundle{}).Statement()
	require.Error(t, err)
}

func BenchmarkVerify(b *testing.B) {
	g := newGenuine(b)
	bundle := g.bundle(b)
	for b.Loop() {
		if found := verify(b, bundle, g.options()); len(found) > 0 {
			b.Fatal(found)
		}
	}
}
