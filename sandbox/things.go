package sandbox

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
)

// labelKey is the ledger's label that holds the key of Ensure.
const labelKey = "key"

// thing is what all ledgers of an owner together say about one intent. Several
// runs may have handled it: one made it, another attached and destroyed it.
type thing struct {
	target
	labels  map[string]string
	entries []located
	updated time.Time
	stray   bool // found at the vendor, not in a ledger
	given   bool // a ledger has its ID: somebody was given it
}

type located struct {
	run      ledger.RunInfo
	entry    *ledger.Entry
	otherIDs []string
}

// settled reports whether nothing is owed: proven gone once is gone for ever,
// because an ID names one incarnation.
func (t *thing) settled() bool {
	if t.stray {
		return false
	}
	transferred := false
	for _, l := range t.entries {
		switch {
		case len(l.entry.OtherIDs) > 0:
			return false
		case l.entry.Status == ledger.StatusVerifiedGone:
			return true
		case l.entry.Status == ledger.StatusTransferred:
			transferred = true
		case l.entry.Status == ledger.StatusCreateFailed:
			transferred = true
		case l.entry.Updated.Equal(t.updated) || l.entry.Adopted:
			transferred = false
		}
	}
	return transferred
}

// alive is the run that has it open and lives, nil when there is none.
func (t *thing) alive() *ledger.RunInfo {
	for i := range t.entries {
		if l := &t.entries[i]; l.run.Liveness != ledger.Dead && !l.entry.Status.Settled() {
			return &l.run
		}
	}
	return nil
}

func (t *thing) inRun(path string) bool {
	return slices.ContainsFunc(t.entries, func(l located) bool { return l.run.Path == path })
}

// opened is the entry of the run that recorded the intent; failing that, the first.
func (t *thing) opened() located {
	for _, l := range t.entries {
		if !l.entry.Adopted {
			return l
		}
	}
	return t.entries[0]
}

// things gathers what the ledgers of this owner say. The error is about files
// that cannot be read to their end: what it comes with may lack something.
func (b *book) things(ctx context.Context) ([]*thing, error) {
	who, err := b.identity(ctx)
	if err != nil {
		return nil, err
	}
	dirs, err := b.opts.dirs()
	if err != nil {
		return nil, ledgerError("Scan", err)
	}
	runs, err := ledger.ScanOwner(ctx, dirs, who.Owner)
	if err != nil {
		return nil, ledgerError("Scan", err)
	}
	return mergeRuns(runs)
}

// mergeRuns folds each file and joins the entries of the same intent, in the
// order in which they were first opened.
func mergeRuns(runs []ledger.RunInfo) ([]*thing, error) {
	out := []*thing{} // not nil: a file that cannot be read says nothing about the others
	var errs []error
	byIntent := map[string]*thing{}
	for _, run := range runs {
		if run.Liveness == ledger.Empty {
			continue
		}
		log, err := ledger.Read(run.Path)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", run.Run, err))
		}
		if log == nil {
			continue
		}
		for _, e := range ledger.Fold(log.Records).Entries {
			key := run.Owner + "\x00" + e.Provider + "\x00" + e.Scope + "\x00" + e.Intent
			t := byIntent[key]
			if t == nil {
				t = &thing{labels: e.Labels}
				byIntent[key] = t
				out = append(out, t)
			}
			t.take(run, e)
		}
	}
	return out, join(errs...)
}

func (t *thing) take(run ledger.RunInfo, e *ledger.Entry) {
	t.entries = append(t.entries, located{run: run, entry: e, otherIDs: e.OtherIDs})
	t.provider, t.kind, t.scope, t.intent = first(t.provider, e.Provider), e.Kind, e.Scope, e.Intent
	t.id, t.name, t.parent = first(t.id, e.ID), first(t.name, e.Name), first(t.parent, e.Parent)
	t.given = t.id != ""
	if t.labels == nil {
		t.labels = e.Labels
	}
	if !e.Updated.Before(t.updated) { // the last word on how long it may live
		t.updated, t.disposition, t.reapAfter = e.Updated, e.Disposition, e.ReapAfter
	}
	if !e.Adopted || t.tags.Run == "" {
		t.tags = contract.Tags{Owner: run.Owner, Run: run.Run, Intent: e.Intent}
	}
}
