package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

func mustFireChecks() map[string]proof {
	fire := func(run func(context.Context, *trial) error) proof { return proof{run: run, method: "Destroy"} }
	return map[string]proof{
		"must-fire.normal":                 fire(fireNormal),
		"must-fire.error":                  fire(fireError),
		"must-fire.panic":                  fire(firePanic),
		"must-fire.cancel":                 fire(fireCancel),
		"must-fire.timeout":                fire(fireTimeout),
		"must-fire.sigterm":                fire(fireSigterm),
		"must-fire.sigkill-reap":           fire(fireSigkill),
		"must-fire.cancel-during-create":   {run: cancelDuringCreate, method: "Create"},
		"must-fire.late-create":            {run: lateCreate, method: "Create"},
		"must-fire.failed-destroy-retried": fire(failedDestroyRetried),
		"must-fire.half-created":           {run: halfCreated, method: "Create"},
	}
}

// with runs work the way applications do, and returns the ID it ran in.
func (t *trial) with(ctx context.Context, work func(ctx context.Context, id string) error) (id string, err error) {
	err = sandbox.With(ctx, t.s.p, func(ctx context.Context, sb *sandbox.Sandbox) error {
		id = sb.ID()
		t.destroyLater(sb)
		return work(ctx, id)
	}, t.s.h.Create...)
	if id == "" {
		return "", unknown(NoInstanceCreated, "%v", err)
	}
	return id, err
}

// goneIfProvable is gone where the manifest says that absence can be seen.
func (t *trial) goneIfProvable(ctx context.Context, id string) error {
	if !t.s.canProveGone() {
		return nil
	}
	return t.gone(ctx, id)
}

func fireNormal(ctx context.Context, t *trial) error {
	id, err := t.with(ctx, func(context.Context, string) error { return nil })
	if err != nil {
		return err
	}
	return t.goneIfProvable(ctx, id)
}

func fireError(ctx context.Context, t *trial) error {
	work := errors.New("conformance: the work failed")
	id, err := t.with(ctx, func(context.Context, string) error { return work })
	if !errors.Is(err, work) {
		return fmt.Errorf("the error of the work was lost: %v", err)
	}
	return t.goneIfProvable(ctx, id)
}

func firePanic(ctx context.Context, t *trial) error {
	const value = "conformance: the work panicked"
	id, got := "", any(nil)
	func() {
		defer func() { got = recover() }()
		var err error
		_, err = t.with(ctx, func(_ context.Context, in string) error {
			id = in
			panic(value)
		})
		got = err
	}()
	if got != value {
		return fmt.Errorf("the panic did not go on: %v", got)
	}
	return t.goneIfProvable(ctx, id)
}

func fireCancel(ctx context.Context, t *trial) error {
	cctx, cancel := context.WithCancel(ctx)
	defer cancel()
	id, err := t.with(cctx, func(ctx context.Context, _ string) error { cancel(); return ctx.Err() })
	if !errors.Is(err, context.Canceled) {
		return fmt.Errorf("want the work's cancellation: %v", err)
	}
	return t.goneIfProvable(ctx, id)
}

func fireTimeout(ctx context.Context, t *trial) error {
	sb, err := t.create(ctx)
	if err != nil {
		return err
	}
	cctx, cancel := context.WithDeadline(ctx, time.Now().Add(-time.Second))
	defer cancel()
	if _, err := sb.Shell(cctx, "exit 0"); err == nil {
		return errors.New("a command ran after its deadline")
	}
	if err := t.destroyed(cctx, sb); err != nil {
		return fmt.Errorf("with a context whose deadline has passed: %w", err)
	}
	return t.goneIfProvable(ctx, sb.ID())
}

// child starts another process with a sandbox.
func (t *trial) child(ctx context.Context, role string) (Child, string, error) {
	if t.s.opts.Child == nil {
		return nil, "", unknown(NotAttempted, "this run cannot start another process of itself")
	}
	c, err := t.s.opts.Child(ctx, role, t.s.stateDir)
	if err != nil {
		return nil, "", err
	}
	t.cleanup(func(ctx context.Context) error { // a process that has ended already cannot be ended
		if err := c.Kill(); err == nil {
			return c.Wait(ctx)
		}
		return nil
	})
	id, err := c.ID(ctx)
	if err != nil {
		return nil, "", unknown(NoInstanceCreated, "the other process made no sandbox: %v", err)
	}
	_, err = t.s.table().Inspect(ctx, id)
	if isAbsent(err) {
		return nil, "", unknown(NotAttempted, "what another process makes is not to be seen from here: the harness gives each its own state")
	}
	return c, id, err
}

func fireSigterm(ctx context.Context, t *trial) error {
	c, id, err := t.child(ctx, childTerm)
	if err != nil {
		return err
	}
	if err := c.Terminate(); err != nil {
		return err
	}
	if err := c.Wait(ctx); err != nil {
		return err
	}
	return t.goneIfProvable(ctx, id)
}

func fireSigkill(ctx context.Context, t *trial) error {
	t.s.reaping.Lock()
	defer t.s.reaping.Unlock()
	c, id, err := t.child(ctx, childKill)
	if err != nil {
		return err
	}
	alive, err := t.s.p.Reap(ctx, true)
	if err != nil {
		return err
	}
	if v, _ := reapVerdict(alive, id); v != sandbox.VerdictSkipAlive {
		return fmt.Errorf("while its run lives the reaper says %q", v)
	}
	if err := errors.Join(c.Kill(), c.Wait(ctx)); err != nil {
		return err
	}
	if _, err := t.s.table().Inspect(ctx, id); err != nil {
		return fmt.Errorf("the sandbox went with its process, so the reaper was not seen to work: %w", err)
	}
	dead, err := t.s.p.Reap(ctx, true)
	if err != nil {
		return err
	}
	if v, item := reapVerdict(dead, id); v != sandbox.VerdictReap || item.Err != "" {
		return fmt.Errorf("the reaper says %q: %s %s", v, item.Reason, item.Err)
	}
	return t.goneIfProvable(ctx, id)
}

// reapVerdict is what a reaper said about an ID.
func reapVerdict(r sandbox.ReapReport, id string) (sandbox.Verdict, sandbox.ReapItem) {
	i := slices.IndexFunc(r.Items, func(i sandbox.ReapItem) bool { return i.ID == id })
	if i < 0 {
		return "", sandbox.ReapItem{}
	}
	return r.Items[i].Verdict, r.Items[i]
}

// cancelDuringCreate holds the vendor's answer back until the caller has left.
func cancelDuringCreate(ctx context.Context, t *trial) error {
	var mu sync.Mutex
	id := ""
	asked, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	letGo := func() { once.Do(func() { close(release) }) }
	p, err := t.s.open(ctx, t.s.h.Driver, sandbox.WithTable(func(table contract.Table) contract.Table {
		create := table.Create
		table.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			i, err := create(ctx, r)
			mu.Lock()
			id = i.ID
			mu.Unlock()
			close(asked)
			<-release
			if ctx.Err() != nil {
				return i, fmt.Errorf("conformance: the caller's cancellation reached the vendor call: %w", ctx.Err())
			}
			return i, err
		}
		return table
	}))
	if err != nil {
		return err
	}
	defer letGo()
	cctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answer := make(chan error, 1)
	go func() {
		sb, err := p.Create(cctx, t.s.h.Create...)
		if err == nil {
			t.destroyLater(sb)
		}
		answer <- err
	}()
	select {
	case <-asked:
	case err := <-answer:
		return errors.Join(unknown(NoInstanceCreated, "%v", err), p.Close())
	}
	cancel()
	err = promptly(10*time.Second, "create, whose caller has left,", func() error { return <-answer })
	failure := wantCode(err, port.CodeCanceled, "create, whose caller has left,")
	letGo()
	closed := p.Close() // waits for the late sandbox
	mu.Lock()
	defer mu.Unlock()
	if err := joinErrors(failure, closed); err != nil {
		return err
	}
	return t.goneIfProvable(ctx, id)
}

// lateCreate loses the answer of a create that worked.
func lateCreate(ctx context.Context, t *trial) error {
	var mu sync.Mutex
	id := ""
	p, err := t.open(ctx, sandbox.WithTable(func(table contract.Table) contract.Table {
		create := table.Create
		table.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			i, err := create(ctx, r)
			if err != nil {
				return i, err
			}
			mu.Lock()
			id = i.ID
			mu.Unlock()
			return contract.Instance{}, &port.Error{Code: port.CodeOutcomeUnknown, Op: "Create", Outcome: port.OutcomeUnknown,
				Reason: "conformance: the answer was lost"}
		}
		return table
	}))
	if err != nil {
		return err
	}
	t.cleanup(func(ctx context.Context) error {
		mu.Lock()
		defer mu.Unlock()
		if id == "" {
			return nil
		}
		return second(t.s.table().Destroy(ctx, id))
	})
	sb, err := t.attempt(ctx, p)
	mu.Lock()
	lost := id
	mu.Unlock()
	switch {
	case lost == "":
		return unknown(NoInstanceCreated, "%v", err)
	case err == nil && sb.ID() != lost:
		return fmt.Errorf("the answer for %s was lost, and %s was handed out", lost, sb.ID())
	case err == nil: // found again
		if err := t.destroyed(ctx, sb); err != nil {
			return err
		}
		return t.goneIfProvable(ctx, lost)
	}
	return t.foundByReaper(ctx, p, lost)
}

// foundByReaper requires that what the run lost is owed in its ledger. Where the
// vendor can list by marks it has to have been found by now.
func (t *trial) foundByReaper(ctx context.Context, p *sandbox.Provider, lost string) error {
	state, err := stateOf(p)
	if err != nil {
		return err
	}
	if len(state.Open()) == 0 {
		return errors.New("the ledger owes nothing although a sandbox was made")
	}
	if state.Open()[0].Status != ledger.StatusIntended {
		return nil
	}
	if t.s.callable(contract.CapabilityList) && t.s.storesMarks() {
		return fmt.Errorf("the answer was lost, and the listing does not find %s by the marks it was made with", lost)
	}
	return unknown(NotAttempted, "the answer was lost, the ledger owes %s, and without a listing by marks nobody can find it", lost)
}

func failedDestroyRetried(ctx context.Context, t *trial) error {
	f := &fault{}
	p, err := t.open(ctx, sandbox.WithTable(func(table contract.Table) contract.Table {
		destroy := table.Destroy
		table.Destroy = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
			if f.fires(); f.times() <= 2 {
				return "", &port.Error{Code: port.CodeUnavailable, Op: "Destroy", Outcome: port.OutcomeUnknown, Reason: "conformance: not now"}
			}
			return destroy(ctx, id)
		}
		return table
	}))
	if err != nil {
		return err
	}
	sb, err := t.attempt(ctx, p, sandbox.SkipReady())
	if err != nil {
		return unknown(NoInstanceCreated, "%v", err)
	}
	if err := t.destroyed(ctx, sb); err != nil {
		return err
	}
	if f.times() < 3 {
		return fmt.Errorf("destroy was called %d times; the first 2 had failed", f.times())
	}
	return t.goneIfProvable(ctx, sb.ID())
}

func halfCreated(ctx context.Context, t *trial) error {
	id := ""
	p, err := t.open(ctx, sandbox.WithTable(func(table contract.Table) contract.Table {
		create := table.Create
		table.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			i, err := create(ctx, r)
			id = i.ID
			return i, joinErrors(err, &port.Error{Code: port.CodeProvider, Op: "Create", Outcome: port.OutcomeUnknown,
				Reason: "conformance: half of it failed"})
		}
		return table
	}))
	if err != nil {
		return err
	}
	if _, err := t.attempt(ctx, p); err == nil {
		return errors.New("a create that failed handed out a sandbox")
	}
	if id == "" {
		return unknown(NoInstanceCreated, "the provider made nothing")
	}
	return t.goneIfProvable(ctx, id)
}
