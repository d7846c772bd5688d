package sandbox

import (
	"context"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
)

// AttachOption changes an Attach.
type AttachOption func(*attachOptions)

type attachOptions struct {
	adopt       bool
	absent      bool
	disposition ledger.Disposition
}

// Adopt takes ownership of a sandbox that this owner did not make. It is
// recorded, and the sandbox is kept: the end of this run does not end it.
func Adopt() AttachOption {
	return func(o *attachOptions) { o.adopt, o.disposition = true, ledger.Kept }
}

// AdoptScoped is Adopt of a sandbox that is to end with this run.
func AdoptScoped() AttachOption {
	return func(o *attachOptions) { o.adopt, o.disposition = true, ledger.Scoped }
}

// AbsentToo lets Attach return a sandbox that the vendor says is not there, where
// the ledgers of this owner say that it is owed a destroy: somebody else removed
// it, or a record was lost. It is owned, its state is unknown, and Destroy proves
// and records its absence.
func AbsentToo() AttachOption {
	return func(o *attachOptions) { o.absent = true }
}

// Attach returns the sandbox with a native ID. It looks, and changes nothing. It
// is owned if the ledgers of this owner have made or adopted it and not given it
// away, or with Adopt. Otherwise commands and files work, and Stop, Destroy and
// their like are foreign. An ID that does not exist is not_found.
func (p *Provider) Attach(ctx context.Context, id string, opts ...AttachOption) (*Sandbox, error) {
	o := &attachOptions{}
	for _, opt := range opts {
		opt(o)
	}
	op := operation{name: "Attach", effect: contract.EffectRead, limit: limitLookup, id: id}
	if id == "" {
		return nil, p.refuse(op, port.CodeInvalidArgument, "the ID is empty")
	}
	s := &Sandbox{p: p}
	i, err := call(ctx, p, op, func(ctx context.Context) (contract.Instance, error) {
		scope, err := p.table.Scope(ctx)
		if err != nil {
			return contract.Instance{}, err
		}
		s.target = target{provider: p.driver.ID, kind: ledger.KindSandbox, id: id, scope: scope}
		i, err := p.table.Inspect(ctx, id)
		if port.CodeOf(err) == port.CodeNotFound && p.owedElsewhere(ctx, s.target) {
			return i, p.otherScope(op)
		}
		if port.CodeOf(err) == port.CodeNotFound && o.absent && p.owedHere(ctx, s.target) {
			s.missing = true
			i, err = contract.Instance{ID: id, State: contract.StateUnknown, Isolation: contract.IsolationUnknown}, nil
		}
		if err != nil {
			return i, err
		}
		s.owned, s.foreign, err = p.claimOwnership(ctx, &s.target)
		return i, err
	})
	if err != nil {
		return nil, err
	}
	s.last, s.target.name = i, first(s.target.name, i.Name)
	if !o.adopt {
		return s, nil
	}
	if !s.owned {
		if s.target.intent, err = ledger.NewIntent(); err != nil {
			return nil, p.fail(ctx, op, ledgerError("Intent", err))
		}
	}
	s.target.disposition = o.disposition
	if err := s.adopt(ctx); err != nil {
		return nil, p.fail(ctx, op, err)
	}
	s.owned = true
	return s, nil
}

// recorded is what the ledgers of this owner say about the ID of t, in any
// account or engine. What cannot be read leaves the vendor's own answer as it is.
func (p *Provider) recorded(ctx context.Context, t target) []ledger.Located {
	who, err := p.book.identity(ctx)
	if err != nil {
		return nil
	}
	dirs, err := p.opts.dirs()
	if err != nil {
		return nil
	}
	found, _ := ledger.Find(ctx, dirs, who.Owner, t.provider, "", t.id)
	return found
}

// owedHere reports whether the ledgers of this owner say that t is in its account
// or engine, and no word that it is gone or given away.
func (p *Provider) owedHere(ctx context.Context, t target) bool {
	owed := false
	for _, l := range p.recorded(ctx, t) {
		switch e := l.Entry; {
		case e.Kind != t.kind || e.Scope != t.scope:
		case e.Status.Settled():
			return false
		case e.Created || e.Adopted:
			owed = true
		}
	}
	return owed
}

// owedElsewhere reports whether the ledgers of this owner say that t was made in
// another account or engine, and no word that it is gone from there.
func (p *Provider) owedElsewhere(ctx context.Context, t target) bool {
	owed := false
	for _, l := range p.recorded(ctx, t) {
		switch e := l.Entry; {
		case e.Kind != t.kind:
		case e.Scope == t.scope, e.Status.Settled():
			return false
		default:
			owed = true
		}
	}
	return owed
}

// claimOwnership looks in the ledgers of this owner whether t is ours, and takes
// over what they say about it. The reason is for the error foreign.
func (p *Provider) claimOwnership(ctx context.Context, t *target) (bool, string, error) {
	who, err := p.book.identity(ctx)
	if err != nil {
		return false, "", err
	}
	dirs, err := p.opts.dirs()
	if err != nil {
		return false, "", ledgerError("Find", err)
	}
	found, findErr := ledger.Find(ctx, dirs, who.Owner, t.provider, t.scope, t.id)
	var latest *ledger.Entry
	for _, l := range found {
		e := l.Entry
		if e.Kind != t.kind || !e.Created && !e.Adopted {
			continue
		}
		if latest == nil || !e.Updated.Before(latest.Updated) {
			latest = e
		}
	}
	switch {
	case latest == nil && findErr != nil:
		return false, "whether this owner made it is not known: a ledger cannot be read: " + findErr.Error(), nil
	case latest == nil:
		return false, "no ledger of this owner says that it made this one", nil
	case latest.Status == ledger.StatusTransferred:
		return false, "it was transferred to another owner", nil
	}
	t.intent, t.name, t.parent = latest.Intent, latest.Name, latest.Parent
	t.disposition, t.reapAfter = latest.Disposition, latest.ReapAfter
	return true, "", nil
}

// adopt opens an entry for s in this run's ledger.
func (s *Sandbox) adopt(ctx context.Context) error {
	if err := s.p.book.append(ctx, s.target.record(ledger.EventAdopted, "", "")); err != nil {
		return err
	}
	s.recorded = true
	return nil
}

// Transfer records that somebody else answers for s from here on. This owner may
// not stop or destroy it any more, and no reaper of this owner touches it; what
// the vendor stores is not changed.
func (s *Sandbox) Transfer(ctx context.Context, to string) error {
	op := operation{name: "Transfer", effect: contract.EffectMutate, id: s.ID()}
	if err := s.mine(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.p.book.append(ctx, s.target.record(ledger.EventTransferred, "", "to "+to)); err != nil {
		return s.p.fail(ctx, op, err)
	}
	s.owned, s.foreign = false, "it was transferred to another owner"
	return nil
}

// mine refuses when s is not owned, and sees to it that this run's ledger knows
// it before something is done to it.
func (s *Sandbox) mine(ctx context.Context, op operation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	op.id = s.target.id
	if !s.owned {
		return s.p.refuse(op, port.CodeForeign, first(s.foreign, "it is not owned"))
	}
	if s.recorded {
		return nil
	}
	return s.p.fail(ctx, op, s.adopt(ctx))
}

// leftovers are the things that were made on the way to s. Those of another run
// are looked up in the ledgers.
func (s *Sandbox) leftovers(ctx context.Context) ([]target, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lookedUp {
		return s.extras, nil
	}
	things, err := s.p.book.things(ctx)
	if err != nil { // what cannot be read is the reaper's to report; this destroy is owed all the same
		s.p.emit(Event{Kind: EventLedgerUnreadable, Op: "Destroy", ID: s.target.id, Detail: err.Error()})
	}
	var errs []error
	for _, th := range things {
		if th.settled() || th.labels[LabelLeftover] != s.target.intent || th.target.id == "" {
			continue
		}
		if !th.inRun(s.p.book.path()) {
			errs = append(errs, s.p.book.append(ctx, th.target.record(ledger.EventAdopted, "", "")))
		}
		s.extras = append(s.extras, th.target)
	}
	s.lookedUp = true
	return s.extras, join(errs...)
}
