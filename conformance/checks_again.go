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

// Checks here come back to a sandbox, an address or a name after it was away.

func resumeKeepsWrites(ctx context.Context, t *trial) error {
	sb, err := t.create(ctx)
	if err != nil {
		return err
	}
	want := ""
	for round := range 3 {
		want += fmt.Sprintf("round %d\n", round)
		if _, err := t.run(ctx, sb, fmt.Sprintf("echo round %d >> sbxc-rounds", round)); err != nil {
			return err
		}
		if _, err := sb.Suspend(ctx); err != nil {
			return err
		}
		if _, err := sb.Resume(ctx); err != nil {
			return err
		}
		out, err := t.run(ctx, sb, "cat sbxc-rounds")
		if err := joinErrors(err, equal("what was written right before a suspend", want, out)); err != nil {
			return err
		}
	}
	return nil
}

// addressNotCached asks for the address again after a stop and a start.
func addressNotCached(ctx context.Context, t *trial) error {
	if ok, err := t.declared(ctx, contract.CapabilityStop); !ok {
		return err
	}
	sb, _, err := t.published(ctx, checkedPort+3)
	if err != nil {
		return err
	}
	if _, err := sb.Stop(ctx); err != nil {
		return err
	}
	if _, err := sb.Start(ctx); err != nil {
		return err
	}
	if err := t.serve(ctx, sb, checkedPort+3); err != nil {
		return err
	}
	access, err := sb.PortURL(ctx, checkedPort+3)
	if err != nil {
		return err
	}
	host, err := hostOf(access)
	if err != nil {
		return err
	}
	if access.Audience != contract.PortAudienceHost && access.Audience != contract.PortAudienceAnyone {
		return unknown(NotAttempted, "the port is open for %s only, which this run is not", access.Audience)
	}
	if err := t.until(ctx, 20*time.Second, func() (bool, error) { return answers(ctx, host) }); err != nil {
		return fmt.Errorf("the address after stop and start: %w", err)
	}
	return nil
}

// incarnationChecked calls what is gone while something with its name is there.
func incarnationChecked(ctx context.Context, t *trial) error {
	opts := []sandbox.CreateOption{sandbox.WithName("sbxc-again-" + t.s.nonce())}
	old, err := t.attempt(ctx, t.s.p, opts...)
	if code := port.CodeOf(err); code == port.CodeUnsupported || code == port.CodeInvalidArgument {
		opts = nil
		old, err = t.attempt(ctx, t.s.p)
	}
	if err != nil {
		return unknown(NoInstanceCreated, "%v", err)
	}
	was, err := t.dir(ctx, old)
	if err != nil {
		return err
	}
	if err := t.warmed(ctx, old, was); err != nil {
		return err
	}
	if err := t.destroyed(ctx, old); err != nil {
		return err
	}
	next, err := t.create(ctx, opts...)
	if err != nil {
		return err
	}
	dir, err := t.dir(ctx, next)
	if err != nil {
		return err
	}
	_, err = t.s.table().Exec(ctx, old.ID(), contract.Command{Script: "echo no > " + dir + "/reached", Timeout: execLimit})
	if err := wantCode(err, port.CodeNotFound, "a command for an incarnation that is gone"); err != nil {
		return err
	}
	if err := t.allAbsent(ctx, old.ID(), was); err != nil {
		return err
	}
	out, err := t.run(ctx, next, "ls "+dir)
	return joinErrors(err, equal("what the old incarnation's command left in the new one", "", out))
}

// warmed calls every operation on a sandbox while it is there, with the arguments
// that they are called with again when it is gone. What they answer is other
// checks' to judge.
func (t *trial) warmed(ctx context.Context, sb *sandbox.Sandbox, dir string) error {
	if _, err := t.exec(ctx, sb, contract.Command{Dir: dir, Script: "echo x > ended"}); err != nil {
		return err
	}
	for _, op := range contract.Operations() {
		if !ofSandbox(op.Name) || op.Capability != "" && !t.s.callable(op.Capability) {
			continue
		}
		err := t.callTable(ctx, t.s.table(), sb.ID(), dir, op.Name)
		if _, mine := errors.AsType[*misuseError](err); mine {
			return err
		}
	}
	return nil
}

// ofSandbox reports whether an operation is about a sandbox that has to be there.
func ofSandbox(op string) bool {
	switch op {
	case "Scope", "Create", "List", "Destroy", "ListSnapshots", "DeleteSnapshot", "InspectSnapshot":
		return false // they have no sandbox, or absence is no error
	}
	return true
}

// allAbsent calls every operation on a sandbox with an ID that names none.
func (t *trial) allAbsent(ctx context.Context, id, dir string) error {
	for _, op := range contract.Operations() {
		if !ofSandbox(op.Name) {
			continue
		}
		if op.Capability != "" && !t.s.callable(op.Capability) {
			continue
		}
		if err := wantCode(t.callTable(ctx, t.s.table(), id, dir, op.Name), port.CodeNotFound, op.Name+" on what is gone"); err != nil {
			return err
		}
	}
	return nil
}
