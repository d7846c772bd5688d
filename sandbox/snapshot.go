package sandbox

import (
	"context"
	"errors"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
)

// sandboxCreate runs an operation that makes something out of s which is not a
// sandbox: a snapshot. The source goes on as it was and need not be owned; what
// is made is ours and lives as long as s may.
func sandboxCreate[T any](ctx context.Context, s *Sandbox, op operation, kind contract.ResourceKind, name string,
	id func(T) string, call func(context.Context, contract.Tags) (T, error)) (T, error) {
	op.id = s.ID()
	var zero T
	if err := s.p.admit(op); err != nil {
		return zero, err
	}
	disposition, reapAt := s.heritage()
	m, err := create(ctx, s.p, creation[T]{op: op, kind: ledger.Kind(kind), name: name, parent: s.ID(),
		disposition: disposition, reapAt: reapAt, call: call, id: id})
	if err != nil {
		return zero, err
	}
	return m.value, nil
}

// heritage is how long something made out of s may live: as long as s. What is
// made out of a sandbox that is not ours is kept.
func (s *Sandbox) heritage() (ledger.Disposition, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.owned || s.target.disposition == "" {
		return ledger.Kept, time.Time{}
	}
	return s.target.disposition, s.target.reapAfter
}

// destroyOwned removes something that is not a sandbox, the way Sandbox.Destroy
// does: owned by the ledger, recorded, and looked for until it is proven gone.
// Without proof the error is an *UnverifiedError.
func (p *Provider) destroyOwned(ctx context.Context, op operation, kind contract.ResourceKind, id string) (port.DestroyOutcome, error) {
	op.id = id
	if err := p.admit(op); err != nil {
		return "", err
	}
	if err := p.begin(op); err != nil {
		return "", err
	}
	defer p.settling.Done()
	ctx, cancel := detached(ctx, limitDestroy, 2*p.opts.deadlines.Destroy)
	defer cancel()
	t, err := p.ownedTarget(ctx, op, kind, id)
	if err != nil {
		return "", err
	}
	report, err := p.destroyTarget(ctx, t, p.recorder(ctx))
	if e, ok := errors.AsType[*UnverifiedError](err); ok {
		e.Err.Op = op.name
	}
	return report.Outcome, err
}

// ownedTarget finds a thing in the ledgers of this owner and opens an entry for
// it in this run's.
func (p *Provider) ownedTarget(ctx context.Context, op operation, kind contract.ResourceKind, id string) (target, error) {
	scope, err := p.table.Scope(ctx)
	if err != nil {
		return target{}, p.fail(ctx, operation{name: op.name, id: id, effect: contract.EffectRead}, err)
	}
	t := target{provider: p.driver.ID, kind: ledger.Kind(kind), id: id, scope: scope}
	owned, why, err := p.claimOwnership(ctx, &t)
	switch {
	case err != nil:
		return target{}, p.fail(ctx, op, err)
	case !owned:
		return target{}, p.refuse(op, port.CodeForeign, why)
	}
	return t, p.fail(ctx, op, p.book.append(ctx, t.record(ledger.EventAdopted, "", "")))
}

// KeepSnapshot tells the ledger that an owned snapshot may outlive its run. With
// reapAfter 0 nothing reaps it.
func (p *Provider) KeepSnapshot(ctx context.Context, snapshot string, reapAfter time.Duration) error {
	op := operation{name: "KeepSnapshot", effect: contract.EffectMutate, id: snapshot}
	ctx, cancel := within(ctx, limitLookup, p.opts.deadlines.Lookup)
	defer cancel()
	t, err := p.ownedTarget(ctx, op, contract.ResourceKindSnapshot, snapshot)
	if err != nil {
		return err
	}
	t.disposition, t.reapAfter = ledger.Kept, time.Time{}
	if reapAfter > 0 {
		t.reapAfter = p.opts.clock().Add(reapAfter).UTC()
	}
	return p.fail(ctx, op, p.book.append(ctx, t.record(ledger.EventDispositionChanged, "", "")))
}
