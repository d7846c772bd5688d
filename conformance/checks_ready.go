package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

func readyChecks() map[string]proof {
	return map[string]proof{
		"ready.functional":                {run: readyFunctional, method: "Exec"},
		"ready.is-bounded":                {run: readyIsBounded, method: "Exec"},
		"ready.stops-early-on-exit":       {run: readyStopsEarly, method: "Inspect"},
		"ready.transitional-is-not-ready": {run: transitionalIsNotReady, method: "Inspect"},
	}
}

func readyFunctional(ctx context.Context, t *trial) error {
	sb, err := t.shared()
	if err != nil {
		return err
	}
	if err := sb.Ready(ctx); err != nil {
		return err
	}
	out, err := t.run(ctx, sb, "echo sbx-ready-$((40 + 2))")
	if err != nil {
		return err
	}
	return equal("output", "sbx-ready-42\n", out)
}

// brokenExec opens the provider with commands that cannot be submitted.
func brokenExec(ctx context.Context, t *trial, d sandbox.Deadlines, more func(contract.Table) contract.Table) (*sandbox.Provider, error) {
	return t.open(ctx, sandbox.WithDeadlines(d), sandbox.WithTable(func(table contract.Table) contract.Table {
		table.Exec = func(context.Context, string, contract.Command) (contract.ExecResult, error) {
			return contract.ExecResult{}, &port.Error{Code: port.CodeUnavailable, Op: "Exec", Outcome: port.OutcomeUnchanged,
				Reason: "conformance: commands are switched off"}
		}
		return more(table)
	}))
}

func same(t contract.Table) contract.Table { return t }

// notReady requires that a create ended as not ready, within most, and that what
// it made is gone.
func notReady(ctx context.Context, t *trial, p *sandbox.Provider, most time.Duration) (*sandbox.NotReadyError, error) {
	began := time.Now()
	sb, err := t.attempt(ctx, p)
	if err == nil {
		return nil, fmt.Errorf("create handed out %s although no command ever ran in it", sb.ID())
	}
	took := time.Since(began)
	nr, ok := errors.AsType[*sandbox.NotReadyError](err)
	if !ok {
		return nil, fmt.Errorf("want not ready: %w", err)
	}
	if took > most {
		return nil, fmt.Errorf("it took %s to give up", took)
	}
	if t.s.canProveGone() {
		if err := t.gone(ctx, nr.Err.ID); err != nil {
			return nil, err
		}
	}
	return nr, nil
}

func readyIsBounded(ctx context.Context, t *trial) error {
	d := sandbox.Deadlines{Ready: time.Second}
	p, err := brokenExec(ctx, t, d, same)
	if err != nil {
		return err
	}
	nr, err := notReady(ctx, t, p, time.Minute+d.Ready)
	if err != nil {
		return err
	}
	if text := nr.Error(); !strings.Contains(text, "ready deadline") {
		return fmt.Errorf("the error does not name the deadline that passed: %s", text)
	}
	return nil
}

func readyStopsEarly(ctx context.Context, t *trial) error {
	var gone fault
	p, err := brokenExec(ctx, t, sandbox.Deadlines{Ready: 10 * time.Minute}, func(table contract.Table) contract.Table {
		inspect, destroy := table.Inspect, table.Destroy
		table.Inspect = func(ctx context.Context, id string) (contract.Instance, error) {
			i, err := inspect(ctx, id)
			if err == nil && gone.fires() {
				code := int64(7)
				i.State, i.ExitCode, i.Freshness, i.StatusReason = contract.StateFailed, &code, contract.FreshnessLive, "conformance: it ended"
			}
			return i, err
		}
		table.Destroy = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
			gone.stop()
			return destroy(ctx, id)
		}
		return table
	})
	if err != nil {
		return err
	}
	nr, err := notReady(ctx, t, p, 3*time.Minute)
	if err != nil {
		return err
	}
	switch d := nr.Diagnostics; {
	case d.State != contract.StateFailed || d.ExitCode == nil || *d.ExitCode != 7 || d.StatusReason == "":
		return fmt.Errorf("the diagnostics do not say what the vendor says: %+v", d)
	case port.CodeOf(nr) != port.CodeUnavailable:
		return fmt.Errorf("the first error was replaced: %w", nr)
	}
	return nil
}

func transitionalIsNotReady(ctx context.Context, t *trial) error {
	var tries fault
	p, err := t.open(ctx, sandbox.WithTable(func(table contract.Table) contract.Table {
		exec, inspect := table.Exec, table.Inspect
		table.Exec = func(ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
			tries.fires()
			if tries.times() <= 3 {
				return contract.ExecResult{}, &port.Error{Code: port.CodeFailedPrecondition, Op: "Exec",
					Outcome: port.OutcomeUnchanged, Reason: "conformance: not yet"}
			}
			return exec(ctx, id, c)
		}
		table.Inspect = func(ctx context.Context, id string) (contract.Instance, error) {
			i, err := inspect(ctx, id)
			if err == nil && tries.times() <= 3 {
				i.State = contract.StateStarting
			}
			return i, err
		}
		return table
	}))
	if err != nil {
		return err
	}
	sb, err := t.attempt(ctx, p)
	if err != nil {
		return err
	}
	if n := tries.times(); n < 4 {
		return fmt.Errorf("it was handed out after %d commands; the first 3 had failed while it was starting", n)
	}
	return t.alive(ctx, sb)
}
