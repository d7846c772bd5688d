package docker

import (
	"context"
	"errors"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// Fork commits the source to an image of its own and starts a container from
// it with the source's compute, network and published ports; the ports get new
// numbers at the host. Disk only. The source is paused while the engine
// copies. The image is reported as an intermediate, carries the request's
// tags, and goes with the fork; where no container comes of it, it is removed
// here.
func (a *Adapter) Fork(ctx context.Context, id string, request contract.ForkRequest) (contract.ForkResult, error) {
	const op = "Fork"
	var none contract.ForkResult
	switch request.Keeps {
	case contract.KeepsDisk:
	case contract.KeepsDiskAndMemory:
		return none, a.unsupported(op, string(contract.CapabilityFork), "the Engine cannot copy memory")
	default:
		return none, a.refuse(op, id, "say what the fork must keep: %q", contract.KeepsDisk)
	}
	source, err := a.inspect(ctx, op, id)
	if err != nil {
		return none, err
	}
	labels, err := a.encodeLabels(op, nil, request.Tags, marks{kind: kindSnapshot, source: id,
		base: source.Config.Labels[keyBase], fork: "1"})
	if err != nil {
		return none, err
	}
	// The user's labels are checked before anything is made.
	if _, err := a.encodeLabels(op, request.Labels, request.Tags, marks{}); err != nil {
		return none, err
	}
	image, err := a.commit(ctx, op, id, labels)
	if err != nil {
		return none, err
	}
	return a.forkFrom(ctx, image, source, request)
}

// forkFrom makes the fork's container. The image is removed on every path on
// which no container holds it.
func (a *Adapter) forkFrom(ctx context.Context, image string, source container.InspectResponse,
	request contract.ForkRequest) (contract.ForkResult, error) {
	made := contract.ForkResult{Intermediates: []contract.Intermediate{{Kind: contract.ResourceKindSnapshot, ID: image}}}
	labels, err := a.encodeLabels("Fork", request.Labels, request.Tags, marks{kind: kindSandbox, base: image})
	var fork string
	if err == nil {
		fork, err = a.createContainer(ctx, client.ContainerCreateOptions{
			Name:       containerName(request.Name, request.Tags.Intent),
			Config:     sandboxConfig(image, labels, nil, exposed(source.HostConfig.PortBindings)),
			HostConfig: forkHost(source.HostConfig),
		}, contract.PullPolicyNever, request.Tags)
	}
	if err != nil {
		if e, ok := errors.AsType[*port.Error](err); ok {
			e.Op = "Fork"
		}
		// Not by force: where the create did happen after all, the engine
		// refuses and the image stays with its container.
		cctx, cancel := a.cleanup(ctx)
		defer cancel()
		if rm := a.removeImage(cctx, "Fork", image); rm != nil && port.CodeOf(rm) != port.CodeNotFound {
			return made, errors.Join(err, rm)
		}
		return contract.ForkResult{}, err
	}
	made.Instance, err = a.startNew(ctx, "Fork", fork)
	return made, err
}

// forkHost repeats what Create can ask for, and nothing the engine filled in.
func forkHost(h *container.HostConfig) *container.HostConfig {
	out := &container.HostConfig{NetworkMode: h.NetworkMode, Runtime: h.Runtime}
	out.NanoCPUs, out.Memory = h.NanoCPUs, h.Memory
	if len(h.PortBindings) > 0 {
		out.PortBindings = network.PortMap{}
		for p, bindings := range h.PortBindings {
			for _, b := range bindings {
				out.PortBindings[p] = append(out.PortBindings[p], network.PortBinding{HostIP: b.HostIP})
			}
		}
	}
	return out
}

func exposed(bindings network.PortMap) network.PortSet {
	set := network.PortSet{}
	for p := range bindings {
		set[p] = struct{}{}
	}
	return set
}
