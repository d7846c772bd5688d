//go:build unix

package reference

import (
	"context"
	"net/url"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// listing is one page.
type listing struct {
	Rows []contract.Instance `json:"rows"`
	Next string              `json:"next"`
}

// List implements contract.Lister.
func (r *Remote) List(ctx context.Context, q contract.ListRequest) ([]contract.Instance, error) {
	return wire.Drain(ctx, func(ctx context.Context, cursor string) ([]contract.Instance, string, error) {
		got, err := asked[listing](ctx, r, wire.Request{Op: "List", Effect: wire.Read, Path: []string{"v1", "List"},
			Query: url.Values{"cursor": {cursor}}}, []any{q})
		return got.Rows, got.Next, err
	}, wire.DrainOptions[contract.Instance]{Key: func(i contract.Instance) string { return i.ID }})
}

// Stop implements contract.Stopper.
func (r *Remote) Stop(ctx context.Context, id string) (contract.Instance, error) {
	return ask[contract.Instance](ctx, r, wire.Mutate, "Stop", id, id)
}

// Start implements contract.Stopper.
func (r *Remote) Start(ctx context.Context, id string) (contract.Instance, error) {
	return ask[contract.Instance](ctx, r, wire.Mutate, "Start", id, id)
}

// Restart implements contract.Restarter.
func (r *Remote) Restart(ctx context.Context, id string) (contract.Instance, error) {
	return ask[contract.Instance](ctx, r, wire.Mutate, "Restart", id, id)
}

// CreateSnapshot implements contract.Snapshotter.
func (r *Remote) CreateSnapshot(ctx context.Context, id string, q contract.SnapshotRequest) (contract.Snapshot, error) {
	return ask[contract.Snapshot](ctx, r, wire.Mutate, "CreateSnapshot", id, id, q)
}

// InspectSnapshot implements contract.Snapshotter.
func (r *Remote) InspectSnapshot(ctx context.Context, id string) (contract.Snapshot, error) {
	return ask[contract.Snapshot](ctx, r, wire.Read, "InspectSnapshot", id, id)
}

// ListSnapshots implements contract.Snapshotter.
func (r *Remote) ListSnapshots(ctx context.Context) ([]contract.Snapshot, error) {
	return ask[[]contract.Snapshot](ctx, r, wire.Read, "ListSnapshots", "")
}

// DeleteSnapshot implements contract.Snapshotter.
func (r *Remote) DeleteSnapshot(ctx context.Context, id string) (port.DestroyOutcome, error) {
	return ask[port.DestroyOutcome](ctx, r, wire.Mutate, "DeleteSnapshot", id, id)
}
