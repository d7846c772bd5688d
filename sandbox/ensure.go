package sandbox

import (
	"context"
	"fmt"
	"sync"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
)

// Ensure returns the sandbox of this key, and creates it when there is none.
// Everybody who shares the owner, the state directory and the vendor's account
// gets the same one, also when several processes ask at once. The options count
// only when it is created; it is kept unless Scoped is among them. One that was
// stopped or suspended is started again. When it cannot be established whether
// it exists, that is an error and nothing is created.
func (p *Provider) Ensure(ctx context.Context, key string, opts ...CreateOption) (*Sandbox, error) {
	op := operation{name: "Ensure", effect: contract.EffectCreate, id: ""}
	if key == "" {
		return nil, p.refuse(op, port.CodeInvalidArgument, "the key is empty")
	}
	o := &createOptions{disposition: ledger.Kept}
	for _, opt := range opts {
		opt(o)
	}
	o.ensureKey = key
	lctx, cancel := within(ctx, limitProvision, p.opts.deadlines.Provision)
	defer cancel()
	scope, err := p.Scope(lctx)
	if err != nil {
		return nil, err
	}
	release, err := p.lease(lctx, op, scope, key)
	if err != nil {
		return nil, err
	}
	s, err := p.existing(lctx, op, scope, key)
	if s != nil || err != nil {
		if relErr := release(); relErr != nil && err == nil {
			err = p.fail(lctx, op, relErr)
		}
		return s, err
	}
	// The lease is held until the create has settled, also when this caller leaves:
	// whoever comes next must not find an intent of which nobody knows the outcome.
	var once sync.Once
	settled := func() {
		once.Do(func() {
			if err := release(); err != nil {
				p.emit(Event{Kind: EventLedgerUnreadable, Op: op.name, Detail: "releasing the lease: " + err.Error()})
			}
		})
	}
	return p.create(ctx, o, settled)
}

// lease serialises everybody who asks for this key.
func (p *Provider) lease(ctx context.Context, op operation, scope, key string) (func() error, error) {
	who, err := p.book.identity(ctx)
	if err != nil {
		return nil, p.fail(ctx, op, err)
	}
	dirs, err := p.opts.dirs()
	if err != nil {
		return nil, p.fail(ctx, op, ledgerError("Lease", err))
	}
	held, err := ledger.Lease(ctx, dirs, "ensure", who.Owner, p.driver.ID, scope, key)
	if err != nil {
		e := describe(ctx, contract.EffectRead, err)
		e.Outcome = port.OutcomeUnchanged
		return nil, p.fail(ctx, op, e)
	}
	return held.Release, nil
}

// existing finds the sandbox of the key in the ledgers. It returns nil without
// an error only when there is proof that there is none.
func (p *Provider) existing(ctx context.Context, op operation, scope, key string) (*Sandbox, error) {
	things, err := p.book.things(ctx)
	if err != nil {
		return nil, p.fail(ctx, op, &Error{Code: port.CodeFailedPrecondition, Outcome: port.OutcomeUnchanged,
			Reason: "a ledger of this owner cannot be read, so nobody knows whether the sandbox exists", Err: err})
	}
	for _, th := range things {
		if th.kind != ledger.KindSandbox || th.provider != p.driver.ID || th.scope != scope ||
			th.labels[labelKey] != key || th.settled() {
			continue
		}
		s, err := p.revive(ctx, op, th)
		if s != nil || err != nil {
			return s, err
		}
	}
	return nil, nil
}

// revive makes a handle of a recorded sandbox, nil when it is proven gone.
func (p *Provider) revive(ctx context.Context, op operation, th *thing) (*Sandbox, error) {
	if th.id == "" {
		absent, err := p.resolve(ctx, th)
		if err != nil || absent {
			return nil, p.fail(ctx, op, err)
		}
	}
	op.id = th.id
	s := &Sandbox{p: p, target: th.target, owned: true, recorded: th.inRun(p.book.path())}
	i, err := p.table.Inspect(ctx, th.id)
	if code := port.CodeOf(err); err != nil && code != port.CodeNotFound {
		e := describe(ctx, contract.EffectRead, err)
		return nil, p.fail(ctx, op, e)
	}
	if err != nil || th.destroyRequested() {
		if err := s.mine(ctx, op); err != nil {
			return nil, err
		}
		_, err := p.destroyTarget(ctx, th.target, p.recorder(ctx))
		return nil, err
	}
	s.last = i
	switch i.State {
	case contract.StateStopped:
		_, err = s.Start(ctx)
	case contract.StateSuspended:
		_, err = s.Resume(ctx)
	case contract.StateFailed:
		err = p.refuse(op, port.CodeFailedPrecondition, "the sandbox of this key has failed; destroy it to get a new one")
	}
	if err == nil {
		err = s.Ready(ctx)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (t *thing) destroyRequested() bool {
	for _, l := range t.entries {
		if l.entry.DestroyRequested {
			return true
		}
	}
	return false
}

// resolve gives an intent without an ID its ID, or says that nothing came of it.
// Anything else is outcome_unknown.
func (p *Provider) resolve(ctx context.Context, th *thing) (absent bool, err error) {
	id, err := p.findByTags(ctx, th)
	switch {
	case err != nil:
		return false, err
	case id != "":
		th.id = id
		return false, p.book.append(ctx, th.target.record(ledger.EventAdopted, "", "found by its tags"))
	case p.listProves(th):
		return true, nil
	}
	return false, &Error{Code: port.CodeOutcomeUnknown, Outcome: port.OutcomeUnchanged,
		Reason: fmt.Sprintf("run %s meant to create it and nobody knows whether it did", th.opened().run.Run)}
}

// listProves reports whether a drained list without the intent proves that
// nothing came of it: the manifest trusts lists, tags are stored, and no request
// can still be under way.
func (p *Provider) listProves(th *thing) bool {
	m := p.driver.Manifest
	trusted := m.GoneProof == contract.GoneProofList || m.GoneProof == contract.GoneProofBoth
	tagged := m.Labels.Encoding == contract.LabelEncodingMap || m.Labels.Encoding == contract.LabelEncodingPacked ||
		m.Labels.Encoding == contract.LabelEncodingName
	past := p.opts.clock().Sub(th.updated) > p.opts.deadlines.Provision
	return trusted && tagged && past && th.opened().run.Liveness == ledger.Dead
}

// findByTags looks for what came of an intent; "" is not found, which proves
// nothing by itself.
func (p *Provider) findByTags(ctx context.Context, th *thing) (string, error) {
	res, ok := p.resource(th.kind)
	if !ok || res.list == nil {
		return "", &Error{Code: port.CodeOutcomeUnknown, Outcome: port.OutcomeUnchanged,
			Reason: fmt.Sprintf("this provider cannot list what it has of kind %s", th.kind)}
	}
	want := contract.Tags{Owner: th.tags.Owner, Run: th.tags.Run, Intent: th.intent}
	rows, err := res.list(ctx, contract.ListRequest{Tags: &want})
	if err != nil {
		return "", err
	}
	for _, r := range rows {
		if r.id != "" && r.tags != nil && sameTags(*r.tags, want) {
			return r.id, nil
		}
	}
	return "", nil
}
