package docker

import (
	"context"
	"errors"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// Create makes a container and starts it, pulling the image as the request
// says. Where the request has no name, the container is called after the
// intent, so that a second Create of the same intent finds the first one's
// container instead of making another. An ID beside an error means that the
// container exists and Destroy is owed.
func (a *Adapter) Create(ctx context.Context, request contract.CreateRequest) (contract.Instance, error) {
	spec, err := a.createSpec(request)
	if err != nil {
		return contract.Instance{}, err
	}
	pull := request.Pull
	if request.FromSnapshot != "" {
		if _, err := a.snapshot(ctx, "Create", request.FromSnapshot); err != nil {
			return contract.Instance{}, err
		}
		pull = contract.PullPolicyNever
	}
	id, err := a.createContainer(ctx, spec, pull, request.Tags)
	if err != nil {
		return contract.Instance{}, err
	}
	return a.startNew(ctx, "Create", id)
}

// startNew starts a container that was just made and reads it. Its errors come
// with the ID.
func (a *Adapter) startNew(ctx context.Context, op, id string) (contract.Instance, error) {
	half := contract.Instance{ID: id, State: contract.StateUnknown, Isolation: contract.IsolationUnknown,
		Freshness: contract.FreshnessCached}
	port.ReportProgress(ctx, port.Progress{Phase: "start"})
	err := a.do(ctx, op, id, wire.Mutate, func(ctx context.Context) error {
		_, err := a.cli.ContainerStart(ctx, id, client.ContainerStartOptions{})
		return err
	})
	if err != nil {
		return half, exists(err)
	}
	inst, err := a.Inspect(ctx, id)
	if err != nil {
		return half, exists(err)
	}
	if inst.State != contract.StateRunning {
		return inst, a.errorf(op, id, port.CodeProvider, port.OutcomeDone,
			"the container is %s right after its start", inst.NativeState)
	}
	return inst, nil
}

// exists marks the failure of a later step: the container is there.
func exists(err error) error {
	if e, ok := errors.AsType[*port.Error](err); ok {
		e.Outcome = port.OutcomeDone
	}
	return err
}

// createContainer asks for the container first and pulls only when the engine
// misses the image, which costs nothing when it is there.
func (a *Adapter) createContainer(ctx context.Context, spec client.ContainerCreateOptions,
	policy contract.PullPolicy, tags contract.Tags) (string, error) {
	if policy == contract.PullPolicyAlways {
		if err := a.pull(ctx, spec.Config.Image); err != nil {
			return "", err
		}
	}
	id, err := a.postContainer(ctx, spec, tags)
	if cerrdefs.IsNotFound(errors.Unwrap(err)) && (policy == contract.PullPolicyMissing || policy == "") {
		if err := a.pull(ctx, spec.Config.Image); err != nil {
			return "", err
		}
		id, err = a.postContainer(ctx, spec, tags)
	}
	return id, err
}

func (a *Adapter) postContainer(ctx context.Context, spec client.ContainerCreateOptions, tags contract.Tags) (string, error) {
	port.ReportProgress(ctx, port.Progress{Phase: "create"})
	var id string
	err := a.do(ctx, "Create", "", wire.Mutate, func(ctx context.Context) error {
		made, err := a.cli.ContainerCreate(ctx, spec)
		id = made.ID
		return err
	})
	switch {
	case err == nil && id == "":
		return "", a.errorf("Create", "", port.CodeOutcomeUnknown, port.OutcomeUnknown, "the engine answered without an ID")
	case err == nil:
		return id, nil
	case spec.Name != "" && cerrdefs.IsConflict(errors.Unwrap(err)):
		return a.adopt(ctx, spec.Name, tags)
	}
	return "", err
}

// adopt takes the container that holds the name when it was made by the same
// intent: an earlier answer was lost.
func (a *Adapter) adopt(ctx context.Context, name string, tags contract.Tags) (string, error) {
	c, err := a.lookup(ctx, "Create", name)
	if err != nil {
		return "", err
	}
	if _, have := decodeLabels(c.Config.Labels); tags.Intent != "" && a.ours(c.Config.Labels, kindSandbox) &&
		have != nil && have.Intent == tags.Intent && have.Owner == tags.Owner {
		return c.ID, nil
	}
	return "", a.errorf("Create", "", port.CodeAlreadyExists, port.OutcomeUnchanged, "the name %q is taken by another container", name)
}
