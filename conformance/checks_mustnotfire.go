package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

func mustNotFireChecks() map[string]proof {
	hold := func(run func(context.Context, *trial) error) proof { return proof{run: run, method: "Destroy"} }
	return map[string]proof{
		"must-not-fire.unsaved-work":    hold(unsavedWork),
		"must-not-fire.foreign-owner":   hold(foreignOwner),
		"must-not-fire.attached":        hold(attachedIsLeft),
		"must-not-fire.kept":            hold(keptIsLeft),
		"must-not-fire.failing-list":    {run: failingList, method: "List"},
		"must-not-fire.read-only-verbs": {run: readOnlyVerbs, method: "Inspect"},
		"must-not-fire.second-destroy":  hold(secondDestroy),
		"must-not-fire.recycled-id":     hold(recycledID),
		"must-not-fire.another-run":     hold(anotherRun),
		"must-not-fire.neighbour":       hold(neighbour),
	}
}

func unsavedWork(ctx context.Context, t *trial) error {
	sb, err := t.create(ctx)
	if err != nil {
		return err
	}
	remove := sb.Guard("conformance", func(context.Context) error { return errors.New("work would be lost") })
	t.cleanup(func(context.Context) error { remove(); return nil })
	_, err = sb.Destroy(ctx)
	if err := wantCode(err, port.CodeFailedPrecondition, "a destroy against a guard"); err != nil {
		return err
	}
	if n := t.reached("Destroy"); n > 0 {
		return errors.New("the destroy reached the adapter")
	}
	if err := t.alive(ctx, sb); err != nil {
		return err
	}
	remove()
	return t.destroyed(ctx, sb)
}

// stranger opens the provider as another owner.
func (t *trial) stranger(ctx context.Context) (*sandbox.Provider, error) {
	return t.open(ctx, sandbox.WithOwner("sbxc-stranger"))
}

func foreignOwner(ctx context.Context, t *trial) error {
	sb, err := t.create(ctx)
	if err != nil {
		return err
	}
	p, err := t.stranger(ctx)
	if err != nil {
		return err
	}
	theirs, err := p.Attach(ctx, sb.ID())
	if err != nil {
		return err
	}
	before := t.reached("Destroy")
	_, err = theirs.Destroy(ctx)
	if err := wantCode(err, port.CodeForeign, "the destroy of a stranger"); err != nil {
		return err
	}
	if t.reached("Destroy") != before {
		return errors.New("the destroy of a stranger reached the adapter")
	}
	return t.alive(ctx, sb)
}

func attachedIsLeft(ctx context.Context, t *trial) error {
	sb, err := t.create(ctx)
	if err != nil {
		return err
	}
	p, err := t.s.open(ctx, t.s.h.Driver, sandbox.WithOwner("sbxc-visitor"))
	if err != nil {
		return err
	}
	visited, err := p.Attach(ctx, sb.ID())
	if err != nil {
		return errors.Join(err, p.Close())
	}
	workErr := t.alive(ctx, visited)
	if err := joinErrors(workErr, p.Close()); err != nil {
		return err
	}
	if visited.Owned() {
		return errors.New("attaching made it the visitor's own")
	}
	return t.alive(ctx, sb)
}

func keptIsLeft(ctx context.Context, t *trial) error {
	t.s.reaping.Lock()
	defer t.s.reaping.Unlock()
	p, err := t.s.open(ctx, t.s.h.Driver)
	if err != nil {
		return err
	}
	sb, err := t.attempt(ctx, p, sandbox.Kept())
	if err != nil {
		return errors.Join(unknown(NoInstanceCreated, "%v", err), p.Close())
	}
	if err := p.Close(); err != nil {
		return err
	}
	again, err := t.s.p.Attach(ctx, sb.ID())
	if err != nil {
		return fmt.Errorf("after the end of the run that made it: %w", err)
	}
	t.replaceTeardown(again)
	report, err := t.s.p.Reap(ctx, true)
	if err != nil {
		return err
	}
	if v, item := reapVerdict(report, sb.ID()); v != sandbox.VerdictSkipKept {
		return fmt.Errorf("the reaper says %q: %s", v, item.Reason)
	}
	return t.alive(ctx, again)
}

// replaceTeardown lets sb be torn down through this handle: the run that made it
// is over.
func (t *trial) replaceTeardown(sb *sandbox.Sandbox) {
	t.mu.Lock()
	t.cleanups = t.cleanups[:len(t.cleanups)-1]
	t.mu.Unlock()
	t.destroyLater(sb)
}

// failingList lets a run die with a create whose answer was lost, while nothing
// can be listed: the reaper has no way to know, and must not act.
func failingList(ctx context.Context, t *trial) error {
	t.s.reaping.Lock()
	defer t.s.reaping.Unlock()
	if ok, err := t.declared(ctx, contract.CapabilityList); !ok {
		return err
	}
	if !t.s.storesMarks() {
		return unknown(NotAttempted, "the vendor stores no marks, so a listing releases nothing anyway")
	}
	var failing atomic.Bool
	failing.Store(true)
	id := ""
	p, err := t.s.open(ctx, t.s.h.Driver, sandbox.WithTable(func(table contract.Table) contract.Table {
		create, list := table.Create, table.List
		table.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			i, err := create(ctx, r)
			id = i.ID
			return contract.Instance{}, joinErrors(err, &port.Error{Code: port.CodeOutcomeUnknown, Op: "Create",
				Outcome: port.OutcomeUnknown, Reason: "conformance: the answer was lost"})
		}
		table.List = func(ctx context.Context, r contract.ListRequest) ([]contract.Instance, error) {
			if failing.Load() {
				return nil, &port.Error{Code: port.CodeUnavailable, Op: "List", Outcome: port.OutcomeUnchanged, Reason: "conformance: no list"}
			}
			return list(ctx, r)
		}
		return table
	}))
	if err != nil {
		return err
	}
	_, err = t.attempt(ctx, p, sandbox.SkipReady())
	closed := p.Close()
	if id == "" {
		return errors.Join(unknown(NoInstanceCreated, "%v", err), closed)
	}
	t.cleanup(func(ctx context.Context) error { return second(t.s.table().Destroy(ctx, id)) })
	if err == nil {
		return errors.New("a create whose answer was lost handed out a sandbox although nothing can be listed")
	}
	before := t.reached("Destroy")
	report, err := p.Reap(ctx, true)
	if err != nil {
		return err
	}
	if !report.Unresolved() || t.reached("Destroy") != before {
		return fmt.Errorf("with a failing list the reaper says %+v after %d destroys", report.Items, t.reached("Destroy")-before)
	}
	if _, err := t.s.table().Inspect(ctx, id); err != nil {
		return fmt.Errorf("it was removed although nothing could be listed: %w", err)
	}
	failing.Store(false)
	err = settles(ctx, func() error {
		report, err := p.Reap(ctx, true)
		if err != nil {
			return err
		}
		if v, item := reapVerdict(report, id); v != sandbox.VerdictReap || item.Err != "" {
			return fmt.Errorf("with a working list the reaper says %q: %s %s", v, item.Reason, item.Err)
		}
		return nil
	})
	return joinErrors(err, t.goneIfProvable(ctx, id))
}

func readOnlyVerbs(ctx context.Context, t *trial) error {
	sb, err := t.create(ctx)
	if err != nil {
		return err
	}
	if _, err := t.run(ctx, sb, "echo kept > sbxc-kept"); err != nil {
		return err
	}
	before, err := sb.Inspect(ctx)
	if err != nil {
		return err
	}
	changes := t.changes()
	if _, err := t.s.p.Attach(ctx, sb.ID()); err != nil {
		return err
	}
	if t.s.callable(contract.CapabilityList) {
		if _, err := t.s.p.List(ctx, contract.ListRequest{}); err != nil {
			return err
		}
	}
	if _, err := t.s.p.Reap(ctx, false); err != nil {
		return err
	}
	after, err := sb.Inspect(ctx)
	if err != nil {
		return err
	}
	if n := t.changes() - changes; n > 0 {
		return fmt.Errorf("looking made %d calls that can change something", n)
	}
	if before.State != after.State || !sameTime(before, after) {
		return fmt.Errorf("looking changed it: before %+v, after %+v", before, after)
	}
	out, err := t.run(ctx, sb, "cat sbxc-kept")
	if err != nil {
		return err
	}
	return equal("a file from before", "kept\n", out)
}

func sameTime(a, b contract.Instance) bool {
	if a.CreatedAt == nil || b.CreatedAt == nil {
		return a.CreatedAt == b.CreatedAt
	}
	return a.CreatedAt.Equal(*b.CreatedAt)
}

func secondDestroy(ctx context.Context, t *trial) error {
	sb, err := t.create(ctx, sandbox.SkipReady())
	if err != nil {
		return err
	}
	other, err := t.create(ctx)
	if err != nil {
		return err
	}
	if err := t.destroyed(ctx, sb); err != nil {
		return err
	}
	calls := t.reached("Destroy")
	report, err := sb.Destroy(ctx)
	switch {
	case t.s.canProveGone() && err != nil:
		return err
	case t.s.canProveGone() && t.reached("Destroy") != calls:
		return errors.New("a second destroy of what is gone was sent to the vendor")
	case report.Outcome != "" && report.Attempts == 0:
		return fmt.Errorf("the second destroy claims %+v", report)
	}
	outcome, err := t.s.table().Destroy(ctx, sb.ID())
	if err != nil || outcome == port.DestroyAccepted {
		return fmt.Errorf("the vendor's second destroy answers %q, %v", outcome, err)
	}
	return t.alive(ctx, other)
}

// recycledID makes a sandbox under the name of one that is gone.
func recycledID(ctx context.Context, t *trial) error {
	name := "sbxc-recycled-" + t.s.nonce()
	opts := []sandbox.CreateOption{sandbox.WithName(name)}
	old, err := t.attempt(ctx, t.s.p, opts...)
	if port.CodeOf(err) == port.CodeUnsupported || port.CodeOf(err) == port.CodeInvalidArgument {
		opts = nil
		old, err = t.attempt(ctx, t.s.p)
	}
	if err != nil {
		return unknown(NoInstanceCreated, "%v", err)
	}
	if err := t.destroyed(ctx, old); err != nil {
		return err
	}
	next, err := t.attempt(ctx, t.s.p, opts...)
	if err != nil {
		return fmt.Errorf("a second sandbox of the same name, after the first is gone: %w", err)
	}
	if next.ID() == old.ID() {
		return fmt.Errorf("two incarnations have the id %s", old.ID())
	}
	if err := t.gone(ctx, old.ID()); err != nil {
		return err
	}
	if outcome, err := t.s.table().Destroy(ctx, old.ID()); err != nil || outcome != port.DestroyAlreadyAbsent {
		return fmt.Errorf("destroying the old incarnation again answers %q, %v", outcome, err)
	}
	return t.alive(ctx, next)
}

func anotherRun(ctx context.Context, t *trial) error {
	t.s.reaping.Lock()
	defer t.s.reaping.Unlock()
	p, err := t.open(ctx)
	if err != nil {
		return err
	}
	sb, err := t.attempt(ctx, p)
	if err != nil {
		return unknown(NoInstanceCreated, "%v", err)
	}
	report, err := t.s.p.Reap(ctx, true)
	if err != nil {
		return err
	}
	if v, item := reapVerdict(report, sb.ID()); v != sandbox.VerdictSkipAlive {
		return fmt.Errorf("the reaper says %q: %s", v, item.Reason)
	}
	return t.alive(ctx, sb)
}

func neighbour(ctx context.Context, t *trial) error {
	other, err := t.create(ctx)
	if err != nil {
		return err
	}
	sb, err := t.create(ctx, sandbox.SkipReady())
	if err != nil {
		return err
	}
	if err := t.destroyed(ctx, sb); err != nil {
		return err
	}
	if _, err := t.s.table().Inspect(ctx, other.ID()); err != nil {
		return fmt.Errorf("the neighbour: %w", err)
	}
	return t.alive(ctx, other)
}
