package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

func listChecks() map[string]proof {
	return map[string]proof{
		"list.contains-created":      {run: listContainsCreated, method: "List"},
		"list.absent-after-destroy":  {run: absenceInListing, method: "List"},
		"list.filters-by-state":      {run: listFiltersByState, method: "List"},
		"list.error-is-not-empty":    {run: listErrorIsNotEmpty, method: "List"},
		"labels.read-back":           {run: labelsReadBack, method: "Inspect"},
		"labels.filter-rechecked":    {run: labelsFilter, method: "List"},
		"labels.owner-tag-protected": {run: ownerTagProtected, method: "Create"},
	}
}

// listingSettles is how long a listing may lag behind what it lists.
const listingSettles = 5 * time.Second

// settles asks until the answer holds; the last one counts.
func settles(ctx context.Context, ask func() error) error {
	ctx, cancel := context.WithTimeout(ctx, listingSettles)
	defer cancel()
	for {
		err := ask()
		if err == nil || !wait(ctx, 200*time.Millisecond) {
			return err
		}
	}
}

// listed lists through the adapter and returns the row of an ID.
func (t *trial) listed(ctx context.Context, r contract.ListRequest, id string) (contract.Instance, bool, error) {
	all, err := t.s.table().List(ctx, r)
	if err != nil {
		return contract.Instance{}, false, err
	}
	for _, i := range all {
		if i.ID == id {
			return i, true, nil
		}
	}
	return contract.Instance{}, false, nil
}

func listContainsCreated(ctx context.Context, t *trial) error {
	var made []*sandbox.Sandbox
	for range 3 {
		sb, err := t.create(ctx, sandbox.SkipReady())
		if err != nil {
			return err
		}
		made = append(made, sb)
	}
	return settles(ctx, func() error { return t.allListed(ctx, made) })
}

// allListed requires each sandbox in the listing, and nothing twice.
func (t *trial) allListed(ctx context.Context, made []*sandbox.Sandbox) error {
	all, err := t.s.p.List(ctx, contract.ListRequest{})
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, i := range all {
		if seen[i.ID] {
			return fmt.Errorf("%s is in the listing twice", i.ID)
		}
		seen[i.ID] = true
	}
	for _, sb := range made {
		if !seen[sb.ID()] {
			return fmt.Errorf("%s is not in a listing of %d", sb.ID(), len(all))
		}
	}
	return nil
}

// listFiltersByState needs a sandbox in another state than running where the
// provider can stop one.
func listFiltersByState(ctx context.Context, t *trial) error {
	running, err := t.create(ctx)
	if err != nil {
		return err
	}
	want := map[string]contract.State{running.ID(): contract.StateRunning}
	if t.s.callable(contract.CapabilityStop) {
		stopped, err := t.create(ctx)
		if err != nil {
			return err
		}
		if _, err := stopped.Stop(ctx); err != nil {
			return err
		}
		want[stopped.ID()] = contract.StateStopped
	}
	return settles(ctx, func() error { return t.filtered(ctx, want) })
}

// filtered requires that listings by state hold what is in that state.
func (t *trial) filtered(ctx context.Context, want map[string]contract.State) error {
	for _, state := range []contract.State{contract.StateRunning, contract.StateStopped, contract.StateSuspended} {
		all, err := t.s.table().List(ctx, contract.ListRequest{States: []contract.State{state}})
		if err != nil {
			return err
		}
		for _, i := range all {
			if i.State != state {
				return fmt.Errorf("a listing of %s holds %s, which is %s", state, i.ID, i.State)
			}
		}
		for id, is := range want {
			if (is == state) != lists(all, id) {
				return fmt.Errorf("a listing of %s: %s, which is %s, is in it: %t", state, id, is, lists(all, id))
			}
		}
	}
	return nil
}

// listErrorIsNotEmpty asks with a context that has ended, which is a failure that
// needs no fault at the vendor: the answer is an error, or complete all the same.
func listErrorIsNotEmpty(ctx context.Context, t *trial) error {
	sb, err := t.shared()
	if err != nil {
		return err
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	all, err := t.s.table().List(ended, contract.ListRequest{})
	switch {
	case err != nil && len(all) > 0:
		return fmt.Errorf("an error came with %d rows: %w", len(all), err)
	case err == nil && !lists(all, sb.ID()):
		return fmt.Errorf("a listing that was cancelled gave %d rows without %s, and no error", len(all), sb.ID())
	}
	return nil
}

func someLabels(value string) map[string]string {
	return map[string]string{"sbxc": value, "sbxc.team": "blue-green_1.0"}
}

func labelsReadBack(ctx context.Context, t *trial) error {
	want := someLabels("value " + t.s.nonce())
	sb, err := t.attempt(ctx, t.s.p, sandbox.WithLabels(want), sandbox.SkipReady())
	if err != nil {
		return err
	}
	i, err := t.s.table().Inspect(ctx, sb.ID())
	if err != nil {
		return err
	}
	if fmt.Sprint(i.Labels) != fmt.Sprint(want) {
		return fmt.Errorf("labels read back are %q, given were %q", i.Labels, want)
	}
	if !t.s.callable(contract.CapabilityList) {
		return nil
	}
	return settles(ctx, func() error {
		row, ok, err := t.listed(ctx, contract.ListRequest{}, sb.ID())
		if err != nil || !ok {
			return joinErrors(err, errors.New("it is not in the listing"))
		}
		if fmt.Sprint(row.Labels) != fmt.Sprint(want) {
			return fmt.Errorf("labels in the listing are %q, given were %q", row.Labels, want)
		}
		return nil
	})
}

func labelsFilter(ctx context.Context, t *trial) error {
	if ok, err := t.declared(ctx, contract.CapabilityList); !ok {
		return err
	}
	mine, theirs := someLabels("mine "+t.s.nonce()), someLabels("theirs "+t.s.nonce())
	a, err := t.create(ctx, sandbox.WithLabels(mine), sandbox.SkipReady())
	if err != nil {
		return err
	}
	b, err := t.create(ctx, sandbox.WithLabels(theirs), sandbox.SkipReady())
	if err != nil {
		return err
	}
	return settles(ctx, func() error { return t.labelled(ctx, mine, a.ID(), b.ID()) })
}

// labelled requires that a listing by labels holds one sandbox and not another.
func (t *trial) labelled(ctx context.Context, mine map[string]string, with, without string) error {
	all, err := t.s.table().List(ctx, contract.ListRequest{Labels: mine})
	if err != nil {
		return err
	}
	for _, i := range all {
		for k, v := range mine {
			if i.Labels[k] != v {
				return fmt.Errorf("a listing by label %s=%q holds %s with %q", k, v, i.ID, i.Labels)
			}
		}
	}
	if !lists(all, with) || lists(all, without) {
		return fmt.Errorf("the listing by label holds %v; want %s and not %s", ids(all), with, without)
	}
	return nil
}

// ownerTagProtected tries to forge a mark through the library, then past it.
func ownerTagProtected(ctx context.Context, t *trial) error {
	for _, key := range []string{"sbx.owner", "_sandbox.attributionTag", "SBX.Owner"} {
		_, err := t.attempt(ctx, t.s.p, sandbox.WithLabels(map[string]string{key: "someone-else"}))
		if err := wantCode(err, port.CodeInvalidArgument, "a label "+key); err != nil {
			return err
		}
	}
	p, err := t.open(ctx, sandbox.WithTable(func(table contract.Table) contract.Table {
		create := table.Create
		table.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			r.Labels = map[string]string{"sbx.owner": "someone-else", "_sandbox.attributionTag": "someone-else"}
			return create(ctx, r)
		}
		return table
	}))
	if err != nil {
		return err
	}
	sb, err := t.attempt(ctx, p, sandbox.WithLabels(someLabels("x")), sandbox.SkipReady())
	if port.CodeOf(err) == port.CodeInvalidArgument {
		return nil // the adapter refuses as well
	}
	if err != nil {
		return err
	}
	return t.sameTags(ctx, sb)
}
