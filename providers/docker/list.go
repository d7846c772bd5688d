package docker

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// List returns this provider's containers in every state, in one answer of the
// engine: it has no pages. The engine filters by label and the answer is
// checked again here. Exit code, restarts and resources are in Inspect only.
func (a *Adapter) List(ctx context.Context, request contract.ListRequest) ([]contract.Instance, error) {
	want := []string{keyProvider + "=" + a.variant.ProviderID, keyKind + "=" + kindSandbox}
	for k, v := range request.Labels {
		want = append(want, k+"="+v)
	}
	if t := request.Tags; t != nil {
		for k, v := range map[string]string{wire.KeyOwner: t.Owner, wire.KeyRun: t.Run, wire.KeyIntent: t.Intent} {
			if v != "" {
				want = append(want, k+"="+v)
			}
		}
	}
	var found client.ContainerListResult
	err := a.do(ctx, "List", "", wire.Read, func(ctx context.Context) (err error) {
		found, err = a.cli.ContainerList(ctx, client.ContainerListOptions{
			All: true, Filters: client.Filters{}.Add("label", want...)})
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([]contract.Instance, 0, len(found.Items))
	for _, c := range found.Items {
		if c.ID == "" {
			return nil, a.errorf("List", "", port.CodeUnavailable, port.OutcomeUnchanged, "the engine listed a container without an ID")
		}
		if !a.ours(c.Labels, kindSandbox) {
			continue
		}
		inst := a.summary(c)
		if wire.MatchLabels(inst.Labels, request.Labels) && matchTags(inst.Tags, request.Tags) &&
			(len(request.States) == 0 || slices.Contains(request.States, inst.State)) {
			out = append(out, inst)
		}
	}
	return out, nil
}

func (a *Adapter) summary(c container.Summary) contract.Instance {
	user, tags := decodeLabels(c.Labels)
	inst := contract.Instance{ID: c.ID, State: state(c.State, ""), NativeState: string(c.State),
		Labels: user, Tags: tags, Image: c.Image, Isolation: contract.IsolationUnknown, Freshness: contract.FreshnessLive}
	if len(c.Names) > 0 {
		inst.Name = strings.TrimPrefix(c.Names[0], "/")
	}
	if c.Created > 0 {
		at := time.Unix(c.Created, 0).UTC()
		inst.CreatedAt = &at
	}
	// A listing does not carry the runtime; a variant always sets its own.
	if a.variant.Runtime != "" && a.cfg.Runtime == a.variant.Runtime {
		inst.Isolation = a.isolation(a.variant.Runtime)
	}
	return inst
}
