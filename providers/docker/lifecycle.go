package docker

import (
	"context"
	"errors"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// cleanupTime bounds work that is owed after the caller's context may have ended.
const cleanupTime = 30 * time.Second

// settleTime is how long an accepted change may take to show.
const settleTime = 10 * time.Second

// cleanup returns a context for work that is owed whatever became of ctx.
func (a *Adapter) cleanup(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
}

// change makes one state-changing call and reads the settled state. Where the
// engine refuses because the sandbox is already there, it is no error.
func (a *Adapter) change(ctx context.Context, op, id string, want contract.State, call func(context.Context) error) (contract.Instance, error) {
	if err := a.mine(ctx, op, id); err != nil {
		return contract.Instance{}, err
	}
	failed := a.do(ctx, op, id, wire.Mutate, call)
	if failed != nil && !cerrdefs.IsConflict(errors.Unwrap(failed)) {
		return contract.Instance{}, failed
	}
	inst, err := a.settle(ctx, op, id, want, failed == nil)
	switch {
	case err != nil && failed == nil:
		return contract.Instance{}, exists(err)
	case err != nil:
		return contract.Instance{}, err
	case inst.State == want:
		return inst, nil
	case failed != nil:
		return inst, failed
	}
	return inst, a.errorf(op, id, port.CodeProvider, port.OutcomeDone,
		"the engine accepted the change and still reports %s", inst.NativeState)
}

// settle reads the sandbox, and reads it again while an accepted change does
// not show: with some runtimes the engine learns of it from a later event.
func (a *Adapter) settle(ctx context.Context, op, id string, want contract.State, accepted bool) (contract.Instance, error) {
	deadline := time.Now().Add(settleTime)
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		c, err := a.inspect(ctx, op, id)
		if err != nil {
			return contract.Instance{}, err
		}
		inst := a.instance(c)
		if inst.State == want || !accepted || time.Now().After(deadline) {
			return inst, nil
		}
		select {
		case <-ctx.Done():
			return inst, nil
		case <-time.After(wait):
		}
	}
}

// before looks whether a change has to be asked for. Some engines answer with
// a server error where nothing is to do, which would leave the outcome open.
func (a *Adapter) before(ctx context.Context, op, id string, from, want contract.State) (contract.Instance, bool, error) {
	inst, err := a.Inspect(ctx, id)
	if e, ok := errors.AsType[*port.Error](err); ok {
		e.Op = op
	}
	switch {
	case err != nil, inst.State == want:
		return inst, true, err
	case inst.State != from:
		return inst, true, a.errorf(op, id, port.CodeFailedPrecondition, port.OutcomeUnchanged, "the sandbox is %s, not %s", inst.State, from)
	}
	return inst, false, nil
}

// Stop ends every process and keeps the disk. The sandbox's main process ends
// at once on the stop signal; commands get no signal of their own before they
// are killed with it. A suspended sandbox is refused: the signal could not
// reach it.
func (a *Adapter) Stop(ctx context.Context, id string) (contract.Instance, error) {
	c, err := a.inspect(ctx, "Stop", id)
	if err != nil {
		return contract.Instance{}, err
	}
	if c.State.Paused {
		return a.instance(c), a.errorf("Stop", id, port.CodeFailedPrecondition, port.OutcomeUnchanged,
			"the sandbox is suspended; resume it first")
	}
	return a.change(ctx, "Stop", id, contract.StateStopped, func(ctx context.Context) error {
		_, err := a.cli.ContainerStop(ctx, id, client.ContainerStopOptions{})
		return err
	})
}

// Start runs a stopped sandbox again with its disk. Published ports get new
// numbers at the host.
func (a *Adapter) Start(ctx context.Context, id string) (contract.Instance, error) {
	return a.change(ctx, "Start", id, contract.StateRunning, func(ctx context.Context) error {
		_, err := a.cli.ContainerStart(ctx, id, client.ContainerStartOptions{})
		return err
	})
}

// Suspend freezes every process in memory. It lasts as long as the engine's
// host runs: a reboot of the host ends it as a stop.
func (a *Adapter) Suspend(ctx context.Context, id string) (contract.Instance, error) {
	if inst, settled, err := a.before(ctx, "Suspend", id, contract.StateRunning, contract.StateSuspended); settled {
		return inst, err
	}
	return a.change(ctx, "Suspend", id, contract.StateSuspended, func(ctx context.Context) error {
		_, err := a.cli.ContainerPause(ctx, id, client.ContainerPauseOptions{})
		return err
	})
}

// Resume lets the processes of a suspended sandbox go on.
func (a *Adapter) Resume(ctx context.Context, id string) (contract.Instance, error) {
	if inst, settled, err := a.before(ctx, "Resume", id, contract.StateSuspended, contract.StateRunning); settled {
		return inst, err
	}
	return a.change(ctx, "Resume", id, contract.StateRunning, func(ctx context.Context) error {
		_, err := a.cli.ContainerUnpause(ctx, id, client.ContainerUnpauseOptions{})
		return err
	})
}

// Restart stops and starts a running sandbox in one call of the engine. One
// that is not running is refused.
func (a *Adapter) Restart(ctx context.Context, id string) (contract.Instance, error) {
	// No sandbox is in the empty state: one that runs still has to be restarted.
	if inst, settled, err := a.before(ctx, "Restart", id, contract.StateRunning, ""); settled {
		return inst, err
	}
	return a.change(ctx, "Restart", id, contract.StateRunning, func(ctx context.Context) error {
		_, err := a.cli.ContainerRestart(ctx, id, client.ContainerRestartOptions{})
		return err
	})
}
