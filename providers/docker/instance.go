package docker

import (
	"context"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// Inspect reads one sandbox. A container that this provider did not make is
// not_found, and so is a name or a shortened ID: only the whole ID names one
// incarnation.
func (a *Adapter) Inspect(ctx context.Context, id string) (contract.Instance, error) {
	c, err := a.inspect(ctx, "Inspect", id)
	if err != nil {
		return contract.Instance{}, err
	}
	return a.instance(c), nil
}

// inspect is Inspect in the engine's words.
func (a *Adapter) inspect(ctx context.Context, op, id string) (container.InspectResponse, error) {
	if !isID(id) {
		return container.InspectResponse{}, a.absent(op, id)
	}
	c, err := a.lookup(ctx, op, id)
	if err != nil {
		return c, err
	}
	if c.ID != id || !a.ours(c.Config.Labels, kindSandbox) {
		return container.InspectResponse{}, a.absent(op, id)
	}
	a.known.Store(id, c.Config.Labels[keyBase])
	if c.State.Status != container.StateRunning {
		a.forget() // it may be on its way out, and its absence is looked for next
	}
	return c, nil
}

// lookup reads any container by ID or name. What the answer lacks of the parts
// that every engine sends is an error, so that callers may rely on them.
func (a *Adapter) lookup(ctx context.Context, op, key string) (container.InspectResponse, error) {
	var out client.ContainerInspectResult
	err := a.do(ctx, op, key, wire.Read, func(ctx context.Context) (err error) {
		out, err = a.cli.ContainerInspect(ctx, key, client.ContainerInspectOptions{})
		return err
	})
	c := out.Container
	if err == nil && (c.ID == "" || c.State == nil || c.Config == nil || c.HostConfig == nil) {
		err = a.errorf(op, key, port.CodeUnavailable, port.OutcomeUnchanged, "the engine's answer is incomplete")
	}
	return c, err
}

// mine makes sure that id is a sandbox of this provider before it is used. It
// costs a round trip the first time an ID is seen.
func (a *Adapter) mine(ctx context.Context, op, id string) error {
	if _, ok := a.known.Load(id); ok {
		return nil
	}
	_, err := a.inspect(ctx, op, id)
	return err
}

func (a *Adapter) absent(op, id string) *port.Error {
	return a.errorf(op, id, port.CodeNotFound, port.OutcomeUnchanged, "the engine has no such sandbox")
}

// isID reports whether s is a whole container ID.
func isID(s string) bool {
	if len(s) != 64 {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func (a *Adapter) instance(c container.InspectResponse) contract.Instance {
	user, tags := decodeLabels(c.Config.Labels)
	restarts := int64(c.RestartCount)
	inst := contract.Instance{
		ID: c.ID, Name: strings.TrimPrefix(c.Name, "/"), State: state(c.State.Status, c.State.Error),
		NativeState: string(c.State.Status), StatusReason: c.State.Error, CreatedAt: timestamp(c.Created),
		Labels: user, Tags: tags, Image: c.Config.Image, Resources: resources(c.HostConfig),
		WorkDir: c.Config.WorkingDir, Isolation: a.isolation(c.HostConfig.Runtime),
		Freshness: contract.FreshnessLive, Restarts: &restarts,
	}
	if inst.WorkDir == "" {
		inst.WorkDir = "/"
	}
	if inst.State == contract.StateStopped || inst.State == contract.StateFailed {
		exit := int64(c.State.ExitCode)
		inst.ExitCode = &exit
		if c.State.OOMKilled {
			inst.StatusReason = "out of memory"
		}
	}
	if inst.CreatedAt != nil {
		inst.Phases = append(inst.Phases, contract.Phase{Name: contract.PhaseNameAccepted, At: *inst.CreatedAt})
	}
	if started := timestamp(c.State.StartedAt); started != nil {
		inst.Phases = append(inst.Phases, contract.Phase{Name: contract.PhaseNameRunning, At: *started})
	}
	return inst
}

// state maps the engine's words. A container that was made and never started
// is creating until the engine says why it could not start.
func state(s container.ContainerState, failure string) contract.State {
	switch s {
	case container.StateCreated:
		if failure != "" {
			return contract.StateFailed
		}
		return contract.StateCreating
	case container.StateRunning:
		return contract.StateRunning
	case container.StatePaused:
		return contract.StateSuspended
	case container.StateRestarting:
		return contract.StateStarting
	case container.StateRemoving:
		return contract.StateStopping
	case container.StateExited:
		return contract.StateStopped
	case container.StateDead:
		return contract.StateFailed
	}
	return contract.StateUnknown
}

// isolation judges by the runtime the engine reports for this very container.
func (a *Adapter) isolation(runtime string) contract.Isolation {
	switch {
	case a.variant.Isolation != "" && runtime != "" && runtime == a.variant.Runtime:
		return a.variant.Isolation
	case runtime == "runc", runtime == "io.containerd.runc.v2":
		return contract.IsolationContainer
	case runtime == "runsc":
		return contract.IsolationUserKernel
	}
	return contract.IsolationUnknown
}

func resources(h *container.HostConfig) *contract.Resources {
	var r contract.Resources
	if h.NanoCPUs > 0 {
		cpus := float64(h.NanoCPUs) / 1e9
		r.CPUs = &cpus
	}
	if h.Memory > 0 {
		mib := h.Memory >> 20
		r.MemoryMiB = &mib
	}
	if r == (contract.Resources{}) {
		return nil
	}
	return &r
}

// timestamp reads the engine's times; the zero time means that it did not happen.
func timestamp(s string) *time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || t.IsZero() {
		return nil
	}
	return &t
}
