package mutants

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// secretMutants let secrets out, and accept keys, pages and silence that they should not.
func secretMutants() []Mutant {
	return []Mutant{
		{Name: "error quotes the environment", Seen: "errors that print the request they are about", Kills: "honesty.no-secret-in-output",
			Make: onExec(func(next func(context.Context, string, contract.Command) (contract.ExecResult, error), ctx context.Context,
				id string, c contract.Command) (contract.ExecResult, error) {
				res, err := next(ctx, id, c)
				if err != nil && len(c.Env) > 0 {
					said := ""
					for k, v := range c.Env {
						said += k + "=" + v + " "
					}
					err = &port.Error{Code: port.CodeOf(err), Op: "Exec", ID: id, Outcome: port.OutcomeOf(err), Reason: "running env " + said, Err: err}
				}
				return res, err
			})},
		{Name: "environment on the command line", Seen: "export K=V put before a command", Kills: "honesty.no-secret-in-argv",
			Make: onCommand(func(c *contract.Command) {
				if len(c.Argv) > 0 && len(c.Env) > 0 {
					exports := ""
					for k, v := range c.Env {
						exports += "export " + k + "='" + v + "'; "
					}
					c.Argv, c.Env = append([]string{"sh", "-c", exports + `"$@"; exit $?`, "sh"}, c.Argv...), nil
				}
			})},
		{Name: "excerpt is cut inside the key", Seen: "the first bytes of a request in its error", Kills: "honesty.redacted-before-cut",
			Make: onInspect(func(_ *contract.Instance, err error) error {
				if err == nil {
					return nil
				}
				const request = "GET with Bearer " + Token
				return &port.Error{Code: port.CodeOf(err), Op: "Inspect", Outcome: port.OutcomeUnchanged, Reason: request[:len(request)-5] + "...", Err: err}
			})},
		{Name: "any key will do for what was seen", Seen: "a cache before the check of the key", Kills: "honesty.wrong-key-refused", Make: cachedInspect},
		{Name: "first page only", Seen: "list() that takes what one request gives", Kills: "honesty.list-drained",
			Make: onList(func(_ contract.ListRequest, all []contract.Instance, err error) ([]contract.Instance, error) {
				return all[:min(len(all), 5)], err
			})},
		{Name: "five newest only", Seen: "a dashboard's query used as list()", Kills: "honesty.list-drained",
			Make: onList(func(_ contract.ListRequest, all []contract.Instance, err error) ([]contract.Instance, error) {
				slices.SortFunc(all, func(a, b contract.Instance) int { return b.CreatedAt.Compare(*a.CreatedAt) })
				return all[:min(len(all), 5)], err
			})},
		{Name: "silence is idleness", Seen: "idle clocks that count requests, not commands", Kills: "honesty.busy-is-not-idle", Make: idleClock},
	}
}

// cachedInspect remembers look-ups, and answers from memory when it is refused.
func cachedInspect() func(contract.Table) contract.Table {
	var mu sync.Mutex
	seen := map[string]contract.Instance{}
	return func(t contract.Table) contract.Table {
		next := t.Inspect
		t.Inspect = func(ctx context.Context, id string) (contract.Instance, error) {
			i, err := next(ctx, id)
			mu.Lock()
			defer mu.Unlock()
			if have, ok := seen[id]; ok && port.CodeOf(err) == port.CodeUnauthenticated {
				return have, nil
			}
			if err == nil {
				seen[id] = i
			}
			return i, err
		}
		return t
	}
}

// idleClock stops a sandbox that has heard nothing for a while, whatever it does.
func idleClock() func(contract.Table) contract.Table {
	var mu sync.Mutex
	last := map[string]*time.Timer{}
	return func(t contract.Table) contract.Table {
		next, stop := t.Exec, t.Stop
		t.Exec = func(ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
			mu.Lock()
			if timer := last[id]; timer != nil {
				timer.Stop()
			}
			last[id] = time.AfterFunc(6*time.Second, func() {
				if _, err := stop(context.WithoutCancel(ctx), id); err != nil {
					return // it is gone, or has stopped
				}
			})
			mu.Unlock()
			return next(ctx, id, c)
		}
		return t
	}
}
