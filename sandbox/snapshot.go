package sandbox

import (
	"context"
	"errors"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
)

// sandboxCreate runs an operation that makes something out of s which is not a
// sandbox: a snapshot. The source goes on as it was and need not be owned; what
// is made is ours and kept, because it is made to outlive this run.
func sandboxCreate[T any](ctx context.Context, s *Sandbox, op operation, kind contract.ResourceKind, name string,
	id func(T) string, call func(context.Context, contract.Tags) (T, error)) (T, error) {
	op.id = s.ID()
	var zero T
	if err := s.p.admit(op); err != nil {
		return zero, err
	}
	m, err := create(ctx, s.p, creation[T]{op: op, kind: ledger.Kind(kind), name: name, parent: s.ID(),
		disposition: ledger.Kept, call: call, id: id})
	if err != nil {
		return zero, err
	}
	return m.value, nil
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
	scope, err := p.table.Scope(ctx)
	if err != nil {
		return "", p.fail(ctx, operation{name: op.name, id: id, effect: contract.EffectRead}, err)
	}
	t := target{provider: p.driver.ID, kind: ledger.Kind(kind), id: id, scope: scope}
	owned, why, err := p.claimOwnership(ctx, &t)
	switch {
	case err != nil:
		return "", p.fail(ctx, op, err)
	case !owned:
		return "", p.refuse(op, port.CodeForeign, why)
	}
	if err := p.book.append(ctx, t.record(ledger.EventAdopted, "", "")); err != nil {
		return "", p.fail(ctx, op, err)
	}
	report, err := p.destroyTarget(ctx, t, p.recorder(ctx))
	if e, ok := errors.AsType[*UnverifiedError](err); ok {
		e.Err.Op = op.name
	}
	return report.Outcome, err
}
