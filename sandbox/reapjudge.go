package sandbox

import (
	"context"
	"fmt"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
)

func (r *reaper) item(th *thing) ReapItem {
	return ReapItem{Provider: th.provider, Kind: string(th.kind), Scope: th.scope, ID: th.id, Name: th.name,
		Intent: th.intent, Run: th.opened().run.Run, ReapAfter: th.reapAfter}
}

// past reports whether the reap time has come; strictly, and never without one.
func (r *reaper) past(at time.Time) bool { return !at.IsZero() && r.o.Now().After(at) }

// release decides from the ledgers alone; "" means that the vendor decides.
func (r *reaper) release(th *thing) (Verdict, string) {
	opened := th.opened()
	switch {
	case opened.entry.Opened.After(th.reapAfter) && !th.reapAfter.IsZero():
		return VerdictSkipMalformedDeadline, "its reap time lies before its creation"
	case len(opened.otherIDs) > 0:
		return VerdictUnknown, fmt.Sprintf("its ledger names further IDs under the same intent: %v", opened.otherIDs)
	}
	for _, l := range th.entries {
		if l.run.Host != r.who.Host {
			return VerdictSkipForeignHost, "run " + l.run.Run + " was on another machine"
		}
	}
	if r.past(th.reapAfter) {
		return "", "its reap time has passed"
	}
	if run := th.alive(); run != nil {
		if run.Liveness != ledger.Alive {
			return VerdictUnknown, "whether run " + run.Run + " lives cannot be established"
		}
		return VerdictSkipAlive, "run " + run.Run + " lives"
	}
	switch {
	case th.disposition == ledger.Kept && !th.given:
		return "", "it was being made by a run that is dead, and nobody was given it"
	case th.disposition == ledger.Scoped:
		return "", "it belonged to a run that is dead"
	case th.disposition != ledger.Kept:
		return VerdictSkipNoDeadline, "its ledger does not say how long it may live, and gives no reap time"
	case th.reapAfter.IsZero():
		return VerdictSkipKept, "it is kept"
	}
	return VerdictSkipNotYetPast, "its reap time has not come"
}

// judge decides about one thing. It changes nothing. The error is why the vendor
// could not be asked, where that made the verdict.
func (r *reaper) judge(ctx context.Context, th *thing) (ReapItem, error) {
	item := r.item(th)
	item.Verdict, item.Reason = r.release(th)
	if item.Verdict != "" {
		return item, nil
	}
	why := item.Reason
	unknown := func(err error) (ReapItem, error) {
		item.Verdict, item.Reason = VerdictUnknown, err.Error()
		return item, err
	}
	p, err := r.provider(ctx, th.provider)
	if err != nil {
		return unknown(err)
	}
	ctx, cancel := within(ctx, limitLookup, p.opts.deadlines.Lookup)
	defer cancel()
	scope, err := p.table.Scope(ctx)
	switch {
	case err != nil:
		return unknown(p.fail(ctx, operation{name: "Scope", effect: contract.EffectRead}, err))
	case scope != th.scope:
		item.Verdict, item.Reason = VerdictSkipForeignScope, "these credentials reach another account or engine"
		return item, nil
	}
	var reason string
	item.Verdict, reason, err = p.judgeAtVendor(ctx, th, r.who.Owner)
	if err != nil {
		return unknown(p.fail(ctx, operation{name: "Reap", effect: contract.EffectRead, id: th.id}, err))
	}
	item.ID, item.Reason = th.id, first(reason, why)
	return item, nil
}
