package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// truthChecks are those of honesty that need no fault: a second client of the
// same account shows what the first one makes of it.
func truthChecks() map[string]proof {
	return map[string]proof{
		"honesty.destroy-in-transition":           {run: destroyInTransition, method: "Destroy"},
		"honesty.list-from-vendor":                {run: listFromVendor, method: "List"},
		"honesty.list-lag":                        {run: listLag, method: "List"},
		"honesty.tombstone-is-gone":               {run: tombstoneIsGone, method: "Inspect"},
		"honesty.inspect-has-no-effect":           {run: inspectHasNoEffect, method: "Inspect"},
		"honesty.status-is-live":                  {run: statusIsLive, method: "Inspect"},
		"honesty.output-without-reader":           {run: inDir(outputWithoutReader), method: "Stream"},
		"honesty.create-deadline-is-not-lifetime": {run: createDeadline, method: "Create"},
		"honesty.rehydrated-handles":              {run: rehydratedHandles, method: "List"},
		"honesty.use-keeps-lifetime":              {run: useKeepsLifetime, method: "Inspect"},
		"honesty.resume-keeps-writes":             {run: resumeKeepsWrites, method: "Resume"},
		"honesty.address-not-cached":              {run: addressNotCached, method: "PortURL"},
		"honesty.incarnation-checked":             {run: incarnationChecked, method: "Exec"},
	}
}

// destroyInTransition destroys while another change is under way.
func destroyInTransition(ctx context.Context, t *trial) error {
	op, change := "Restart", t.s.table().Restart
	if !t.s.callable(contract.CapabilityRestart) {
		op, change = "Stop", t.s.table().Stop
	}
	if change == nil {
		return unknown(NotAttempted, "it does not apply: the provider has no change of state that a destroy could meet")
	}
	sb, err := t.create(ctx)
	if err != nil {
		return err
	}
	changed := make(chan error, 1)
	go func() { changed <- recovered(func() error { return second(change(ctx, sb.ID())) }) }()
	if err := t.until(ctx, 10*time.Second, func() (bool, error) { return t.reached(op) > 0, nil }); err != nil {
		return fmt.Errorf("waiting for the change to begin: %w", err)
	}
	if !wait(ctx, 50*time.Millisecond) {
		return ctx.Err()
	}
	destroyed := t.destroyed(ctx, sb)
	if err := <-changed; err != nil && port.CodeOf(err) == "" {
		return fmt.Errorf("the change that was under way: %w", err)
	}
	if destroyed != nil {
		return fmt.Errorf("while another change was under way: %w", destroyed)
	}
	return t.goneIfProvable(ctx, sb.ID())
}

// elsewhereMade is made by a second client of the account: an adapter of its own,
// with nothing in memory.
func (t *trial) elsewhereMade(ctx context.Context) (*sandbox.Sandbox, error) {
	p, err := t.open(ctx)
	if err != nil {
		return nil, err
	}
	sb, err := t.attempt(ctx, p)
	if err != nil {
		return nil, unknown(NoInstanceCreated, "%v", err)
	}
	return sb, nil
}

func listFromVendor(ctx context.Context, t *trial) error {
	sb, err := t.elsewhereMade(ctx)
	if err != nil {
		return err
	}
	return settles(ctx, func() error {
		_, ok, err := t.listed(ctx, contract.ListRequest{}, sb.ID())
		if err == nil && !ok {
			err = errors.New("a sandbox that another client made is not in the listing")
		}
		return err
	})
}

// listLag sees that what a look-up says counts, whatever the listing shows.
func listLag(ctx context.Context, t *trial) error {
	sb, err := t.create(ctx, sandbox.SkipReady())
	if err != nil {
		return err
	}
	hidden, err := t.open(ctx, sandbox.WithTable(func(table contract.Table) contract.Table {
		table.List = func(context.Context, contract.ListRequest) ([]contract.Instance, error) { return nil, nil }
		return table
	}))
	if err != nil {
		return err
	}
	seen, err := hidden.Attach(ctx, sb.ID())
	if err != nil || seen.ID() != sb.ID() {
		return fmt.Errorf("with a listing that does not show it yet, an existing sandbox is not found: %v", err)
	}
	if err := t.destroyed(ctx, sb); err != nil {
		return err
	}
	row := sb.Instance()
	back, err := t.open(ctx, sandbox.WithTable(func(table contract.Table) contract.Table {
		table.List = func(context.Context, contract.ListRequest) ([]contract.Instance, error) {
			return []contract.Instance{row}, nil
		}
		return table
	}))
	if err != nil {
		return err
	}
	_, err = back.Attach(ctx, sb.ID())
	return wantCode(err, port.CodeNotFound, "attaching to what is gone and still listed")
}

func tombstoneIsGone(ctx context.Context, t *trial) error {
	sb, err := t.create(ctx, sandbox.SkipReady())
	if err != nil {
		return err
	}
	if err := t.destroyed(ctx, sb); err != nil {
		return err
	}
	if !t.s.canProveGone() {
		return unknown(NotAttempted, "the manifest says that nothing can prove absence")
	}
	for range 3 {
		if err := t.gone(ctx, sb.ID()); err != nil {
			return err
		}
		if !wait(ctx, 300*time.Millisecond) {
			return ctx.Err()
		}
	}
	if !t.s.callable(contract.CapabilityList) {
		return nil
	}
	return settles(ctx, func() error {
		row, ok, err := t.listed(ctx, contract.ListRequest{}, sb.ID())
		if err == nil && ok {
			err = fmt.Errorf("what is gone is in the listing as %s", row.State)
		}
		return err
	})
}

// inspectHasNoEffect looks at a sandbox in each state that it can be put in.
func inspectHasNoEffect(ctx context.Context, t *trial) error {
	sb, err := t.create(ctx)
	if err != nil {
		return err
	}
	look := func() error {
		first, err := t.s.table().Inspect(ctx, sb.ID())
		if err != nil {
			return err
		}
		for range 3 {
			i, err := t.s.table().Inspect(ctx, sb.ID())
			switch {
			case err != nil:
				return err
			case i.State != first.State:
				return fmt.Errorf("looking took it from %s to %s", first.State, i.State)
			case (i.ExpiresAt == nil) != (first.ExpiresAt == nil) || i.ExpiresAt != nil && !i.ExpiresAt.Equal(*first.ExpiresAt):
				return fmt.Errorf("looking moved its end from %v to %v", first.ExpiresAt, i.ExpiresAt)
			}
		}
		return nil
	}
	if err := look(); err != nil {
		return err
	}
	for _, change := range []struct {
		c        contract.Capability
		to, back func(context.Context) (contract.Instance, error)
	}{{contract.CapabilitySuspend, sb.Suspend, sb.Resume}, {contract.CapabilityStop, sb.Stop, sb.Start}} {
		if !t.s.callable(change.c) {
			continue
		}
		if _, err := change.to(ctx); err != nil {
			return err
		}
		if err := look(); err != nil {
			return err
		}
		if _, err := change.back(ctx); err != nil {
			return err
		}
	}
	return nil
}

// statusIsLive changes a sandbox behind the adapter's back.
func statusIsLive(ctx context.Context, t *trial) error {
	sb, err := t.elsewhereMade(ctx)
	if err != nil {
		return err
	}
	if i, err := t.s.table().Inspect(ctx, sb.ID()); err != nil || i.State != contract.StateRunning {
		return fmt.Errorf("what another client made is %q: %v", i.State, err)
	}
	if t.s.callable(contract.CapabilityStop) {
		if _, err := sb.Stop(ctx); err != nil {
			return err
		}
		i, err := t.s.table().Inspect(ctx, sb.ID())
		if err != nil {
			return err
		}
		if i.State != contract.StateStopped && i.Freshness == contract.FreshnessLive {
			return fmt.Errorf("another client stopped it, and a look-up says %q, %s", i.State, i.Freshness)
		}
	}
	if err := t.destroyed(ctx, sb); err != nil {
		return err
	}
	return t.goneIfProvable(ctx, sb.ID())
}

// outputWithoutReader reads only after the command has written and ended.
func outputWithoutReader(ctx context.Context, t *trial, sb *sandbox.Sandbox, dir string) error {
	p, err := t.stream(ctx, sb, contract.Command{Dir: dir, Script: "echo early; echo more; : > written"})
	if err != nil {
		return err
	}
	if err := t.until(ctx, 20*time.Second, func() (bool, error) {
		out, err := t.exec(ctx, sb, contract.Command{Dir: dir, Script: "if test -e written; then echo yes; fi"})
		return out == "yes\n", err
	}); err != nil {
		return fmt.Errorf("waiting for the command: %w", err)
	}
	if !wait(ctx, time.Second) {
		return ctx.Err()
	}
	var out []byte
	err = promptly(20*time.Second, "reading what was written before", func() (err error) {
		out, err = io.ReadAll(p.Stdout())
		return err
	})
	if err != nil {
		return noted("the loss is reported: %v", err)
	}
	return equal("output that nobody waited for", []byte("early\nmore\n"), out)
}

// createDeadline creates with little time to wait, and looks again when it is over.
func createDeadline(ctx context.Context, t *trial) error {
	const patience = 8 * time.Second
	began := time.Now()
	cctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	sb, err := t.attempt(cctx, t.s.p)
	if err != nil {
		return unknown(NoInstanceCreated, "not within %s: %v", patience, err)
	}
	if !wait(ctx, patience+2*time.Second-time.Since(began)) {
		return ctx.Err()
	}
	if err := t.alive(ctx, sb); err != nil {
		return fmt.Errorf("after the time to wait for create was over: %w", err)
	}
	i, err := t.s.table().Inspect(ctx, sb.ID())
	if err != nil {
		return err
	}
	if i.ExpiresAt != nil && time.Until(*i.ExpiresAt) < time.Minute {
		return fmt.Errorf("with %s to wait for create, it ends at %s", patience, i.ExpiresAt)
	}
	return nil
}
