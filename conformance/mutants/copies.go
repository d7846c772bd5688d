package mutants

import (
	"context"

	"github.com/agentworkforce/sbx/conformance/reference"
	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// copyMutants break snapshots and forks.
func copyMutants() []Mutant {
	return []Mutant{
		{Name: "snapshot is the sandbox", Seen: "a snapshot id that is the source's", Kills: "snapshot.creates-object", Make: swap(func(t *contract.Table) {
			next := t.CreateSnapshot
			t.CreateSnapshot = func(ctx context.Context, id string, r contract.SnapshotRequest) (contract.Snapshot, error) {
				s, err := next(ctx, id, r)
				s.Source = s.ID
				return s, err
			}
			inspect := t.InspectSnapshot
			t.InspectSnapshot = func(ctx context.Context, id string) (contract.Snapshot, error) {
				s, err := inspect(ctx, id)
				s.Source = "another"
				return s, err
			}
		})},
		{Name: "snapshot not ready yet", Seen: "an accepted request taken for its effect", Kills: "snapshot.creates-object", Make: swap(func(t *contract.Table) {
			inspect := t.InspectSnapshot
			t.InspectSnapshot = func(ctx context.Context, id string) (contract.Snapshot, error) {
				s, err := inspect(ctx, id)
				s.State = contract.SnapshotStateCreating
				return s, err
			}
		})},
		{Name: "snapshot stops the source", Seen: "captures that need a stopped disk", Kills: "snapshot.source-survives", Make: swap(func(t *contract.Table) {
			next := t.CreateSnapshot
			t.CreateSnapshot = func(ctx context.Context, id string, r contract.SnapshotRequest) (contract.Snapshot, error) {
				s, err := next(ctx, id, r)
				if err == nil {
					_, err = t.Stop(ctx, id)
				}
				return s, err
			}
		})},
		{Name: "snapshot restarts the source", Seen: "captures that need a stopped disk", Kills: "snapshot.source-survives", Make: swap(func(t *contract.Table) {
			next := t.CreateSnapshot
			t.CreateSnapshot = func(ctx context.Context, id string, r contract.SnapshotRequest) (contract.Snapshot, error) {
				s, err := next(ctx, id, r)
				if err == nil {
					_, err = t.Restart(ctx, id)
				}
				return s, err
			}
		})},
		{Name: "snapshots are not listed", Seen: "a list of another kind", Kills: "snapshot.listable", Make: swap(func(t *contract.Table) {
			t.ListSnapshots = func(context.Context) ([]contract.Snapshot, error) { return nil, nil }
		})},
		{Name: "snapshot delete deletes the source", Seen: "one delete for both kinds", Kills: "snapshot.deletable", Make: swap(func(t *contract.Table) {
			inspect, del := t.InspectSnapshot, t.DeleteSnapshot
			t.DeleteSnapshot = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
				s, err := inspect(ctx, id)
				if err == nil {
					if _, err := t.Destroy(ctx, s.Source); err != nil {
						return "", err
					}
				}
				return del(ctx, id)
			}
		})},
		{Name: "snapshot delete does nothing", Seen: "swallowed errors", Kills: "snapshot.deletable", Make: swap(func(t *contract.Table) {
			t.DeleteSnapshot = func(context.Context, string) (port.DestroyOutcome, error) { return port.DestroyAccepted, nil }
		})},
		{Name: "snapshot delete deletes all", Seen: "a delete by image name", Kills: "snapshot.deletable", Make: swap(func(t *contract.Table) {
			del := t.DeleteSnapshot
			t.DeleteSnapshot = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
				all, err := t.ListSnapshots(ctx)
				if err != nil {
					return "", err
				}
				for _, s := range all {
					if s.ID == id {
						continue
					}
					if _, err := del(ctx, s.ID); err != nil {
						return "", err
					}
				}
				return del(ctx, id)
			}
		})},
		{Name: "restore ignores the snapshot", Seen: "a fall-back to the image", Kills: "snapshot.restore-makes-new",
			Make: onCreate(func(r *contract.CreateRequest) {
				if r.FromSnapshot != "" {
					r.FromSnapshot, r.Image = "", reference.Image
				}
			})},
		{Name: "restore is the source", Seen: "a restore in place", Kills: "snapshot.restore-makes-new", Make: swap(func(t *contract.Table) {
			create := t.Create
			t.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
				if r.FromSnapshot == "" {
					return create(ctx, r)
				}
				s, err := t.InspectSnapshot(ctx, r.FromSnapshot)
				if err != nil {
					return contract.Instance{}, err
				}
				return t.Inspect(ctx, s.Source)
			}
		})},
		{Name: "fork is empty", Seen: "a new sandbox called a fork", Kills: "fork.content-equal", Make: swap(func(t *contract.Table) {
			t.Fork = func(ctx context.Context, _ string, r contract.ForkRequest) (contract.ForkResult, error) {
				i, err := t.Create(ctx, contract.CreateRequest{Name: r.Name, Image: reference.Image, Tags: r.Tags})
				return contract.ForkResult{Instance: i}, err
			}
		})},
		{Name: "fork is the source", Seen: "a second handle called a fork", Kills: "fork.independent", Make: swap(func(t *contract.Table) {
			t.Fork = func(ctx context.Context, id string, r contract.ForkRequest) (contract.ForkResult, error) {
				i, err := t.Inspect(ctx, id)
				return contract.ForkResult{Instance: i}, err
			}
		})},
		{Name: "fork stops the source", Seen: "captures that need a stopped disk", Kills: "fork.source-survives", Make: swap(func(t *contract.Table) {
			fork := t.Fork
			t.Fork = func(ctx context.Context, id string, r contract.ForkRequest) (contract.ForkResult, error) {
				res, err := fork(ctx, id, r)
				if err == nil {
					_, err = t.Stop(ctx, id)
				}
				return res, err
			}
		})},
		{Name: "fork hides its snapshot", Seen: "intermediate images that nobody reports", Kills: "cleanup.counts-balance", Make: swap(func(t *contract.Table) {
			fork := t.Fork
			create := t.Create
			t.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
				i, err := create(ctx, r)
				if err == nil && r.FromSnapshot == "" {
					_, err = t.CreateSnapshot(ctx, i.ID, contract.SnapshotRequest{Tags: r.Tags})
				}
				return i, err
			}
			t.Fork = fork
		})},
		{Name: "fork's snapshot is unreported", Seen: "intermediate images that nobody reports", Kills: "fork.leaves-nothing", Make: swap(func(t *contract.Table) {
			fork := t.Fork
			t.Fork = func(ctx context.Context, id string, r contract.ForkRequest) (contract.ForkResult, error) {
				res, err := fork(ctx, id, r)
				res.Intermediates = nil
				return res, err
			}
		})},
	}
}
