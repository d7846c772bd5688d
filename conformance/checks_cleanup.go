package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

func cleanupChecks() map[string]proof {
	return map[string]proof{
		"cleanup.destroy-idempotent":      {run: destroyIdempotent, method: "Destroy"},
		"cleanup.destroyed-is-not-gone":   {run: destroyedIsNotGone, method: "Destroy"},
		"cleanup.verified-gone":           {run: verifiedGone, method: "Inspect"},
		"cleanup.absence-in-listing":      {run: absenceInListing, method: "List"},
		"cleanup.registration-until-gone": {run: registrationUntilGone, method: "Destroy"},
		"cleanup.intent-before-create":    {run: intentBeforeCreate, method: "Create"},
		"cleanup.no-leftovers":            {run: noLeftovers, last: true, method: "Destroy"},
		"cleanup.counts-balance":          {run: countsBalance, last: true, method: "Destroy"},
	}
}

func destroyIdempotent(ctx context.Context, t *trial) error {
	sb, err := t.create(ctx, sandbox.SkipReady())
	if err != nil {
		return err
	}
	if err := t.destroyed(ctx, sb); err != nil {
		return err
	}
	outcome, err := t.s.table().Destroy(ctx, sb.ID())
	switch {
	case err != nil:
		return fmt.Errorf("the second destroy: %w", err)
	case outcome != port.DestroyAlreadyAbsent:
		return fmt.Errorf("the second destroy answers %q, want %q", outcome, port.DestroyAlreadyAbsent)
	}
	return nil
}

// lingering opens the provider so that a destroyed sandbox still shows up as
// long as the fault acts.
func lingering(ctx context.Context, t *trial, f *fault) (*sandbox.Provider, error) {
	return t.open(ctx, sandbox.WithDeadlines(quick()), sandbox.WithTable(func(table contract.Table) contract.Table {
		inspect, list, destroy := table.Inspect, table.List, table.Destroy
		var last contract.Instance
		table.Destroy = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
			if i, err := inspect(ctx, id); err == nil {
				last = i
			}
			return destroy(ctx, id)
		}
		table.Inspect = func(ctx context.Context, id string) (contract.Instance, error) {
			if i, err := inspect(ctx, id); !isAbsent(err) || !f.fires() {
				return i, err
			}
			still := last
			still.ID, still.State, still.Freshness = id, contract.StateStopping, contract.FreshnessLive
			return still, nil
		}
		if list != nil {
			table.List = func(ctx context.Context, r contract.ListRequest) ([]contract.Instance, error) {
				all, err := list(ctx, r)
				if err == nil && last.ID != "" && !lists(all, last.ID) && f.fires() {
					all = append(all, last)
				}
				return all, err
			}
		}
		return table
	}))
}

func destroyedIsNotGone(ctx context.Context, t *trial) error {
	return t.whileLingering(ctx, func(p *sandbox.Provider, sb *sandbox.Sandbox, u *sandbox.UnverifiedError) error {
		if r := u.Report; !r.Acknowledged || r.VerifiedGone {
			return fmt.Errorf("the report says %+v", r)
		}
		state, err := stateOf(p)
		if err != nil {
			return err
		}
		if c := state.Counts(); c.Destroyed != 1 || c.VerifiedGone != 0 {
			return fmt.Errorf("the ledger counts %+v", c)
		}
		return nil
	})
}

func registrationUntilGone(ctx context.Context, t *trial) error {
	return t.whileLingering(ctx, func(p *sandbox.Provider, sb *sandbox.Sandbox, _ *sandbox.UnverifiedError) error {
		state, err := stateOf(p)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(state.Open(), func(e *ledger.Entry) bool { return e.ID == sb.ID() }) {
			return errors.New("the ledger owes nothing although the sandbox still shows up")
		}
		return nil
	})
}

// whileLingering destroys a sandbox that goes on showing up, judges, and then
// lets it be gone: the same destroy has to succeed after all.
func (t *trial) whileLingering(ctx context.Context, judge func(*sandbox.Provider, *sandbox.Sandbox, *sandbox.UnverifiedError) error) error {
	f := &fault{}
	p, err := lingering(ctx, t, f)
	if err != nil {
		return err
	}
	sb, err := t.attempt(ctx, p)
	if err != nil {
		return unknown(NoInstanceCreated, "%v", err)
	}
	t.cleanup(func(context.Context) error { f.stop(); return nil })
	_, err = sb.Destroy(ctx)
	u, ok := errors.AsType[*sandbox.UnverifiedError](err)
	if !ok {
		return fmt.Errorf("a sandbox that still shows up was destroyed with the answer: %v", err)
	}
	if err := judge(p, sb, u); err != nil {
		return err
	}
	f.stop()
	return t.destroyed(ctx, sb)
}

// stateOf reads the ledger of a provider's run from disk.
func stateOf(p *sandbox.Provider) (*ledger.State, error) {
	log, err := ledger.Read(p.LedgerPath())
	if err != nil {
		return nil, err
	}
	return ledger.Fold(log.Records), nil
}

func verifiedGone(ctx context.Context, t *trial) error {
	if !t.s.canProveGone() {
		return unknown(NotAttempted, "the manifest says that nothing can prove absence (goneProof %q)", t.s.h.Driver.Manifest.GoneProof)
	}
	sb, err := t.create(ctx, sandbox.SkipReady())
	if err != nil {
		return err
	}
	report, err := sb.Destroy(ctx)
	switch {
	case err != nil:
		return err
	case !report.VerifiedGone || report.Evidence.Control == "":
		return fmt.Errorf("the report says %+v", report)
	}
	if err := t.gone(ctx, sb.ID()); err != nil {
		return err
	}
	control, err := t.shared()
	if err != nil {
		return err
	}
	if _, err := t.s.table().Inspect(ctx, control.ID()); err != nil {
		return fmt.Errorf("the control read failed: %w", err)
	}
	return nil
}

func absenceInListing(ctx context.Context, t *trial) error {
	if ok, err := t.declared(ctx, contract.CapabilityList); !ok {
		return err
	}
	sb, err := t.create(ctx, sandbox.SkipReady())
	if err != nil {
		return err
	}
	if err := t.destroyed(ctx, sb); err != nil {
		return err
	}
	all, err := t.s.table().List(ctx, contract.ListRequest{})
	if err != nil {
		return err
	}
	if lists(all, sb.ID()) {
		return errors.New("the listing still has it")
	}
	return nil
}

func intentBeforeCreate(ctx context.Context, t *trial) error {
	var seen error = errors.New("no create reached the adapter")
	var p *sandbox.Provider
	p, err := t.open(ctx, sandbox.WithTable(func(table contract.Table) contract.Table {
		create := table.Create
		table.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			state, err := stateOf(p)
			if seen = err; err == nil && state.Entry(r.Tags.Intent) == nil {
				seen = errors.New("the ledger on disk has no intent while the vendor is asked")
			}
			return create(ctx, r)
		}
		return table
	}))
	if err != nil {
		return err
	}
	if _, err := t.attempt(ctx, p, sandbox.SkipReady()); err != nil {
		return err
	}
	return seen
}

// noLeftovers looks for everything the adapter ever said it made.
func noLeftovers(ctx context.Context, t *trial) error {
	var errs []error
	table := t.s.table()
	for _, m := range t.s.tap.everMade() {
		var err error
		switch {
		case m.kind == contract.ResourceKindSandbox:
			_, err = table.Inspect(ctx, m.id)
		case m.kind == contract.ResourceKindSnapshot && table.InspectSnapshot != nil:
			_, err = table.InspectSnapshot(ctx, m.id)
		default:
			continue // counted at the vendor by the check of counts
		}
		switch {
		case err == nil:
			errs = append(errs, fmt.Errorf("%s %s is left behind", m.kind, m.id))
		case !isAbsent(err):
			errs = append(errs, fmt.Errorf("whether %s %s is left behind cannot be seen: %w", m.kind, m.id, err))
		}
	}
	return errors.Join(errs...)
}

// countsBalance holds the ledgers against one another and against the vendor.
func countsBalance(ctx context.Context, t *trial) error {
	runs, err := ledger.Scan(ctx, ledger.Dirs{Root: t.s.stateDir})
	if err != nil {
		return err
	}
	var errs []error
	created := 0
	for _, run := range runs {
		log, err := ledger.Read(run.Path)
		if err != nil {
			errs = append(errs, fmt.Errorf("ledger %s: %w", filepath.Base(run.Path), err))
			continue
		}
		created += ledger.Fold(log.Records).Counts().Created
	}
	if created == 0 {
		errs = append(errs, errors.New("the ledgers hold no created sandbox"))
	}
	if t.s.owes(runs) {
		errs = append(errs, errors.New("the ledgers still owe something"))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if t.s.before == nil {
		return unknown(NotAttempted, "the ledgers balance, and there was no count at the vendor before the run")
	}
	after, err := t.s.settledCount(ctx, t.s.before)
	if err != nil {
		return fmt.Errorf("counting at the vendor: %w", err)
	}
	if !maps.Equal(t.s.before, after) {
		return fmt.Errorf("the vendor had %v before the run and has %v after it", t.s.before, after)
	}
	return nil
}
