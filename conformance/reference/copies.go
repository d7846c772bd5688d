//go:build unix

package reference

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// CreateSnapshot implements contract.Snapshotter.
func (a *Adapter) CreateSnapshot(ctx context.Context, id string, r contract.SnapshotRequest) (contract.Snapshot, error) {
	if err := a.pause(ctx); err != nil {
		return contract.Snapshot{}, err
	}
	a.v.mu.Lock()
	defer a.v.mu.Unlock()
	b, err := a.v.get("CreateSnapshot", id)
	if err != nil {
		return contract.Snapshot{}, err
	}
	tags := r.Tags
	s := &snap{env: maps.Clone(b.env), image: b.i.Image, s: contract.Snapshot{ID: newID("snap"), Name: r.Name,
		State: contract.SnapshotStateReady, Source: id, CreatedAt: a.v.now(), Labels: maps.Clone(r.Labels), Tags: &tags,
		Freshness: contract.FreshnessLive}}
	s.dir = filepath.Join(a.v.dir, s.s.ID)
	if err := copyTree(b.dir, s.dir); err != nil {
		return contract.Snapshot{}, &port.Error{Code: port.CodeProvider, Op: "CreateSnapshot", ID: id, Outcome: port.OutcomeUnknown, Err: err}
	}
	a.v.snaps[s.s.ID] = s
	return s.s, nil
}

// InspectSnapshot implements contract.Snapshotter.
func (a *Adapter) InspectSnapshot(ctx context.Context, id string) (contract.Snapshot, error) {
	if err := a.pause(ctx); err != nil {
		return contract.Snapshot{}, err
	}
	a.v.mu.Lock()
	defer a.v.mu.Unlock()
	if s := a.v.snaps[id]; s != nil {
		return s.s, nil
	}
	return contract.Snapshot{}, fail("InspectSnapshot", id, port.CodeNotFound, "there is no such snapshot")
}

// ListSnapshots implements contract.Snapshotter.
func (a *Adapter) ListSnapshots(ctx context.Context) ([]contract.Snapshot, error) {
	if err := a.pause(ctx); err != nil {
		return nil, err
	}
	a.v.mu.Lock()
	defer a.v.mu.Unlock()
	out := []contract.Snapshot{}
	for _, id := range slices.Sorted(maps.Keys(a.v.snaps)) {
		out = append(out, a.v.snaps[id].s)
	}
	return out, nil
}

// DeleteSnapshot implements contract.Snapshotter.
func (a *Adapter) DeleteSnapshot(ctx context.Context, id string) (port.DestroyOutcome, error) {
	if err := a.pause(ctx); err != nil {
		return "", err
	}
	a.v.mu.Lock()
	defer a.v.mu.Unlock()
	s := a.v.snaps[id]
	if s == nil {
		return port.DestroyAlreadyAbsent, nil
	}
	delete(a.v.snaps, id)
	if err := removeTree(s.dir); err != nil {
		return "", &port.Error{Code: port.CodeProvider, Op: "DeleteSnapshot", ID: id, Outcome: port.OutcomeDone, Err: err}
	}
	return port.DestroyAccepted, nil
}

// Fork implements contract.Forker by a snapshot and a create.
func (a *Adapter) Fork(ctx context.Context, id string, r contract.ForkRequest) (contract.ForkResult, error) {
	if r.Keeps == contract.KeepsDiskAndMemory {
		return contract.ForkResult{}, fail("Fork", id, port.CodeUnsupported, "memory is not carried over")
	}
	s, err := a.CreateSnapshot(ctx, id, contract.SnapshotRequest{Tags: r.Tags})
	if err != nil {
		return contract.ForkResult{}, err
	}
	res := contract.ForkResult{Intermediates: []contract.Intermediate{{Kind: contract.ResourceKindSnapshot, ID: s.ID}}}
	res.Instance, err = a.Create(ctx, contract.CreateRequest{Name: r.Name, Labels: r.Labels, FromSnapshot: s.ID, Tags: r.Tags})
	return res, err
}

// PortURL implements contract.PortPublisher: a port of a sandbox is the machine's own.
func (a *Adapter) PortURL(ctx context.Context, id string, n int) (contract.PortAccess, error) {
	if err := a.pause(ctx); err != nil {
		return contract.PortAccess{}, err
	}
	a.v.mu.Lock()
	defer a.v.mu.Unlock()
	b, err := a.v.running("PortURL", id)
	if err != nil {
		return contract.PortAccess{}, err
	}
	if !slices.Contains(b.ports, int64(n)) {
		return contract.PortAccess{}, fail("PortURL", id, port.CodeFailedPrecondition, "the port is not published")
	}
	return contract.PortAccess{Port: int64(n), URL: fmt.Sprintf("http://127.0.0.1:%d", n), Audience: contract.PortAudienceAnyone}, nil
}

// Logs implements contract.LogReader. It does not follow.
func (a *Adapter) Logs(ctx context.Context, id string, r contract.LogsRequest) (port.ReadStream, error) {
	if err := a.pause(ctx); err != nil {
		return port.ReadStream{}, err
	}
	a.v.mu.Lock()
	defer a.v.mu.Unlock()
	b, err := a.v.get("Logs", id)
	if err != nil {
		return port.ReadStream{}, err
	}
	lines := b.log
	if r.Tail != nil && int(*r.Tail) < len(lines) {
		lines = lines[len(lines)-int(*r.Tail):]
	}
	text := strings.Join(lines, "\n") + "\n"
	return port.ReadStream{ReadCloser: io.NopCloser(bytes.NewReader([]byte(text))), Size: int64(len(text))}, nil
}

// Metrics implements contract.MetricsReader: the processor time of the commands
// that have ended is all that is measured.
func (a *Adapter) Metrics(ctx context.Context, id string) (contract.Metrics, error) {
	if err := a.pause(ctx); err != nil {
		return contract.Metrics{}, err
	}
	a.v.mu.Lock()
	defer a.v.mu.Unlock()
	b, err := a.v.running("Metrics", id)
	if err != nil {
		return contract.Metrics{}, err
	}
	cpu := b.cpu
	return contract.Metrics{At: time.Now().UTC(), CPUTotal: &cpu}, nil
}
