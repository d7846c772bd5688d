package bench

import (
	"context"
	"sync"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// watch notes, by sandbox, when the vendor answered what the library combines
// into one call.
type watch struct {
	mu      sync.Mutex
	created map[string]time.Time     // create returned an ID
	running map[string]bool          // create's answer already said running
	destroy map[string]time.Time     // destroy was answered
	took    map[string]time.Duration // how long that destroy took
}

func (w *watch) wrap(t contract.Table) contract.Table {
	w.created, w.running = map[string]time.Time{}, map[string]bool{}
	w.destroy, w.took = map[string]time.Time{}, map[string]time.Duration{}
	create, destroy := t.Create, t.Destroy
	t.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
		i, err := create(ctx, r)
		w.mu.Lock()
		defer w.mu.Unlock()
		if err == nil {
			w.created[i.ID] = time.Now()
			w.running[i.ID] = i.State == contract.StateRunning && i.Freshness == contract.FreshnessLive
		}
		return i, err
	}
	t.Destroy = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
		began := time.Now()
		out, err := destroy(ctx, id)
		w.mu.Lock()
		defer w.mu.Unlock()
		if err == nil {
			w.destroy[id], w.took[id] = time.Now(), time.Since(began)
		}
		return out, err
	}
	return t
}

func (w *watch) createdAt(id string) (at time.Time, running bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.created[id], w.running[id]
}

func (w *watch) destroyedAt(id string) (at time.Time, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.destroy[id], w.took[id]
}
