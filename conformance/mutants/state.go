package mutants

import (
	"context"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// stateFunc is Stop, Start, Suspend, Resume or Restart.
type stateFunc = func(context.Context, string) (contract.Instance, error)

// swap replaces operations of a Table.
func swap(fn func(t *contract.Table)) func() func(contract.Table) contract.Table {
	return plain(func(t contract.Table) contract.Table {
		fn(&t)
		return t
	})
}

// wipe empties the sandbox's disk after an operation.
func wipe(next stateFunc, exec execFunc) stateFunc {
	return func(ctx context.Context, id string) (contract.Instance, error) {
		i, err := next(ctx, id)
		if err == nil {
			_, err = exec(ctx, id, contract.Command{Script: "rm -rf sbxc-*", Timeout: 60e9})
		}
		return i, err
	}
}

// saying answers with another state than the one reached.
func saying(inspect stateFunc, state contract.State) stateFunc {
	return func(ctx context.Context, id string) (contract.Instance, error) {
		i, err := inspect(ctx, id)
		i.State = state
		return i, err
	}
}

// strict makes a repeated call an error.
func strict(next stateFunc, inspect stateFunc, state contract.State) stateFunc {
	return func(ctx context.Context, id string) (contract.Instance, error) {
		if i, err := inspect(ctx, id); err == nil && i.State == state {
			return contract.Instance{}, &port.Error{Code: port.CodeFailedPrecondition, Op: "repeat", Outcome: port.OutcomeUnchanged}
		}
		return next(ctx, id)
	}
}

// stateMutants break stop, start, suspend, resume and restart.
func stateMutants() []Mutant {
	return []Mutant{
		{Name: "stop does nothing", Seen: "an accepted request taken for its effect", Kills: "stop.state-settles",
			Make: swap(func(t *contract.Table) { t.Stop = saying(t.Inspect, contract.StateStopped) })},
		{Name: "stop returns while stopping", Seen: "an accepted request taken for its effect", Kills: "stop.state-settles",
			Make: swap(func(t *contract.Table) {
				next := t.Stop
				t.Stop = func(ctx context.Context, id string) (contract.Instance, error) {
					i, err := next(ctx, id)
					i.State = contract.StateStopping
					return i, err
				}
			})},
		{Name: "stop twice is an error", Seen: "a 409 passed on", Kills: "stop.state-settles",
			Make: swap(func(t *contract.Table) { t.Stop = strict(t.Stop, t.Inspect, contract.StateStopped) })},
		{Name: "stop only suspends", Seen: "one pause for both", Kills: "stop.state-settles",
			Make: swap(func(t *contract.Table) { t.Stop = t.Suspend })},
		{Name: "stop loses the disk", Seen: "ephemeral roots", Kills: "stop.keeps-disk",
			Make: swap(func(t *contract.Table) { t.Start = wipe(t.Start, t.Exec) })},
		{Name: "start does nothing", Seen: "an accepted request taken for its effect", Kills: "stop.start-runs-again",
			Make: swap(func(t *contract.Table) { t.Start = saying(t.Inspect, contract.StateRunning) })},
		{Name: "start twice is an error", Seen: "a 409 passed on", Kills: "stop.start-runs-again",
			Make: swap(func(t *contract.Table) { t.Start = strict(t.Start, t.Inspect, contract.StateRunning) })},
		{Name: "start loses the environment", Seen: "settings given at create only", Kills: "honesty.start-keeps-settings", Make: swap(func(t *contract.Table) {
			started := false
			start, exec := t.Start, t.Exec
			t.Start = func(ctx context.Context, id string) (contract.Instance, error) {
				started = true
				return start(ctx, id)
			}
			t.Exec = func(ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
				if started && c.Script != "" {
					c.Script = "unset SBXC_KEPT\n" + c.Script
				}
				return exec(ctx, id, c)
			}
		})},
		{Name: "a command starts a stopped sandbox", Seen: "auto-resume on use", Kills: "stop.exec-while-stopped-refused", Make: swap(func(t *contract.Table) {
			exec := t.Exec
			t.Exec = func(ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
				r, err := exec(ctx, id, c)
				if port.CodeOf(err) == port.CodeFailedPrecondition {
					if _, err := t.Start(ctx, id); err != nil {
						return r, err
					}
					return exec(ctx, id, c)
				}
				return r, err
			}
		})},
		{Name: "a command for a stopped sandbox is unavailable", Seen: "every failure transient", Kills: "stop.exec-while-stopped-refused", Make: swap(func(t *contract.Table) {
			exec := t.Exec
			t.Exec = func(ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
				r, err := exec(ctx, id, c)
				if port.CodeOf(err) == port.CodeFailedPrecondition {
					err = &port.Error{Code: port.CodeUnavailable, Op: "Exec", Outcome: port.OutcomeUnchanged}
				}
				return r, err
			}
		})},
		{Name: "suspend only stops", Seen: "one pause for both", Kills: "suspend.keeps-processes", Make: swap(func(t *contract.Table) {
			stop, start, inspect := t.Stop, t.Start, t.Inspect
			t.Suspend = func(ctx context.Context, id string) (contract.Instance, error) {
				i, err := stop(ctx, id)
				i.State = contract.StateSuspended
				return i, err
			}
			t.Resume = start
			t.Inspect = func(ctx context.Context, id string) (contract.Instance, error) {
				i, err := inspect(ctx, id)
				if i.State == contract.StateStopped {
					i.State = contract.StateSuspended
				}
				return i, err
			}
		})},
		{Name: "resume does nothing", Seen: "an accepted request taken for its effect", Kills: "suspend.resume-continues",
			Make: swap(func(t *contract.Table) { t.Resume = saying(t.Inspect, contract.StateRunning) })},
		{Name: "resume twice is an error", Seen: "a 409 passed on", Kills: "suspend.resume-continues",
			Make: swap(func(t *contract.Table) { t.Resume = strict(t.Resume, t.Inspect, contract.StateRunning) })},
		{Name: "suspend does nothing", Seen: "an accepted request taken for its effect", Kills: "suspend.keeps-processes",
			Make: swap(func(t *contract.Table) { t.Suspend = saying(t.Inspect, contract.StateSuspended) })},
		{Name: "restart does nothing", Seen: "an accepted request taken for its effect", Kills: "restart.ends-processes",
			Make: swap(func(t *contract.Table) { t.Restart = t.Inspect })},
		{Name: "restart loses the disk", Seen: "a restart that makes the sandbox anew", Kills: "restart.keeps-disk",
			Make: swap(func(t *contract.Table) { t.Restart = wipe(t.Restart, t.Exec) })},
	}
}
