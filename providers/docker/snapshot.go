package docker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// snapshotRepository names the images of snapshots. A name keeps them from
// being pruned as dangling; they are addressed by ID alone.
const snapshotRepository = "sbx-snapshot"

// imageFacts is what is known of an image of ours.
type imageFacts struct {
	id      string
	labels  map[string]string
	created *time.Time
	size    int64
}

// CreateSnapshot commits the container's root file system to an image. The
// engine pauses the container while it copies. Volumes, memory and other
// mounts are not in it; the environment the sandbox was created with is.
func (a *Adapter) CreateSnapshot(ctx context.Context, id string, request contract.SnapshotRequest) (contract.Snapshot, error) {
	const op = "CreateSnapshot"
	c, err := a.inspect(ctx, op, id)
	if err != nil {
		return contract.Snapshot{}, err
	}
	labels, err := a.encodeLabels(op, request.Labels, request.Tags,
		marks{kind: kindSnapshot, name: request.Name, source: id, base: c.Config.Labels[keyBase]})
	if err != nil {
		return contract.Snapshot{}, err
	}
	image, err := a.commit(ctx, op, id, labels)
	if err != nil {
		return contract.Snapshot{}, err
	}
	snap, err := a.snapshot(ctx, op, image)
	if err != nil {
		return contract.Snapshot{ID: image, State: contract.SnapshotStateUnknown, Freshness: contract.FreshnessCached}, exists(err)
	}
	return snap, nil
}

// commit makes an image of a container. The engine completes the given
// configuration with the container's own; of two labels the given one stays.
func (a *Adapter) commit(ctx context.Context, op, id string, labels map[string]string) (string, error) {
	tag := make([]byte, 8)
	if _, err := rand.Read(tag); err != nil {
		return "", a.errorf(op, id, port.CodeProvider, port.OutcomeUnchanged, "no randomness for a name")
	}
	port.ReportProgress(ctx, port.Progress{Phase: "commit"})
	var image string
	err := a.do(ctx, op, id, wire.Mutate, func(ctx context.Context) error {
		made, err := a.cli.ContainerCommit(ctx, id, client.ContainerCommitOptions{
			Reference: snapshotRepository + ":" + hex.EncodeToString(tag), Config: &container.Config{Labels: labels}})
		image = made.ID
		return err
	})
	if err == nil && !isImageID(image) {
		err = a.errorf(op, id, port.CodeOutcomeUnknown, port.OutcomeUnknown, "the engine answered without an image ID")
	}
	return image, err
}

// InspectSnapshot reads one snapshot of this provider by its image ID.
func (a *Adapter) InspectSnapshot(ctx context.Context, snapshot string) (contract.Snapshot, error) {
	return a.snapshot(ctx, "InspectSnapshot", snapshot)
}

func (a *Adapter) snapshot(ctx context.Context, op, image string) (contract.Snapshot, error) {
	f, err := a.imageOf(ctx, op, image)
	if err != nil {
		return contract.Snapshot{}, err
	}
	return f.snapshot(), nil
}

// imageOf reads an image of this provider.
func (a *Adapter) imageOf(ctx context.Context, op, image string) (imageFacts, error) {
	absent := a.errorf(op, image, port.CodeNotFound, port.OutcomeUnchanged, "the engine has no such snapshot")
	if !isImageID(image) {
		return imageFacts{}, absent
	}
	var out client.ImageInspectResult
	err := a.do(ctx, op, image, wire.Read, func(ctx context.Context) (err error) {
		out, err = a.cli.ImageInspect(ctx, image)
		return err
	})
	if err != nil {
		return imageFacts{}, err
	}
	if out.ID != image || out.Config == nil || !a.ours(out.Config.Labels, kindSnapshot) {
		return imageFacts{}, absent
	}
	return imageFacts{id: out.ID, labels: out.Config.Labels, created: timestamp(out.Created), size: out.Size}, nil
}

func (f imageFacts) snapshot() contract.Snapshot {
	user, tags := decodeLabels(f.labels)
	s := contract.Snapshot{ID: f.id, Name: f.labels[keyName], State: contract.SnapshotStateReady,
		Source: f.labels[keySource], CreatedAt: f.created, Labels: user, Tags: tags, Freshness: contract.FreshnessLive}
	if f.size > 0 {
		s.SizeBytes = &f.size
	}
	return s
}

// ListSnapshots returns every image this provider made, the ones of forks
// included: their reaper finds them here.
func (a *Adapter) ListSnapshots(ctx context.Context) ([]contract.Snapshot, error) {
	var found client.ImageListResult
	err := a.do(ctx, "ListSnapshots", "", wire.Read, func(ctx context.Context) (err error) {
		found, err = a.cli.ImageList(ctx, client.ImageListOptions{Filters: client.Filters{}.Add("label",
			keyProvider+"="+a.variant.ProviderID, keyKind+"="+kindSnapshot)})
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([]contract.Snapshot, 0, len(found.Items))
	for _, i := range found.Items {
		if !isImageID(i.ID) {
			return nil, a.errorf("ListSnapshots", "", port.CodeUnavailable, port.OutcomeUnchanged, "the engine listed an image without an ID")
		}
		if !a.ours(i.Labels, kindSnapshot) {
			continue
		}
		created := time.Unix(i.Created, 0).UTC()
		out = append(out, imageFacts{id: i.ID, labels: i.Labels, created: &created, size: i.Size}.snapshot())
	}
	return out, nil
}

// DeleteSnapshot removes the image. One that a sandbox or another snapshot is
// built on is failed_precondition. The private image of a fork that only this
// snapshot still kept goes with it.
func (a *Adapter) DeleteSnapshot(ctx context.Context, snapshot string) (port.DestroyOutcome, error) {
	const op = "DeleteSnapshot"
	defer a.forget()
	f, err := a.imageOf(ctx, op, snapshot)
	if err == nil {
		err = a.removeImage(ctx, op, snapshot)
	}
	if port.CodeOf(err) == port.CodeNotFound {
		return port.DestroyAlreadyAbsent, nil
	}
	if err == nil {
		err = a.dropBase(ctx, op, snapshot, f.labels[keyBase])
	}
	return outcome(port.DestroyAccepted, err)
}

// removeImage removes one image and nothing it was built on, never by force.
func (a *Adapter) removeImage(ctx context.Context, op, image string) error {
	return a.do(ctx, op, image, wire.Mutate, func(ctx context.Context) error {
		_, err := a.cli.ImageRemove(ctx, image, client.ImageRemoveOptions{})
		return err
	})
}

// isImageID reports whether s is a whole image ID.
func isImageID(s string) bool {
	digest, ok := strings.CutPrefix(s, "sha256:")
	return ok && isID(digest)
}
