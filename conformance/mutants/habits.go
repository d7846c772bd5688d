package mutants

import (
	"context"
	"sync"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// habitMutants do what they should, and something else besides.
func habitMutants() []Mutant {
	return []Mutant{
		{Name: "time limit stops the sandbox", Seen: "one clock for the command and its box", Kills: "exec.timeout-keeps-sandbox",
			Make: plain(func(t contract.Table) contract.Table {
				next, stop := t.Exec, t.Stop
				t.Exec = func(ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
					res, err := next(ctx, id, c)
					if port.CodeOf(err) == port.CodeTimeout && ctx.Err() == nil {
						if _, stopErr := stop(ctx, id); stopErr != nil {
							return res, stopErr
						}
					}
					return res, err
				}
				return t
			})},
		{Name: "command for nothing is a conflict", Seen: "409 for a box that is gone", Kills: "exec.absent-sandbox",
			Make: onExec(func(next func(context.Context, string, contract.Command) (contract.ExecResult, error), ctx context.Context,
				id string, c contract.Command) (contract.ExecResult, error) {
				res, err := next(ctx, id, c)
				if absent(err) {
					err = &port.Error{Code: port.CodeFailedPrecondition, Op: "Exec", ID: id, Outcome: port.OutcomeUnchanged}
				}
				return res, err
			})},
		{Name: "capture of what is gone stays", Seen: "deletes that look for the parent first", Kills: "snapshot.deletable", Make: plain(orphanedCapture)},
		{Name: "resources are what was asked for", Seen: "a request echoed as what was delivered", Kills: "create.resources-as-delivered", Make: echoedResources},
		{Name: "newest sandbox is not listed", Seen: "an index that lags by one", Kills: "list.contains-created",
			Make: onList(func(_ contract.ListRequest, all []contract.Instance, err error) ([]contract.Instance, error) {
				newest := -1
				for i, row := range all {
					if newest < 0 || row.CreatedAt.After(*all[newest].CreatedAt) {
						newest = i
					}
				}
				if newest >= 0 {
					all = append(all[:newest:newest], all[newest+1:]...)
				}
				return all, err
			})},
		{Name: "created at is now", Seen: "a row's time of reading shown as its age", Kills: "must-not-fire.read-only-verbs",
			Make: onInspect(func(i *contract.Instance, err error) error {
				if err == nil {
					now := time.Now()
					i.CreatedAt = &now
				}
				return err
			})},
		{Name: "commands prolong the life", Seen: "idle clocks that move the end", Kills: "honesty.use-keeps-lifetime", Make: prolonged},
		{Name: "unused sandbox goes back to the pool", Seen: "warm pools that keep what nobody worked in", Kills: "must-fire.normal", Make: pooled(1)},
		{Name: "untouched sandbox goes back to the pool", Seen: "warm pools that keep what nobody has reached yet", Kills: "must-fire.half-created", Make: pooled(0)},
		{Name: "gone, and back", Seen: "replicas that answer in turn", Kills: "honesty.tombstone-is-gone", Make: comesBack},
		{Name: "calls at once share a target", Seen: "SDKs with one global client", Kills: "honesty.sandboxes-apart", Make: oneTarget},
		{Name: "eight commands at most", Seen: "a pool whose refusal is an error", Kills: "exec.parallel-16", Make: eightAtMost},
		{Name: "starts twice at most", Seen: "restart budgets", Kills: "honesty.start-waits-for-settled", Make: startsTwice},
	}
}

// orphanedCapture does not delete a capture whose sandbox is gone.
func orphanedCapture(t contract.Table) contract.Table {
	inspect, look, remove := t.Inspect, t.InspectSnapshot, t.DeleteSnapshot
	t.DeleteSnapshot = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
		s, err := look(ctx, id)
		if err == nil {
			if _, err := inspect(ctx, s.Source); absent(err) {
				return port.DestroyAccepted, nil
			}
		}
		return remove(ctx, id)
	}
	return t
}

func echoedResources() func(contract.Table) contract.Table {
	var mu sync.Mutex
	asked := map[string]*contract.Resources{}
	return func(t contract.Table) contract.Table {
		create, inspect := t.Create, t.Inspect
		t.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			i, err := create(ctx, r)
			mu.Lock()
			defer mu.Unlock()
			asked[i.ID] = r.Resources
			return i, err
		}
		t.Inspect = func(ctx context.Context, id string) (contract.Instance, error) {
			i, err := inspect(ctx, id)
			mu.Lock()
			defer mu.Unlock()
			i.Resources = asked[id]
			return i, err
		}
		return t
	}
}

// prolonged gives every sandbox an hour, and another one with each command.
func prolonged() func(contract.Table) contract.Table {
	var mu sync.Mutex
	ends := map[string]time.Time{}
	return func(t contract.Table) contract.Table {
		exec, inspect := t.Exec, t.Inspect
		t.Exec = func(ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
			mu.Lock()
			ends[id] = time.Now().Add(time.Hour)
			mu.Unlock()
			return exec(ctx, id, c)
		}
		t.Inspect = func(ctx context.Context, id string) (contract.Instance, error) {
			i, err := inspect(ctx, id)
			mu.Lock()
			defer mu.Unlock()
			if at, ok := ends[id]; ok && err == nil {
				i.ExpiresAt = &at
			}
			return i, err
		}
		return t
	}
}

// pooled accepts the destroy of a sandbox in which so many commands were run, and
// keeps it; one is what readiness takes.
func pooled(commands int) func() func(contract.Table) contract.Table {
	return func() func(contract.Table) contract.Table {
		var mu sync.Mutex
		used := map[string]int{}
		return func(t contract.Table) contract.Table { return keptIf(t, &mu, used, commands) }
	}
}

func keptIf(t contract.Table, mu *sync.Mutex, used map[string]int, commands int) contract.Table {
	exec, destroy := t.Exec, t.Destroy
	t.Exec = func(ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
		mu.Lock()
		used[id]++
		mu.Unlock()
		return exec(ctx, id, c)
	}
	t.Destroy = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
		mu.Lock()
		idle := used[id] == commands
		mu.Unlock()
		if idle {
			return port.DestroyAccepted, nil
		}
		return destroy(ctx, id)
	}
	return t
}

// comesBack shows a sandbox again half a second after it was gone.
func comesBack() func(contract.Table) contract.Table {
	var mu sync.Mutex
	rows, gone := map[string]contract.Instance{}, map[string]time.Time{}
	return func(t contract.Table) contract.Table {
		create, next := t.Create, t.Inspect
		t.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			i, err := create(ctx, r)
			mu.Lock()
			defer mu.Unlock()
			rows[i.ID] = i
			return i, err
		}
		t.Inspect = func(ctx context.Context, id string) (contract.Instance, error) {
			i, err := next(ctx, id)
			mu.Lock()
			defer mu.Unlock()
			row, known := rows[id]
			switch {
			case known && absent(err) && gone[id].IsZero():
				gone[id] = time.Now()
			case known && absent(err) && time.Since(gone[id]) > 500*time.Millisecond:
				return row, nil
			}
			return i, err
		}
		return t
	}
}

// oneTarget sends a command to the sandbox that was meant last.
func oneTarget() func(contract.Table) contract.Table {
	var mu sync.Mutex
	target := ""
	return func(t contract.Table) contract.Table {
		next := t.Exec
		t.Exec = func(ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
			mu.Lock()
			target = id
			mu.Unlock()
			timer := time.NewTimer(5 * time.Millisecond)
			defer timer.Stop()
			<-timer.C
			mu.Lock()
			id = target
			mu.Unlock()
			return next(ctx, id, c)
		}
		return t
	}
}

func eightAtMost() func(contract.Table) contract.Table {
	var mu sync.Mutex
	running := map[string]int{}
	return func(t contract.Table) contract.Table {
		next := t.Exec
		t.Exec = func(ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
			mu.Lock()
			running[id]++
			full := running[id] > 8
			mu.Unlock()
			defer func() { mu.Lock(); running[id]--; mu.Unlock() }()
			if full {
				return contract.ExecResult{}, &port.Error{Code: port.CodeQuotaExceeded, Op: "Exec", ID: id, Outcome: port.OutcomeUnchanged}
			}
			return next(ctx, id, c)
		}
		return t
	}
}

func startsTwice() func(contract.Table) contract.Table {
	var mu sync.Mutex
	starts := map[string]int{}
	return func(t contract.Table) contract.Table {
		next := t.Start
		t.Start = func(ctx context.Context, id string) (contract.Instance, error) {
			mu.Lock()
			starts[id]++
			n := starts[id]
			mu.Unlock()
			if n > 2 {
				return contract.Instance{ID: id, State: contract.StateRunning, Freshness: contract.FreshnessLive}, nil
			}
			return next(ctx, id)
		}
		return t
	}
}
