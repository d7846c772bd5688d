package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

func snapshotChecks() map[string]proof {
	return map[string]proof{
		"snapshot.creates-object":    {run: snapshotCreatesObject, method: "CreateSnapshot"},
		"snapshot.source-survives":   {run: snapshotSourceSurvives, method: "CreateSnapshot"},
		"snapshot.listable":          {run: snapshotListable, method: "ListSnapshots"},
		"snapshot.deletable":         {run: snapshotDeletable, method: "DeleteSnapshot"},
		"snapshot.restore-makes-new": {run: snapshotRestore, method: "Create"},
	}
}

// captured makes a marked sandbox and a snapshot of it, which is removed when
// the check ends.
func (t *trial) captured(ctx context.Context) (sb *sandbox.Sandbox, dir string, s contract.Snapshot, err error) {
	if sb, dir, err = t.marked(ctx); err != nil {
		return nil, "", s, err
	}
	s, err = t.capture(ctx, sb)
	return sb, dir, s, err
}

func (t *trial) capture(ctx context.Context, sb *sandbox.Sandbox) (contract.Snapshot, error) {
	s, err := sb.CreateSnapshot(ctx, contract.SnapshotRequest{Name: "sbxc-" + t.s.nonce()})
	if err != nil {
		return s, err
	}
	t.cleanup(func(ctx context.Context) error {
		if _, err := t.s.table().InspectSnapshot(ctx, s.ID); isAbsent(err) {
			return nil
		}
		return second(t.s.p.DeleteSnapshot(ctx, s.ID))
	})
	return s, nil
}

func snapshotCreatesObject(ctx context.Context, t *trial) error {
	sb, _, s, err := t.captured(ctx)
	if err != nil {
		return err
	}
	another, err := t.capture(ctx, sb)
	if err != nil {
		return err
	}
	seen, err := t.s.table().InspectSnapshot(ctx, s.ID)
	switch {
	case err != nil:
		return err
	case s.ID == sb.ID() || s.ID == another.ID:
		return fmt.Errorf("the capture's id %q is not its own", s.ID)
	case seen.ID != s.ID:
		return fmt.Errorf("the look-up of %q says %q", s.ID, seen.ID)
	case seen.State != contract.SnapshotStateReady || s.State != contract.SnapshotStateReady:
		return fmt.Errorf("a capture that can be used is %q, in the look-up %q", s.State, seen.State)
	case seen.Source != "" && seen.Source != sb.ID():
		return fmt.Errorf("the capture says it was taken from %q, it was from %q", seen.Source, sb.ID())
	}
	if _, err := t.s.table().Inspect(ctx, s.ID); err == nil {
		return errors.New("the capture is also a sandbox")
	}
	return nil
}

func snapshotSourceSurvives(ctx context.Context, t *trial) error {
	sb, dir, err := t.marked(ctx)
	if err != nil {
		return err
	}
	processes := t.counting(ctx, sb, dir)
	if _, err := t.capture(ctx, sb); err != nil {
		return err
	}
	if err := joinErrors(t.is(ctx, sb, contract.StateRunning), t.hasMark(ctx, sb, dir)); err != nil {
		return err
	}
	if processes != nil {
		return processes
	}
	return t.goesOn(ctx, sb, dir)
}

func snapshotIDs(all []contract.Snapshot) []string {
	out := make([]string, 0, len(all))
	for _, s := range all {
		out = append(out, s.ID)
	}
	return out
}

func snapshotListable(ctx context.Context, t *trial) error {
	_, _, s, err := t.captured(ctx)
	if err != nil {
		return err
	}
	all, err := t.s.p.ListSnapshots(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(snapshotIDs(all), s.ID) {
		return fmt.Errorf("the listing of %d captures does not have it", len(all))
	}
	made := 0
	for _, other := range all {
		if other.Name == s.Name && other.Source == s.Source {
			made++
		}
	}
	if made > 1 {
		return fmt.Errorf("one capture was asked for, and %d were made", made)
	}
	return nil
}

func snapshotDeletable(ctx context.Context, t *trial) error {
	sb, dir, s, err := t.captured(ctx)
	if err != nil {
		return err
	}
	other, err := t.capture(ctx, sb)
	if err != nil {
		return err
	}
	if _, err := t.s.p.DeleteSnapshot(ctx, s.ID); err != nil {
		return err
	}
	if _, err := t.s.table().InspectSnapshot(ctx, s.ID); !isAbsent(err) {
		return fmt.Errorf("a look-up of the deleted capture: %v; want not_found", err)
	}
	if outcome, err := t.s.table().DeleteSnapshot(ctx, s.ID); err != nil || outcome != port.DestroyAlreadyAbsent {
		return fmt.Errorf("deleting it a second time answers %q, %v; want %q", outcome, err, port.DestroyAlreadyAbsent)
	}
	all, err := t.s.table().ListSnapshots(ctx)
	if err != nil {
		return err
	}
	if slices.Contains(snapshotIDs(all), s.ID) || !slices.Contains(snapshotIDs(all), other.ID) {
		return fmt.Errorf("after deleting %s and not %s the listing has %v", s.ID, other.ID, snapshotIDs(all))
	}
	if err := joinErrors(t.alive(ctx, sb), t.hasMark(ctx, sb, dir), t.destroyed(ctx, sb)); err != nil {
		return err
	}
	if _, err := t.s.p.DeleteSnapshot(ctx, other.ID); err != nil {
		return fmt.Errorf("deleting a capture whose source is gone: %w", err)
	}
	if _, err := t.s.table().InspectSnapshot(ctx, other.ID); !isAbsent(err) {
		return fmt.Errorf("a look-up of a deleted capture whose source is gone: %v; want not_found", err)
	}
	return nil
}

func snapshotRestore(ctx context.Context, t *trial) error {
	sb, dir, s, err := t.captured(ctx)
	if err != nil {
		return err
	}
	if _, err := t.exec(ctx, sb, at(dir, "echo later > mark; echo later > later")); err != nil {
		return err
	}
	// The harness's own options may name an image; a capture takes its place.
	p := t.s.p
	restored, err := p.Create(ctx, sandbox.CreateOptions(t.s.h.Create...), sandbox.WithImage(""), sandbox.WithFromSnapshot(s.ID))
	if err != nil {
		return err
	}
	t.destroyLater(restored)
	if restored.ID() == sb.ID() {
		return errors.New("the new sandbox has the id of the source")
	}
	if err := t.hasMark(ctx, restored, dir); err != nil {
		return fmt.Errorf("in the new sandbox: %w", err)
	}
	return exits(ctx, restored, at(dir, "test -e later"), 1)
}

func forkChecks() map[string]proof {
	return map[string]proof{
		"fork.content-equal":   {run: forkContentEqual, method: "Fork"},
		"fork.independent":     {run: forkIndependent, method: "Fork"},
		"fork.source-survives": {run: forkSourceSurvives, method: "Fork"},
		"fork.leaves-nothing":  {run: forkLeavesNothing, method: "Fork"},
	}
}

func (t *trial) fork(ctx context.Context, sb *sandbox.Sandbox) (*sandbox.Sandbox, error) {
	f, err := sb.Fork(ctx, contract.ForkRequest{})
	if err != nil {
		return nil, err
	}
	t.destroyLater(f)
	if f.ID() == sb.ID() {
		return nil, errors.New("the fork has the id of its source")
	}
	return f, nil
}

func forkContentEqual(ctx context.Context, t *trial) error {
	sb, dir, err := t.marked(ctx)
	if err != nil {
		return err
	}
	memory := t.s.h.Driver.Manifest.ForkKeeps == contract.KeepsDiskAndMemory
	if memory {
		if err := t.counting(ctx, sb, dir); err != nil {
			return err
		}
	}
	f, err := t.fork(ctx, sb)
	if err != nil {
		return err
	}
	if err := t.hasMark(ctx, f, dir); err != nil || !memory {
		return err
	}
	return t.goesOn(ctx, f, dir)
}

func forkIndependent(ctx context.Context, t *trial) error {
	sb, dir, err := t.marked(ctx)
	if err != nil {
		return err
	}
	f, err := t.fork(ctx, sb)
	if err != nil {
		return err
	}
	if _, err := t.exec(ctx, f, at(dir, "echo forked > mark")); err != nil {
		return err
	}
	if _, err := t.exec(ctx, sb, at(dir, "echo source > only-source")); err != nil {
		return err
	}
	if err := t.hasMark(ctx, sb, dir); err != nil {
		return fmt.Errorf("a change in the fork reached the source: %w", err)
	}
	if err := exits(ctx, f, at(dir, "test -e only-source"), 1); err != nil {
		return fmt.Errorf("a change in the source reached the fork: %w", err)
	}
	if err := t.destroyed(ctx, sb); err != nil {
		return fmt.Errorf("destroying the source: %w", err)
	}
	return t.alive(ctx, f)
}

func forkSourceSurvives(ctx context.Context, t *trial) error {
	sb, dir, err := t.marked(ctx)
	if err != nil {
		return err
	}
	processes := t.counting(ctx, sb, dir)
	f, err := t.fork(ctx, sb)
	if err != nil {
		return err
	}
	if err := t.destroyed(ctx, f); err != nil {
		return err
	}
	if err := joinErrors(t.is(ctx, sb, contract.StateRunning), t.hasMark(ctx, sb, dir)); err != nil {
		return err
	}
	if processes != nil {
		return processes
	}
	return t.goesOn(ctx, sb, dir)
}

// forkLeavesNothing compares the ledger's entries with what the adapter made on
// the way, and requires all of it to be gone with the fork.
func forkLeavesNothing(ctx context.Context, t *trial) error {
	p, err := t.open(ctx)
	if err != nil {
		return err
	}
	var made []contract.Intermediate
	intent := ""
	faulty, err := t.open(ctx, sandbox.WithTable(func(table contract.Table) contract.Table {
		fork := table.Fork
		table.Fork = func(ctx context.Context, id string, r contract.ForkRequest) (contract.ForkResult, error) {
			res, err := fork(ctx, id, r)
			made, intent = res.Intermediates, r.Tags.Intent
			return res, err
		}
		return table
	}))
	if err != nil {
		return err
	}
	source, err := t.attempt(ctx, p)
	if err != nil {
		return unknown(NoInstanceCreated, "%v", err)
	}
	sb, err := faulty.Attach(ctx, source.ID())
	if err != nil {
		return err
	}
	f, err := t.fork(ctx, sb)
	if err != nil {
		return err
	}
	state, err := stateOf(faulty)
	if err != nil {
		return err
	}
	for _, i := range made {
		found := false
		for _, e := range state.Entries {
			found = found || e.ID == i.ID && string(e.Kind) == string(i.Kind)
		}
		if !found {
			return fmt.Errorf("%s %s was made on the way and is not in the ledger", i.Kind, i.ID)
		}
	}
	if err := t.destroyed(ctx, f); err != nil {
		return err
	}
	state, err = stateOf(faulty)
	if err != nil {
		return err
	}
	if open := state.Open(); len(open) > 0 && t.s.canProveGone() {
		return fmt.Errorf("after the destroy the ledger still owes %s %s", open[0].Kind, open[0].ID)
	}
	return t.nothingCaptured(ctx, source.ID(), intent, made)
}

// nothingCaptured requires that no snapshot is left that a fork made, whether it
// was reported or not.
func (t *trial) nothingCaptured(ctx context.Context, source, intent string, reported []contract.Intermediate) error {
	if !t.s.callable(contract.CapabilitySnapshot) {
		return nil
	}
	for _, i := range reported {
		if i.Kind != contract.ResourceKindSnapshot {
			continue
		}
		if _, err := t.s.table().InspectSnapshot(ctx, i.ID); !isAbsent(err) {
			return fmt.Errorf("%s is still there: %v", i.ID, err)
		}
	}
	all, err := t.s.table().ListSnapshots(ctx)
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.Source == source || s.Tags != nil && s.Tags.Intent == intent {
			return fmt.Errorf("the fork left snapshot %s, which it did not report", s.ID)
		}
	}
	return nil
}
