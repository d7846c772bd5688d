package evidence

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/agentworkforce/sbx/bench"
	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/ledger"
)

// Run is what a run left behind, to be made into a bundle.
type Run struct {
	// ID names the run and its folder; see ledger.ValidRun. Empty is the report's.
	ID                    string
	StartedAt, FinishedAt time.Time
	// Tool is the version of the program.
	Tool string
	// Report is required; that of a blocked run has nothing executed against the
	// vendor.
	Report *conformance.Report
	// Benchmark may be nil; the run does not pass then.
	Benchmark *bench.Artifact
	Plot      []byte // SVG; may be nil
	// Ledgers are the bytes of every ledger of the state directory, by run.
	Ledgers map[string][]byte
	// Endpoints are what Resolve answered.
	Endpoints []Endpoint
	// Missing names what a blocked run lacks. A run with anything missing is
	// blocked-before-mutation.
	Missing  []string
	Commit   string
	Producer *Producer
}

var (
	errNoReport = errors.New("a run without a conformance report")
	errMutation = errors.New("a run that made something at the vendor is not blocked before mutation")
	errRunID    = errors.New("not the ID of a run")
)

// New makes the bundle of a run, unsigned. Verdict, mode and binding follow from
// the records and from the provider as it stands; nothing of them can be given. A
// run passes exactly when Verify has no finding about its proof.
func New(r Run, now *Current) (*Bundle, error) {
	if r.Report == nil {
		return nil, fmt.Errorf("evidence: %w", errNoReport)
	}
	if r.ID == "" {
		r.ID = r.Report.Run
	}
	if !ledger.ValidRun(r.ID) {
		return nil, fmt.Errorf("evidence: %q: %w", r.ID, errRunID)
	}
	b := &Bundle{Provider: now.Provider, Run: r.ID, Files: map[string][]byte{}}
	if err := b.artifacts(r); err != nil {
		return nil, err
	}
	s := newStatement(r, now, b.subjects())
	if err := b.conclude(s, r, now); err != nil {
		return nil, err
	}
	text, err := s.Encode()
	if err != nil {
		return nil, err
	}
	b.Files[StatementName] = text
	return b, nil
}

func (b *Bundle) artifacts(r Run) error {
	var buf bytes.Buffer
	if err := r.Report.Encode(&buf); err != nil {
		return fmt.Errorf("evidence: %w", err)
	}
	b.Files[ReportName] = bytes.Clone(buf.Bytes())
	if r.Benchmark != nil {
		buf.Reset()
		if err := r.Benchmark.Encode(&buf); err != nil {
			return fmt.Errorf("evidence: %w", err)
		}
		b.Files[BenchmarkName] = bytes.Clone(buf.Bytes())
	}
	if len(r.Plot) > 0 {
		b.Files[PlotName] = r.Plot
	}
	for run, content := range r.Ledgers {
		if !ledger.ValidRun(run) {
			return fmt.Errorf("evidence: ledger %q: %w", run, errRunID)
		}
		b.Files[LedgerName(run)] = content
	}
	return nil
}

func newStatement(r Run, now *Current, subjects []Subject) *Statement {
	target := Target{Account: r.Report.Mode.Scope, Endpoints: r.Endpoints}
	mode, _ := DeriveMode(now.Endpoints, target, r.Report.Mode)
	return &Statement{Type: StatementType, Subject: subjects, PredicateType: PredicateType, Predicate: Predicate{
		Run: r.ID, Provider: now.Provider, StartedAt: r.StartedAt.UTC(), FinishedAt: r.FinishedAt.UTC(),
		Versions: Versions{Tool: r.Tool, Suite: r.Report.Suite}, Mode: mode, Target: target,
		Environment: r.Report.Environment, Binding: now.binding(r.Report),
		Commit: r.Commit, Producer: r.Producer, Missing: slices.Sorted(slices.Values(r.Missing)),
	}}
}

// maxReasons bounds how many reasons a statement repeats.
const maxReasons = 20

// conclude sets the verdict.
func (b *Bundle) conclude(s *Statement, r Run, now *Current) error {
	if len(r.Missing) > 0 {
		for run, content := range r.Ledgers {
			rep, err := ledger.VerifyReader(bytes.NewReader(content))
			if err != nil {
				return fmt.Errorf("evidence: ledger %s: %w", run, err)
			}
			if rep.Counts.Intended+rep.Counts.Adopted > 0 {
				return fmt.Errorf("evidence: %w", errMutation)
			}
		}
		s.Predicate.Verdict = Blocked
		return nil
	}
	s.Predicate.Verdict = Passed
	text, err := s.Encode()
	if err != nil {
		return err
	}
	trial := &Bundle{Provider: b.Provider, Run: b.Run, Files: maps.Clone(b.Files)}
	trial.Files[StatementName] = text
	found, err := Verify(trial, Options{Now: s.Predicate.FinishedAt, Current: now})
	if err != nil {
		return err
	}
	for _, f := range found {
		if f.Kind.Class() != ClassProof && f.Kind.Class() != ClassIntegrity {
			continue
		}
		s.Predicate.Verdict = Failed
		if len(s.Predicate.Reasons) < maxReasons {
			s.Predicate.Reasons = append(s.Predicate.Reasons, string(f.Kind)+": "+f.Message)
		}
	}
	return nil
}
