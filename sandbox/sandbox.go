package sandbox

import (
	"context"
	"sync"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
)

// Sandbox is one sandbox at a provider. It is safe for concurrent use. A
// program that has it by Create owns it; see Provider.Attach for others.
type Sandbox struct {
	p *Provider

	mu       sync.Mutex
	target   target
	extras   []target // made on the way to it, destroyed after it
	last     contract.Instance
	owned    bool
	recorded bool   // this run's ledger has an entry for it
	foreign  string // why it is not owned
	missing  bool   // the vendor said at Attach that it is not there
	guards   []*guard
	lookedUp bool // extras of an earlier run have been looked for

	destroying sync.Mutex // one destroy at a time; a second one gets the same answer
	gone       *DestroyReport
}

// ID is the native ID.
func (s *Sandbox) ID() string { return s.target.id }

// Ref is provider and native ID.
func (s *Sandbox) Ref() Ref { return NewRef(s.p.driver.ID, s.target.id) }

// Provider is the provider's ID.
func (s *Sandbox) Provider() string { return s.p.driver.ID }

// what is s as the ledger knows it.
func (s *Sandbox) what() target {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.target
}

// Instance is the sandbox as it was last seen; Inspect looks again.
func (s *Sandbox) Instance() contract.Instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// Owned reports whether this program may stop and destroy it.
func (s *Sandbox) Owned() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owned
}

// Missing reports whether the vendor answered at Attach that it is not there; see
// AbsentToo. That alone proves nothing.
func (s *Sandbox) Missing() bool { return s.missing }

// Supports is Provider.Supports.
func (s *Sandbox) Supports(c contract.Capability) bool { return s.p.Supports(c) }

// Inspect looks at the sandbox now. It changes nothing. A removed one is not_found.
func (s *Sandbox) Inspect(ctx context.Context) (contract.Instance, error) {
	return sandboxCall(ctx, s, operation{name: "Inspect", effect: contract.EffectRead, limit: limitLookup},
		func(ctx context.Context) (contract.Instance, error) { return s.p.table.Inspect(ctx, s.ID()) })
}

// Exec runs a command to its end. A nonzero exit is a result; a lost exit code
// is exit_unknown. Without a Timeout the command gets the provider's cap, else
// 30 minutes; it is always sent.
func (s *Sandbox) Exec(ctx context.Context, command contract.Command) (contract.ExecResult, error) {
	op := operation{name: "Exec", effect: contract.EffectMutate, limit: limitCommand, args: []any{command}}
	command.Timeout = s.p.commandLife(command)
	op.life = command.Timeout + s.p.opts.deadlines.Lookup // what the call itself may take
	return sandboxCall(ctx, s, op, func(ctx context.Context) (contract.ExecResult, error) {
		return s.p.table.Exec(ctx, s.ID(), command)
	})
}

// Run is Exec of a program and its arguments, without a shell.
func (s *Sandbox) Run(ctx context.Context, name string, args ...string) (contract.ExecResult, error) {
	return s.Exec(ctx, contract.Command{Argv: append([]string{name}, args...)})
}

// Shell is Exec of a script for the sandbox's POSIX sh.
func (s *Sandbox) Shell(ctx context.Context, script string) (contract.ExecResult, error) {
	return s.Exec(ctx, contract.Command{Script: script})
}

// sandboxCall is call for an operation on s that needs no ownership.
func sandboxCall[T any](ctx context.Context, s *Sandbox, op operation, fn func(context.Context) (T, error)) (T, error) {
	op.id = s.ID()
	out, err := call(ctx, s.p, op, fn)
	if i, ok := any(out).(contract.Instance); ok && err == nil {
		s.saw(i)
	}
	return out, err
}

// sandboxCallNone is sandboxCall for an operation that returns only an error.
func sandboxCallNone(ctx context.Context, s *Sandbox, op operation, fn func(context.Context) error) error {
	op.id = s.ID()
	return callNone(ctx, s.p, op, fn)
}

// sandboxOpen is open for an operation on s.
func sandboxOpen[T any](ctx context.Context, s *Sandbox, op operation, fn func(context.Context) (T, error),
	wrap func(T, context.CancelFunc) T) (T, error) {
	op.id = s.ID()
	return open(ctx, s.p, op, fn, wrap)
}

func (s *Sandbox) saw(i contract.Instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = i
}

// lifecycle runs an operation that changes the state of s: it needs ownership,
// and request and completion are in the ledger.
func lifecycle[T any](ctx context.Context, s *Sandbox, op operation, fn func(context.Context) (T, error)) (T, error) {
	var zero T
	op.id = s.ID()
	if err := s.p.admit(op); err != nil {
		return zero, err
	}
	if err := s.mine(ctx, op); err != nil {
		return zero, err
	}
	requested, done := lifecycleEvents(op.name)
	if err := s.p.book.append(ctx, s.what().record(requested, "", op.name)); err != nil {
		return zero, s.p.fail(ctx, op, err)
	}
	out, err := sandboxCall(ctx, s, op, fn)
	if err != nil {
		return zero, err
	}
	outcome := ""
	if i, ok := any(out).(contract.Instance); ok {
		outcome = string(i.State)
	}
	if err := s.p.book.append(ctx, s.what().record(done, outcome, op.name)); err != nil {
		e := describe(ctx, op.effect, err)
		e.Outcome = port.OutcomeDone
		return out, s.p.fail(ctx, op, e)
	}
	return out, nil
}

// lifecycleEvents are the ledger's words around an operation. One it has no
// words for is an observation before and after.
func lifecycleEvents(op string) (requested, done ledger.Event) {
	switch op {
	case "Stop":
		return ledger.EventStopRequested, ledger.EventStopDone
	case "Suspend":
		return ledger.EventSuspendRequested, ledger.EventSuspendDone
	case "Start", "Resume", "Restart":
		return ledger.EventResumeRequested, ledger.EventResumeDone
	}
	return ledger.EventObserved, ledger.EventObserved
}

// Destroy removes the sandbox and waits until its absence is proven. It works
// after ctx is cancelled, under its own deadline, and may be called again, also
// concurrently: once gone, it answers with the same report. A sandbox that is
// not owned is foreign; a guard that says no is failed_precondition; in both
// cases nothing is asked of the vendor. Without proof of absence the error is an
// *UnverifiedError that holds the report.
func (s *Sandbox) Destroy(ctx context.Context) (DestroyReport, error) {
	s.destroying.Lock()
	defer s.destroying.Unlock()
	if s.gone != nil {
		return *s.gone, nil
	}
	op := operation{name: "Destroy", effect: contract.EffectDestroy, id: s.ID()}
	if err := s.p.begin(op); err != nil {
		return DestroyReport{}, err
	}
	defer s.p.settling.Done()
	ctx = context.WithoutCancel(ctx)
	if err := s.mine(ctx, op); err != nil {
		return DestroyReport{}, err
	}
	if err := s.askGuards(ctx, op); err != nil {
		return DestroyReport{}, err
	}
	extras, err := s.leftovers(ctx)
	if err != nil {
		return DestroyReport{}, s.p.fail(ctx, op, err)
	}
	report, err := s.p.destroyAll(ctx, s.what(), extras)
	if err == nil {
		s.gone = &report
		s.saw(contract.Instance{ID: s.ID(), State: contract.StateGone, Freshness: contract.FreshnessLive,
			Isolation: contract.IsolationUnknown})
	}
	return report, err
}

type guard struct {
	name string
	ask  func(context.Context) error
}

// Guard registers a condition that Destroy asks first; an error from ask refuses
// the destroy. The returned function removes the guard. Guards bind this handle
// only; a reaper does not know them.
func (s *Sandbox) Guard(name string, ask func(context.Context) error) (remove func()) {
	g := &guard{name: name, ask: ask}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.guards = append(s.guards, g)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for i, have := range s.guards {
			if have == g {
				s.guards = append(s.guards[:i:i], s.guards[i+1:]...)
				return
			}
		}
	}
}

func (s *Sandbox) askGuards(ctx context.Context, op operation) error {
	s.mu.Lock()
	guards := append([]*guard(nil), s.guards...)
	s.mu.Unlock()
	ctx, cancel := context.WithTimeoutCause(ctx, s.p.opts.deadlines.Operation, &firedError{limitOperation, s.p.opts.deadlines.Operation})
	defer cancel()
	for _, g := range guards {
		if err := g.ask(ctx); err != nil {
			e := s.p.refuse(op, port.CodeFailedPrecondition, "guard "+g.name+" refuses")
			e.Err = s.p.redact().Error(err)
			return e
		}
	}
	return nil
}

// Keep tells the ledger that the sandbox may outlive this run; reapAfter 0 means
// that nothing reaps it.
func (s *Sandbox) Keep(ctx context.Context, reapAfter time.Duration) error {
	op := operation{name: "Keep", effect: contract.EffectMutate, id: s.ID()}
	if err := s.mine(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	s.target.disposition, s.target.reapAfter = ledger.Kept, time.Time{}
	if reapAfter > 0 {
		s.target.reapAfter = s.p.opts.clock().Add(reapAfter).UTC()
	}
	rec := s.target.record(ledger.EventDispositionChanged, "", "")
	s.mu.Unlock()
	return s.p.fail(ctx, op, s.p.book.append(ctx, rec))
}
