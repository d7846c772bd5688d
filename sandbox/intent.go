package sandbox

import (
	"context"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
)

// target is something at the vendor that the ledger knows.
type target struct {
	provider    string
	kind        ledger.Kind
	id          string
	scope       string
	intent      string
	name        string
	parent      string
	disposition ledger.Disposition
	reapAfter   time.Time
	tags        contract.Tags
}

func (t target) record(event ledger.Event, outcome, reason string) ledger.Record {
	return ledger.Record{Event: event, Kind: t.kind, Provider: t.provider, Scope: t.scope, Intent: t.intent, ID: t.id,
		Name: t.name, Parent: t.parent, Disposition: t.disposition, ReapAfter: t.reapAfter, Outcome: outcome, Reason: reason}
}

type intention struct {
	kind         ledger.Kind
	name, parent string
	disposition  ledger.Disposition
	reapAfter    time.Duration
	reapAt       time.Time
	labels       map[string]string
	secrets      []string
}

// intend makes it durable that something is about to be made, and whose it is.
func (p *Provider) intend(ctx context.Context, op operation, in intention) (contract.Tags, target, error) {
	lctx, cancel := within(ctx, limitLookup, p.opts.deadlines.Lookup)
	defer cancel()
	scope, err := p.table.Scope(lctx)
	if err != nil {
		return contract.Tags{}, target{}, p.fail(lctx, operation{name: op.name, effect: contract.EffectRead}, err)
	}
	w, err := p.book.start(lctx)
	if err != nil {
		return contract.Tags{}, target{}, p.fail(lctx, op, err)
	}
	who, err := p.book.identity(lctx)
	if err != nil {
		return contract.Tags{}, target{}, p.fail(lctx, op, err)
	}
	intent, err := ledger.NewIntent()
	if err != nil {
		return contract.Tags{}, target{}, p.fail(lctx, op, ledgerError("Intent", err))
	}
	t := target{provider: p.driver.ID, kind: in.kind, scope: scope, intent: intent, name: in.name, parent: in.parent,
		disposition: in.disposition, tags: contract.Tags{Owner: who.Owner, Run: w.Run(), Intent: intent}}
	if t.disposition == "" {
		t.disposition = ledger.Scoped
	}
	t.reapAfter = in.reapAt
	if in.reapAfter > 0 { // to the millisecond, because that is what labels keep
		t.reapAfter = p.opts.clock().Add(in.reapAfter).UTC().Truncate(time.Millisecond)
	}
	if at := t.reapAfter; !at.IsZero() {
		t.tags.ReapAfter = &at
	}
	rec := t.record(ledger.EventIntent, "", "")
	rec.Labels, rec.Secrets = in.labels, in.secrets
	if err := p.book.append(lctx, rec); err != nil {
		return contract.Tags{}, target{}, p.fail(lctx, op, err)
	}
	return t.tags, t, nil
}

// recorder writes to this provider's own run.
func (p *Provider) recorder(ctx context.Context) recorder {
	return func(r ledger.Record) error { return p.book.append(ctx, r) }
}

// LabelLeftover marks, in the ledger, what a composed operation such as a fork made
// on its way: it goes with what it was made for.
const LabelLeftover = "leftover"

// recordLeftovers opens an entry for each thing that a composed operation left.
func (p *Provider) recordLeftovers(ctx context.Context, of target, left []contract.Intermediate) ([]target, error) {
	var out []target
	var errs []error
	for _, i := range left {
		intent, err := ledger.NewIntent()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		t := target{provider: p.driver.ID, kind: ledger.Kind(i.Kind), id: i.ID, scope: of.scope, intent: intent,
			parent: of.id, disposition: of.disposition, reapAfter: of.reapAfter, tags: of.tags}
		rec := t.record(ledger.EventIntent, "", "")
		rec.ID, rec.Labels = "", map[string]string{LabelLeftover: of.intent}
		errs = append(errs, p.book.append(ctx, rec), p.book.append(ctx, t.record(ledger.EventCreated, "", "")))
		out = append(out, t)
	}
	return out, join(errs...)
}
