package docker_test

import (
	"context"
	"testing"

	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/internal/testengine"
	"github.com/agentworkforce/sbx/port"
)

func (w *world) deleteSnapshot(id string) {
	w.t.Helper()
	_, err := w.DeleteSnapshot(context.Background(), id)
	require.NoError(w.t, err)
}

func TestSnapshot(t *testing.T) {
	w := open(t)
	ctx := t.Context()
	id := w.create(func(r *contract.CreateRequest) { r.Labels = map[string]string{"of": "source"} })
	w.output(id, "echo captured >/data")
	req := contract.SnapshotRequest{Name: "before the change", Labels: map[string]string{"l": "multi\nline \"$x\" \\"}, Tags: w.tags()}
	snap, err := w.CreateSnapshot(ctx, id, req)
	require.NoError(t, err)
	t.Cleanup(func() { w.deleteSnapshot(snap.ID) })

	// It creates an object, and the source goes on.
	require.Equal(t, contract.SnapshotStateReady, snap.State)
	require.Equal(t, req.Name, snap.Name)
	require.Equal(t, req.Labels, snap.Labels)
	require.Equal(t, req.Tags, *snap.Tags)
	require.Equal(t, id, snap.Source)
	require.Positive(t, *snap.SizeBytes)
	require.Equal(t, "captured\n", w.output(id, "cat /data; echo later >/data"))

	// It is listed and can be read.
	again, err := w.InspectSnapshot(ctx, snap.ID)
	require.NoError(t, err)
	require.Equal(t, snap, again)
	all, err := w.ListSnapshots(ctx)
	require.NoError(t, err)
	var listed *contract.Snapshot
	for i := range all {
		if all[i].ID == snap.ID {
			listed = &all[i]
		}
	}
	require.NotNil(t, listed)
	require.Equal(t, snap.Labels, listed.Labels)
	require.Equal(t, snap.Tags, listed.Tags)

	// A restore makes a new sandbox, with no mark of the snapshot or its source.
	restored := w.create(func(r *contract.CreateRequest) { r.Image, r.FromSnapshot = "", snap.ID })
	require.NotEqual(t, id, restored)
	require.Equal(t, "captured\n", w.output(restored, "cat /data"))
	inst, err := w.Inspect(ctx, restored)
	require.NoError(t, err)
	require.Empty(t, inst.Labels)
	require.NotEqual(t, snap.Tags.Intent, inst.Tags.Intent)
	require.Nil(t, inst.Tags.ReapAfter)

	// It can be deleted, when nothing uses it.
	_, err = w.DeleteSnapshot(ctx, snap.ID)
	hasCode(t, err, port.CodeFailedPrecondition)
	w.destroy(restored)
	out, err := w.DeleteSnapshot(ctx, snap.ID)
	require.NoError(t, err)
	require.Equal(t, port.DestroyAccepted, out)
	out, err = w.DeleteSnapshot(ctx, snap.ID)
	require.NoError(t, err)
	require.Equal(t, port.DestroyAlreadyAbsent, out)
	_, err = w.InspectSnapshot(ctx, snap.ID)
	hasCode(t, err, port.CodeNotFound)
	require.Empty(t, w.engine.Images(t, "sbx.owner="+w.owner))
	require.Equal(t, "later\n", w.output(id, "cat /data"))
}

func TestSnapshotsAreOursAlone(t *testing.T) {
	w := open(t)
	ctx := t.Context()
	img, err := w.engine.Client().ImageInspect(ctx, testengine.Image)
	require.NoError(t, err)
	_, err = w.InspectSnapshot(ctx, img.ID)
	hasCode(t, err, port.CodeNotFound)
	for _, id := range []string{img.ID, testengine.Image} {
		out, err := w.DeleteSnapshot(ctx, id)
		require.NoError(t, err)
		require.Equal(t, port.DestroyAlreadyAbsent, out)
	}
	_, err = w.engine.Client().ImageInspect(ctx, testengine.Image)
	require.NoError(t, err)
}

func TestFork(t *testing.T) {
	w := open(t)
	ctx := t.Context()
	cpus := 0.5
	id := w.create(func(r *contract.CreateRequest) {
		r.Env, r.Resources = map[string]string{"E": "kept"}, &contract.Resources{CPUs: &cpus}
	})
	w.output(id, "echo one >/data; sleep 777 >/dev/null 2>&1 &")
	req := contract.ForkRequest{Keeps: contract.KeepsDisk, Labels: map[string]string{"f": "1"}, Tags: w.tags()}
	made, err := w.Fork(ctx, id, req)
	require.NoError(t, err)
	fork := made.Instance.ID
	t.Cleanup(func() { w.destroy(fork) })
	require.NotEqual(t, id, fork)
	require.Equal(t, contract.StateRunning, made.Instance.State)
	require.Equal(t, req.Labels, made.Instance.Labels)
	require.Equal(t, req.Tags, *made.Instance.Tags)
	require.Equal(t, cpus, *made.Instance.Resources.CPUs)
	require.Len(t, made.Intermediates, 1)
	snap, err := w.InspectSnapshot(ctx, made.Intermediates[0].ID)
	require.NoError(t, err)
	require.Equal(t, req.Tags, *snap.Tags)

	require.Equal(t, "one kept\n", w.output(fork, `echo "$(cat /data) $E"; echo two >/data`))
	require.Equal(t, "one\n", w.output(id, "cat /data"))
	require.Contains(t, w.output(id, "ps"), "sleep 777")
	require.NotContains(t, w.output(fork, "ps"), "sleep 777")

	// The private image goes with its last user: here a snapshot of the fork.
	child, err := w.CreateSnapshot(ctx, fork, contract.SnapshotRequest{Tags: w.tags()})
	require.NoError(t, err)
	w.destroy(fork)
	require.Len(t, w.engine.Images(t, "sbx.owner="+w.owner), 2)
	out, err := w.DeleteSnapshot(ctx, child.ID)
	require.NoError(t, err)
	require.Equal(t, port.DestroyAccepted, out)
	require.Empty(t, w.engine.Images(t, "sbx.owner="+w.owner))
}

func TestForkFailuresLeaveNothing(t *testing.T) {
	w := open(t)
	ctx := t.Context()
	id := w.create(func(r *contract.CreateRequest) { r.Name = "sbx-test-" + w.owner })
	before := len(w.engine.Containers(t, "sbx.owner="+w.owner))
	for _, c := range []struct {
		code port.Code
		req  contract.ForkRequest
	}{
		{port.CodeUnsupported, contract.ForkRequest{Keeps: contract.KeepsDiskAndMemory, Tags: w.tags()}},
		{port.CodeInvalidArgument, contract.ForkRequest{Tags: w.tags()}},
		{port.CodeInvalidArgument, contract.ForkRequest{Keeps: contract.KeepsDisk}},
		{port.CodeInvalidArgument, contract.ForkRequest{Keeps: contract.KeepsDisk, Tags: w.tags(), Labels: map[string]string{"sbx.x": ""}}},
		{port.CodeInvalidArgument, contract.ForkRequest{Keeps: contract.KeepsDisk, Tags: w.tags(), Name: "bad name"}},
		{port.CodeAlreadyExists, contract.ForkRequest{Keeps: contract.KeepsDisk, Tags: w.tags(), Name: "sbx-test-" + w.owner}},
	} {
		made, err := w.Fork(ctx, id, c.req)
		hasCode(t, err, c.code)
		require.Empty(t, made.Instance.ID)
		require.Empty(t, made.Intermediates)
	}
	require.Empty(t, w.engine.Images(t, "sbx.owner="+w.owner))
	require.Len(t, w.engine.Containers(t, "sbx.owner="+w.owner), before)
	found, err := w.engine.Client().ImageList(ctx, client.ImageListOptions{Filters: client.Filters{}.Add("label", "sbx.source="+id)})
	require.NoError(t, err)
	require.Empty(t, found.Items)
}
