package mutants

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// truthMutants answer from something else than the vendor.
func truthMutants() []Mutant {
	return []Mutant{
		{Name: "destroy is lost in a restart", Seen: "a delete accepted while another change runs, and forgotten", Kills: "honesty.destroy-in-transition", Make: lostInRestart},
		{Name: "list of this process only", Seen: "a map in memory behind list()", Kills: "honesty.list-from-vendor", Make: ownList},
		{Name: "state remembered by the client", Seen: "handles that keep the status of their own last call", Kills: "honesty.status-is-live", Make: remembered},
		{Name: "early output dropped", Seen: "a stream that delivers to subscribers only", Kills: "honesty.output-without-reader", Make: plain(lateReader)},
		{Name: "create deadline becomes the life", Seen: "one timeout option for two things", Kills: "honesty.create-deadline-is-not-lifetime", Make: plain(deadlineIsLife)},
		{Name: "listed handles share a client", Seen: "list() that rebinds one mutable client", Kills: "honesty.rehydrated-handles", Make: sharedClient},
		{Name: "resume loses the last writes", Seen: "a pause that captures before the disk is flushed", Kills: "honesty.resume-keeps-writes", Make: plain(lossyResume)},
		{Name: "address of before the stop", Seen: "addresses kept at create", Kills: "honesty.address-not-cached", Make: oldAddress},
		{Name: "id means whatever is there now", Seen: "names used as ids", Kills: "honesty.incarnation-checked", Make: latestIncarnation},
		{Name: "look-up wakes what is stopped", Seen: "get() that starts what it looks at", Kills: "honesty.inspect-has-no-effect",
			Make: plain(func(t contract.Table) contract.Table {
				next, start := t.Inspect, t.Start
				t.Inspect = func(ctx context.Context, id string) (contract.Instance, error) {
					i, err := next(ctx, id)
					if err == nil && i.State == contract.StateStopped {
						_, err = start(ctx, id)
					}
					return i, err
				}
				return t
			})},
	}
}

func lostInRestart() func(contract.Table) contract.Table {
	var mu sync.Mutex
	busy := map[string]bool{}
	set := func(id string, v bool) { mu.Lock(); defer mu.Unlock(); busy[id] = v }
	return func(t contract.Table) contract.Table {
		restart, destroy := t.Restart, t.Destroy
		t.Restart = func(ctx context.Context, id string) (contract.Instance, error) {
			set(id, true) // and for ever: what was accepted in between stays lost
			timer := time.NewTimer(300 * time.Millisecond)
			defer timer.Stop()
			<-timer.C
			return restart(ctx, id)
		}
		t.Destroy = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
			mu.Lock()
			lost := busy[id]
			mu.Unlock()
			if lost {
				return port.DestroyAccepted, nil
			}
			return destroy(ctx, id)
		}
		return t
	}
}

func ownList() func(contract.Table) contract.Table {
	return func(t contract.Table) contract.Table {
		var mu sync.Mutex
		mine := map[string]bool{}
		create, list := t.Create, t.List
		t.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			i, err := create(ctx, r)
			mu.Lock()
			defer mu.Unlock()
			mine[i.ID] = true
			return i, err
		}
		t.List = func(ctx context.Context, r contract.ListRequest) ([]contract.Instance, error) {
			all, err := list(ctx, r)
			mu.Lock()
			defer mu.Unlock()
			var out []contract.Instance
			for _, i := range all {
				if mine[i.ID] {
					out = append(out, i)
				}
			}
			return out, err
		}
		return t
	}
}

// remembered keeps the state of the first look-up until this client changes it.
func remembered() func(contract.Table) contract.Table {
	return func(t contract.Table) contract.Table {
		var mu sync.Mutex
		last := map[string]contract.State{}
		inspect := t.Inspect
		t.Inspect = func(ctx context.Context, id string) (contract.Instance, error) {
			i, err := inspect(ctx, id)
			mu.Lock()
			defer mu.Unlock()
			if state, ok := last[id]; ok && err == nil {
				i.State = state
			} else if err == nil {
				last[id] = i.State
			}
			return i, err
		}
		forget := func(next func(context.Context, string) (contract.Instance, error)) func(context.Context, string) (contract.Instance, error) {
			return func(ctx context.Context, id string) (contract.Instance, error) {
				i, err := next(ctx, id)
				mu.Lock()
				defer mu.Unlock()
				delete(last, id)
				return i, err
			}
		}
		t.Stop, t.Start, t.Suspend = forget(t.Stop), forget(t.Start), forget(t.Suspend)
		t.Resume, t.Restart = forget(t.Resume), forget(t.Restart)
		return t
	}
}

// dropping gives only what comes after somebody has begun to read.
type dropping struct {
	port.Process
	mu      sync.Mutex
	reading bool
	out     *io.PipeReader
}

func (d *dropping) Stdout() io.Reader { return d }

func (d *dropping) Read(b []byte) (int, error) {
	d.mu.Lock()
	d.reading = true
	d.mu.Unlock()
	return d.out.Read(b)
}

func lateReader(t contract.Table) contract.Table {
	next := t.Stream
	t.Stream = func(ctx context.Context, id string, c contract.Command) (port.Process, error) {
		p, err := next(ctx, id, c)
		if err != nil {
			return p, err
		}
		r, w := io.Pipe()
		d := &dropping{Process: p, out: r}
		go func() {
			b := make([]byte, 4096)
			for {
				n, err := p.Stdout().Read(b)
				d.mu.Lock()
				reading := d.reading
				d.mu.Unlock()
				if reading {
					if _, werr := w.Write(b[:n]); werr != nil {
						return
					}
				}
				if err != nil {
					w.CloseWithError(err)
					return
				}
			}
		}()
		return d, nil
	}
	return t
}

func deadlineIsLife(t contract.Table) contract.Table {
	next, destroy := t.Create, t.Destroy
	t.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
		i, err := next(ctx, r)
		if err == nil {
			time.AfterFunc(9*time.Second, func() { // what the adapter waits for a create
				if _, err := destroy(context.WithoutCancel(ctx), i.ID); err != nil {
					return // it is as good as gone
				}
			})
		}
		return i, err
	}
	return t
}

// sharedClient sends commands to what was listed last.
func sharedClient() func(contract.Table) contract.Table {
	var mu sync.Mutex
	bound, known := "", map[string]bool{}
	return func(t contract.Table) contract.Table {
		list, exec := t.List, t.Exec
		t.List = func(ctx context.Context, r contract.ListRequest) ([]contract.Instance, error) {
			all, err := list(ctx, r)
			mu.Lock()
			defer mu.Unlock()
			for _, i := range all {
				bound, known[i.ID] = i.ID, true
			}
			return all, err
		}
		t.Exec = func(ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
			mu.Lock()
			if known[id] {
				id = bound
			}
			mu.Unlock()
			return exec(ctx, id, c)
		}
		return t
	}
}

func lossyResume(t contract.Table) contract.Table {
	next, exec := t.Resume, t.Exec
	t.Resume = func(ctx context.Context, id string) (contract.Instance, error) {
		i, err := next(ctx, id)
		if err != nil {
			return i, err
		}
		_, err = exec(ctx, id, contract.Command{Timeout: time.Minute,
			Script: `for f in sbxc-rounds; do if test -e "$f"; then : > "$f"; fi; done`})
		return i, err
	}
	return t
}

// oldAddress gives, after a stop, an address that nobody answers at.
func oldAddress() func(contract.Table) contract.Table {
	var mu sync.Mutex
	stopped := map[string]bool{}
	return func(t contract.Table) contract.Table {
		stop, address := t.Stop, t.PortURL
		t.Stop = func(ctx context.Context, id string) (contract.Instance, error) {
			mu.Lock()
			stopped[id] = true
			mu.Unlock()
			return stop(ctx, id)
		}
		t.PortURL = func(ctx context.Context, id string, number int) (contract.PortAccess, error) {
			access, err := address(ctx, id, number)
			mu.Lock()
			defer mu.Unlock()
			if stopped[id] && err == nil {
				access.URL = fmt.Sprintf("http://127.0.0.1:%d", 1)
			}
			return access, err
		}
		return t
	}
}

func latestIncarnation() func(contract.Table) contract.Table {
	var mu sync.Mutex
	latest := ""
	return func(t contract.Table) contract.Table {
		create, inspect, exec := t.Create, t.Inspect, t.Exec
		t.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			i, err := create(ctx, r)
			mu.Lock()
			defer mu.Unlock()
			latest = i.ID
			return i, err
		}
		t.Exec = func(ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
			if _, err := inspect(ctx, id); absent(err) {
				mu.Lock()
				id = latest
				mu.Unlock()
			}
			return exec(ctx, id, c)
		}
		return t
	}
}
