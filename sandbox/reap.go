package sandbox

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
)

// Verdict is what a reaper decides about one thing in the ledgers.
type Verdict string

const (
	// VerdictReap: it is owed a destroy, and may be destroyed now.
	VerdictReap Verdict = "reap"
	// VerdictAbsent: its create came to nothing, and a list proves it.
	VerdictAbsent Verdict = "absent"
	// VerdictSkipAlive: the run that has it lives.
	VerdictSkipAlive Verdict = "skip-alive"
	// VerdictSkipKept: it is kept and has no reap time.
	VerdictSkipKept Verdict = "skip-kept"
	// VerdictSkipNotYetPast: it is kept and its reap time has not come.
	VerdictSkipNotYetPast Verdict = "skip-not-yet-past"
	// VerdictSkipNoDeadline: only a reap time could release it, and it carries none.
	VerdictSkipNoDeadline Verdict = "skip-no-deadline"
	// VerdictSkipMalformedDeadline: its reap time lies before its creation.
	VerdictSkipMalformedDeadline Verdict = "skip-malformed-deadline"
	// VerdictSkipNoAttribution: something has its name and nothing says whose it is.
	VerdictSkipNoAttribution Verdict = "skip-no-attribution"
	// VerdictSkipTagMismatch: what has its ID or name is marked as another's.
	VerdictSkipTagMismatch Verdict = "skip-tag-mismatch"
	// VerdictSkipForeignScope: it is in another account or engine.
	VerdictSkipForeignScope Verdict = "skip-foreign-scope"
	// VerdictSkipForeignHost: its run was on another machine, whose life cannot be judged from here.
	VerdictSkipForeignHost Verdict = "skip-foreign-host"
	// VerdictUnknown: it leaked or it did not; nobody can say.
	VerdictUnknown Verdict = "unknown"
)

// ReapOptions say what to look at and whether to act. The zero value of
// everything but Drivers is useful: this user's state and owner, no action.
type ReapOptions struct {
	// Drivers finds a provider's driver.
	Drivers func(id string) (Driver, bool)
	// StateDir and Owner choose the ledgers; empty is the usual resolution.
	StateDir, Owner string
	// Provider limits the look to one provider; empty is all.
	Provider string
	// Apply destroys what the verdict releases. Without it nothing is changed, at
	// a vendor or in a ledger.
	Apply bool
	// Now replaces time.Now.
	Now func() time.Time
	// Open are further options for opening providers.
	Open []Option
}

// ReapItem is the verdict about one thing, and what became of it.
type ReapItem struct {
	Verdict   Verdict        `json:"verdict"`
	Reason    string         `json:"reason"`
	Provider  string         `json:"provider"`
	Kind      string         `json:"kind"`
	Scope     string         `json:"scope"`
	ID        string         `json:"id,omitempty"`
	Name      string         `json:"name,omitempty"`
	Intent    string         `json:"intent"`
	Run       string         `json:"run"`
	ReapAfter time.Time      `json:"reapAfter,omitzero"`
	Acted     bool           `json:"acted"`
	Destroy   *DestroyReport `json:"destroy,omitempty"`
	Err       string         `json:"error,omitempty"`
	// Again says when and how to look again, where this look left something open.
	Again string `json:"again,omitempty"`
}

// ReapReport is the result of Reap.
type ReapReport struct {
	Applied  bool       `json:"applied"`
	Owner    string     `json:"owner"`
	Items    []ReapItem `json:"items"`
	Problems []string   `json:"problems,omitempty"` // ledgers that cannot be read: things may be missing above
}

// Unresolved reports whether something leaked or may have: an undecidable thing,
// an unreadable ledger, a destroy that failed.
func (r ReapReport) Unresolved() bool {
	return len(r.Problems) > 0 || slices.ContainsFunc(r.Items, func(i ReapItem) bool {
		return i.Verdict == VerdictUnknown || i.Err != ""
	})
}

// Unverified reports whether a destroy was acknowledged whose absence nobody
// could prove.
func (r ReapReport) Unverified() bool {
	return slices.ContainsFunc(r.Items, func(i ReapItem) bool {
		return i.Destroy != nil && i.Destroy.Acknowledged && !i.Destroy.VerifiedGone
	})
}

// Reap judges everything this owner's ledgers say is owed, and with Apply
// destroys what may be destroyed: scoped things of dead runs, and things past
// their reap time. It finds them by ID, else by their ownership tags, else by a
// unique name; a list that fails releases nothing. The error is about not being
// able to look at all; what happened to each thing is in the report.
func Reap(ctx context.Context, o ReapOptions) (ReapReport, error) {
	r := &reaper{o: o, providers: map[string]*Provider{}, files: map[string]*ledger.Writer{}, lists: map[string][]row{}}
	if r.o.Now == nil {
		r.o.Now = time.Now
	}
	opts := append(slices.Clone(o.Open), WithClock(r.o.Now))
	if o.StateDir != "" {
		opts = append(opts, WithStateDir(o.StateDir))
	}
	if o.Owner != "" {
		opts = append(opts, WithOwner(o.Owner))
	}
	r.opts = opts
	look := &book{opts: newOpenOptions(opts)}
	if none, err := look.none(); none || err != nil {
		return ReapReport{Applied: o.Apply, Items: []ReapItem{}}, err
	}
	who, err := look.identity(ctx)
	if err != nil {
		return ReapReport{}, err
	}
	r.who = who
	report := ReapReport{Applied: o.Apply, Owner: who.Owner, Items: []ReapItem{}}
	things, err := look.things(ctx)
	if err != nil && things == nil {
		return report, err
	}
	if err != nil {
		report.Problems = append(report.Problems, err.Error())
	}
	for i := 0; i < len(things); i++ { // strays are appended on the way
		th := things[i]
		if th.settled() || o.Provider != "" && th.provider != o.Provider {
			continue
		}
		item, cause := r.judge(ctx, th)
		strays, err := r.strays(ctx, th, item, things)
		if err != nil {
			// Settling it now would end the search for what it left behind.
			item.Verdict, item.Reason, cause = VerdictUnknown, err.Error(), err
		}
		things = append(things, strays...)
		if o.Apply && (item.Verdict == VerdictReap || item.Verdict == VerdictAbsent) {
			r.act(ctx, th, &item)
		}
		item.Again = r.again(th, item, cause)
		report.Items = append(report.Items, item)
	}
	return report, r.close()
}

// Reap is the function Reap for this provider alone, with the options it was
// opened with.
func (p *Provider) Reap(ctx context.Context, apply bool) (ReapReport, error) {
	return Reap(ctx, ReapOptions{Provider: p.driver.ID, Apply: apply, Now: p.opts.clock, Open: p.opts.given,
		Drivers: func(string) (Driver, bool) { return p.driver, true }})
}

// reaper holds what one Reap has open.
type reaper struct {
	o         ReapOptions
	opts      []Option
	who       ledger.Identity
	providers map[string]*Provider
	files     map[string]*ledger.Writer // dead runs taken over
	lists     map[string][]row          // of a provider and kind, read once
}

func (r *reaper) close() error {
	var errs []error
	for _, w := range r.files {
		errs = append(errs, w.Close())
	}
	for _, p := range r.providers {
		errs = append(errs, p.Close())
	}
	return join(errs...)
}

// provider opens a provider once.
func (r *reaper) provider(ctx context.Context, id string) (*Provider, error) {
	if p := r.providers[id]; p != nil {
		return p, nil
	}
	var d Driver
	ok := false
	if r.o.Drivers != nil {
		d, ok = r.o.Drivers(id)
	}
	if !ok {
		return nil, &Error{Code: port.CodeUnsupported, Op: "Reap", Provider: id, Outcome: port.OutcomeUnchanged,
			Reason: "this program has no driver for it"}
	}
	p, err := Open(ctx, d, r.opts...)
	if err == nil {
		r.providers[id] = p
	}
	return p, err
}

// act destroys one thing, or closes the entry of one that never came to be. It
// writes into the ledger of the dead run; where that cannot be continued, into
// a run of its own.
func (r *reaper) act(ctx context.Context, th *thing, item *ReapItem) {
	p := r.providers[th.provider]
	release, claimed, err := r.claim(ctx, p, th)
	if err != nil {
		item.Err = p.redact().String(err.Error())
		return
	}
	defer func() {
		if err := release(); err != nil {
			item.Err = first(item.Err, p.redact().String(err.Error()))
		}
	}()
	if claimed {
		item.Verdict, item.Reason = VerdictSkipKept, "somebody has found it meanwhile and keeps it"
		return
	}
	record, settled, err := r.recorder(ctx, p, th)
	switch {
	case errors.Is(err, ledger.ErrAlive):
		item.Verdict, item.Reason = VerdictSkipAlive, "somebody else holds its ledger now"
		return
	case err != nil:
		item.Err = p.redact().String(err.Error())
		return
	case settled:
		item.Verdict, item.Reason = VerdictSkipAlive, "somebody else has settled it meanwhile"
		return
	}
	item.Acted = true
	if item.Verdict == VerdictAbsent {
		err = record(th.target.record(ledger.EventCreateFailed, "", item.Reason))
	} else {
		th.target.id = item.ID
		report, destroyErr := p.destroyTarget(ctx, th.target, record)
		item.Destroy, err = &report, destroyErr
	}
	if err != nil {
		item.Err = p.redact().String(err.Error())
	}
}

// claim keeps Ensure from finding what is about to be destroyed: an Ensure of the
// same key takes a thing that nobody was given for its own. claimed says that one
// has.
func (r *reaper) claim(ctx context.Context, p *Provider, th *thing) (release func() error, claimed bool, err error) {
	key := th.labels[labelKey]
	if key == "" || th.given || th.kind != ledger.KindSandbox {
		return func() error { return nil }, false, nil
	}
	ctx, cancel := within(ctx, limitLookup, p.opts.deadlines.Lookup)
	defer cancel()
	release, err = p.lease(ctx, operation{name: "Reap", effect: contract.EffectRead, id: th.id}, th.scope, key)
	if err != nil {
		return nil, false, err
	}
	now, err := p.book.things(ctx)
	if err != nil {
		return nil, false, join(err, release())
	}
	for _, other := range now {
		if other.provider == th.provider && other.scope == th.scope && other.intent == th.intent {
			claimed = claimed || other.given
		}
	}
	return release, claimed, nil
}

// recorder takes over the file in which th was opened. settled says that by now
// nothing is owed any more.
func (r *reaper) recorder(ctx context.Context, p *Provider, th *thing) (recorder, bool, error) {
	own := func() (recorder, bool, error) {
		record := p.recorder(ctx)
		return record, false, record(th.target.record(ledger.EventAdopted, "", "taken over by a reaper"))
	}
	run := th.opened().run
	if run.Liveness != ledger.Dead { // past its reap time while its run lives
		return own()
	}
	w := r.files[run.Path]
	if w == nil {
		mine, err := p.book.start(ctx)
		if err != nil {
			return nil, false, err
		}
		var log *ledger.Log
		w, log, err = ledger.OpenDead(ctx, run.Path, mine.Run(), ledger.Options{Identity: r.who, Clock: r.o.Now, Redact: p.redact().String})
		if _, corrupt := errors.AsType[*ledger.CorruptError](err); corrupt {
			return own()
		}
		if err != nil {
			return nil, false, err
		}
		r.files[run.Path] = w
		if e := ledger.Fold(log.Records).Entry(th.intent); e != nil && e.Status.Settled() {
			return nil, true, nil
		}
	}
	record := func(rec ledger.Record) error {
		if _, err := w.Append(rec); err != nil {
			return ledgerError("Append", err)
		}
		return nil
	}
	if th.stray {
		return record, false, record(th.target.record(ledger.EventAdopted, "", "left on the way to "+th.parent))
	}
	if th.id == "" {
		return record, false, nil
	}
	rec := th.target.record(ledger.EventRecovered, "", "")
	rec.Disposition, rec.ReapAfter = "", time.Time{}
	return record, false, record(rec)
}
