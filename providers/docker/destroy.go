package docker

import (
	"context"
	"errors"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// Destroy removes the container in any state, its anonymous volumes and the
// image a fork made for itself. A container of somebody else is left alone and
// reported as already absent, which is what it is to this provider.
func (a *Adapter) Destroy(ctx context.Context, id string) (port.DestroyOutcome, error) {
	const op = "Destroy"
	defer a.forget()
	base, own, err := a.baseOf(ctx, op, id)
	if err != nil || !own {
		return outcome(port.DestroyAlreadyAbsent, err)
	}
	err = a.do(ctx, op, id, wire.Mutate, func(ctx context.Context) error {
		_, err := a.cli.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		return err
	})
	if cerrdefs.IsConflict(errors.Unwrap(err)) {
		err = a.beingRemoved(ctx, op, id, err)
	}
	done := port.DestroyAccepted
	if port.CodeOf(err) == port.CodeNotFound {
		done, err = port.DestroyAlreadyAbsent, nil // somebody was faster
	}
	if err != nil {
		return "", err
	}
	a.known.Delete(id)
	return outcome(done, a.dropBase(ctx, op, id, base))
}

func outcome(o port.DestroyOutcome, err error) (port.DestroyOutcome, error) {
	if err != nil {
		return "", err
	}
	return o, nil
}

// baseOf is the image that a fork made for the container, "" for none, and
// whether the container is this provider's.
func (a *Adapter) baseOf(ctx context.Context, op, id string) (base string, own bool, err error) {
	if known, ok := a.known.Load(id); ok {
		base, own = known.(string)
		return base, own, nil
	}
	c, err := a.lookupOwn(ctx, op, id)
	if err != nil || c == nil {
		return "", false, err
	}
	return c.Config.Labels[keyBase], true, nil
}

// lookupOwn reads a container of this provider; nil means that there is none.
// It asks the engine for any id, so that "absent" is always its answer.
func (a *Adapter) lookupOwn(ctx context.Context, op, id string) (*container.InspectResponse, error) {
	if id == "" {
		return nil, a.refuse(op, id, "the id is empty")
	}
	c, err := a.lookup(ctx, op, id)
	switch {
	case port.CodeOf(err) == port.CodeNotFound, port.CodeOf(err) == port.CodeInvalidArgument && !isID(id):
		a.known.Delete(id)
		return nil, nil
	case err != nil:
		return nil, err
	case c.ID != id, !a.ours(c.Config.Labels, kindSandbox):
		return nil, nil
	}
	return &c, nil
}

// beingRemoved decides a conflict: another removal under way is as good as ours.
func (a *Adapter) beingRemoved(ctx context.Context, op, id string, conflict error) error {
	c, err := a.inspect(ctx, op, id)
	if err == nil && c.State.Status != container.StateRemoving {
		return conflict
	}
	return err
}

// dropBase removes the image of a fork. An image that something else was built
// on stays until that goes: see DeleteSnapshot.
func (a *Adapter) dropBase(ctx context.Context, op, id, image string) error {
	if image == "" {
		return nil
	}
	ctx, cancel := a.cleanup(ctx)
	defer cancel()
	snap, err := a.imageOf(ctx, op, image)
	if port.CodeOf(err) == port.CodeNotFound || err == nil && snap.labels[keyFork] != "1" {
		return nil
	}
	if err == nil {
		err = a.removeImage(ctx, op, image)
	}
	switch port.CodeOf(err) {
	case port.CodeNotFound, port.CodeFailedPrecondition:
		return nil
	}
	if e, ok := errors.AsType[*port.Error](err); ok {
		e.ID, e.Outcome = id, port.OutcomeDone
		e.Reason = "the sandbox was removed; the image of its fork was not: " + image
	}
	return err
}
