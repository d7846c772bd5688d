package evidence

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/agentworkforce/sbx/bench"
	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/internal/gitleaks"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/wire"
)

// Options say what evidence is judged against.
type Options struct {
	// Now is the day the judgement is made for. Required.
	Now time.Time
	// Keys are the listed keys. An envelope that is there is checked whenever
	// there are keys or a signature is required.
	Keys             *Keys
	RequireSignature bool
	// Link is the digest of the statement that a catalog entry names; empty when
	// nothing links it.
	Link string
	// Current is the provider as it stands. nil judges a record by itself: whether
	// it is about what is here now, and what is owed, is not asked.
	Current *Current
	// Secrets are values that must be nowhere. nil knows none; the shapes of
	// credentials are looked for anyway.
	Secrets *wire.Redactor
	// Deep looks for credentials with the rules of gitleaks, too; nil does not.
	Deep *gitleaks.Scanner
}

// Verifier judges bundles. It is immutable and may be used concurrently; whoever
// judges more than one keeps it, because it holds the compiled schemas.
type Verifier struct{ schemas *schemas }

// NewVerifier compiles the schemas. The error says that those of this program are
// broken.
func NewVerifier() (*Verifier, error) {
	s, err := newSchemas()
	if err != nil {
		return nil, err
	}
	return &Verifier{s}, nil
}

// Verify returns every reason why a bundle does not prove that the provider does
// what it claims, none when it does. It judges records, not what is said about
// them: counts, coverage, statistics, balance and mode are computed again.
func (vf *Verifier) Verify(b *Bundle, o Options) []Finding {
	v := &verifier{b: b, o: o, schemas: vf.schemas}
	v.files()
	v.decode()
	if v.statement != nil {
		v.subjects()
		v.signature()
		v.records()
		v.currency()
	}
	v.secrets()
	return v.found
}

// Verify is Verifier.Verify for a single bundle.
func Verify(b *Bundle, o Options) ([]Finding, error) {
	v, err := NewVerifier()
	if err != nil {
		return nil, err
	}
	return v.Verify(b, o), nil
}

// verifier gathers findings about one bundle.
type verifier struct {
	b       *Bundle
	o       Options
	schemas *schemas
	found   []Finding

	statement *Statement
	report    *conformance.Report
	benchmark *bench.Artifact
	ledgers   []ledgerFile
}

// ledgerFile is a ledger with its judgement.
type ledgerFile struct {
	name string
	rep  *ledger.Report
}

func (v *verifier) say(kind Kind, file, pointer, format string, args ...any) {
	v.found = append(v.found, Finding{Kind: kind, File: file, Pointer: pointer, Message: fmt.Sprintf(format, args...)})
}

func (v *verifier) sayLine(kind Kind, file string, line int, format string, args ...any) {
	v.found = append(v.found, Finding{Kind: kind, File: file, Line: line, Message: fmt.Sprintf(format, args...)})
}

// predicate of the statement, which is there.
func (v *verifier) predicate() *Predicate { return &v.statement.Predicate }

// files looks at which files there are.
func (v *verifier) files() {
	for _, name := range slices.Sorted(maps.Keys(v.b.refused)) {
		v.say(KindUnreadable, name, "", "%s", v.b.refused[name])
	}
	for _, name := range v.b.names() {
		if !known(name) {
			v.say(KindExtra, name, "", "has no place in the folder of a run")
		}
	}
	for _, name := range []string{StatementName, ReportName} {
		if _, ok := v.b.Files[name]; !ok {
			v.say(KindMissing, name, "", "is not there")
		}
	}
}

// decode reads every artifact strictly.
func (v *verifier) decode() {
	refuse := func(name string, err error) {
		pointer, reason := "", err.Error()
		if u, ok := errors.AsType[*unreadable](err); ok {
			pointer, reason = u.pointer, u.reason
		}
		v.say(KindUnreadable, name, pointer, "%s", reason)
	}
	var err error
	if src, ok := v.b.Files[StatementName]; ok {
		if v.statement, err = v.schemas.statement(src); err != nil {
			refuse(StatementName, err)
		}
	}
	if src, ok := v.b.Files[ReportName]; ok {
		if v.report, err = v.schemas.report(src); err != nil {
			refuse(ReportName, err)
		}
	}
	if src, ok := v.b.Files[BenchmarkName]; ok {
		if v.benchmark, err = v.schemas.benchmark(src); err != nil {
			refuse(BenchmarkName, err)
		}
	}
	v.decodeLedgers()
}

// subjects compares the statement with the files, and the link with the
// statement.
func (v *verifier) subjects() {
	if digest := SHA256(v.b.Files[StatementName]); v.o.Link != "" && v.o.Link != digest {
		v.say(KindLink, StatementName, "", "has the digest %s; the link names %s", digest, v.o.Link)
	}
	seen := map[string]bool{}
	for i, s := range v.statement.Subject {
		at := fmt.Sprintf("/subject/%d", i)
		content, ok := v.b.Files[s.Name]
		switch {
		case seen[s.Name]:
			v.say(KindExtra, StatementName, at, "%s is covered twice", s.Name)
		case !covered(s.Name):
			v.say(KindExtra, StatementName, at, "a statement cannot cover %s", s.Name)
		case !ok:
			v.say(KindMissing, s.Name, "", "is covered by the statement and not there")
		case SHA256(content) != s.Digest.SHA256:
			v.say(KindDigest, s.Name, "", "is not the file that the statement covers: its digest is %s", SHA256(content))
		}
		seen[s.Name] = true
	}
	for _, name := range v.b.names() {
		if covered(name) && !seen[name] {
			v.say(KindExtra, name, "", "is not covered by the statement")
		}
	}
}

// signature asks who says so.
func (v *verifier) signature() {
	envelope, ok := v.b.Files[EnvelopeName]
	switch {
	case !ok && v.o.RequireSignature:
		v.say(KindUnsigned, EnvelopeName, "", "is not there: nobody signed the statement")
		return
	case !ok, !v.o.RequireSignature && v.o.Keys == nil:
		return
	}
	key, err := VerifyEnvelope(context.Background(), envelope, v.b.Files[StatementName], v.o.Keys)
	switch {
	case errors.Is(err, ErrUntrusted):
		v.say(KindUntrustedKey, EnvelopeName, "/signatures/0/keyid", "the statement is signed with a key that is not listed")
	case errors.Is(err, ErrSignature):
		v.say(KindBadSignature, EnvelopeName, "/signatures/0/sig", "the signature was not made by the key it names")
	case errors.Is(err, ErrOtherStatement):
		v.say(KindBadEnvelope, EnvelopeName, "/payload", "holds another statement than %s", StatementName)
	case err != nil:
		v.say(KindBadEnvelope, EnvelopeName, "", "is not an envelope with one signature as the tool writes it")
	default:
		if why := key.Refuses(v.predicate().FinishedAt); why != "" {
			v.say(KindKeyTime, EnvelopeName, "/signatures/0/keyid", "%s", why)
		}
	}
}
