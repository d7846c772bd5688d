package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/agentworkforce/sbx/conformance/faults"
	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// Checks here lose answers and break connections, and see what the caller is told.

// cut runs a command that leaves one line in a file each time it is run, breaks
// its connection, and returns what the caller was told.
func (b *between) cut(ctx context.Context, run func(contract.Command) error) (told error, err error) {
	c := contract.Command{Script: "echo x >> sbxc-ran; echo part; sleep 8; echo rest; exit 7", Timeout: execLimit}
	answer := make(chan error, 1)
	go func() { answer <- recovered(func() error { return run(c) }) }()
	if err := b.until(ctx, 20*time.Second, func() (bool, error) {
		out, err := b.run(ctx, b.sb, "cat sbxc-ran 2> /dev/null || true")
		return out != "", err
	}); err != nil {
		return nil, fmt.Errorf("waiting for the command to start: %w", err)
	}
	if !wait(ctx, 300*time.Millisecond) { // until the first line has arrived too
		return nil, ctx.Err()
	}
	if err := b.proxy.Break(); err != nil {
		return nil, err
	}
	err = promptly(40*time.Second, "a command whose connection was cut", func() error { told = <-answer; return nil })
	return told, err
}

// ranOnce requires that the command was not sent again.
func (b *between) ranOnce(ctx context.Context) error {
	out, err := b.run(ctx, b.sb, "cat sbxc-ran")
	return joinErrors(err, equal("the line that the command leaves each time", "x\n", out))
}

func execCutIsUnknown(ctx context.Context, b *between) error {
	var res contract.ExecResult
	told, err := b.cut(ctx, func(c contract.Command) (err error) {
		res, err = b.table.Exec(ctx, b.sb.ID(), c)
		return err
	})
	switch {
	case err != nil:
		return err
	case told == nil && (res.ExitCode != 7 || res.Truncated != nil && !*res.Truncated && string(res.Stdout) != "part\nrest\n"):
		return fmt.Errorf("a command whose connection was cut gave exit code %d and, as if whole, %q", res.ExitCode, res.Stdout)
	case told == nil: // the vendor was asked afterwards, and nobody says that the output is whole
		return b.ranOnce(ctx)
	case port.OutcomeOf(told) == port.OutcomeUnchanged:
		return fmt.Errorf("a command that had started: the error says that nothing was changed: %w", told)
	}
	return b.ranOnce(ctx)
}

func streamNeedsEnd(ctx context.Context, b *between) error {
	var out []byte
	told, err := b.cut(ctx, func(c contract.Command) error {
		if b.table.Stream == nil {
			res, err := b.table.Exec(ctx, b.sb.ID(), c)
			out = res.Stdout
			if err == nil && (res.Truncated == nil || *res.Truncated) {
				err = errors.New("the output is not called whole")
			}
			return err
		}
		p, err := b.table.Stream(ctx, b.sb.ID(), c)
		if err != nil {
			return err
		}
		var readErr, waitErr error
		out, readErr = io.ReadAll(p.Stdout())
		if readErr == nil {
			_, waitErr = p.Wait(ctx)
		}
		b.proxy.Set(faults.Fault{})
		return errors.Join(readErr, waitErr, p.Close())
	})
	switch {
	case err != nil:
		return err
	case told == nil:
		return fmt.Errorf("output that broke off after %q was reported as complete", out)
	}
	return equal("the output so far", "part\n", string(out))
}

// createNotResent loses the answers to a create, and counts what came of it.
func createNotResent(ctx context.Context, b *between) error {
	p, err := b.open(ctx, b.s.h.Endpoint.Through(b.proxy.Address()), sandbox.WithDeadlines(quick()))
	if err != nil {
		return err
	}
	b.proxy.Set(faults.Fault{Only: changing, Lose: true})
	sb, createErr := p.Create(ctx, append(b.s.h.Create[:len(b.s.h.Create):len(b.s.h.Create)], sandbox.SkipReady())...)
	spoiled := b.proxy.Spoiled()
	b.proxy.Set(faults.Fault{})
	if sb != nil && createErr == nil {
		b.destroyLater(sb)
	}
	request, ok := b.createRequest()
	if !ok || spoiled == 0 {
		return unknown(NotAttempted, "no answer to a create could be lost")
	}
	if !b.s.callable(contract.CapabilityList) || !b.s.storesMarks() {
		return unknown(NotAttempted, "without a listing by marks nobody can count what came of it")
	}
	found := 0
	err = settles(ctx, func() error {
		all, err := b.s.table().List(ctx, contract.ListRequest{Tags: &request.Tags})
		if err != nil {
			return err
		}
		found = len(all)
		if createErr != nil && found > 0 {
			if err := b.settle(ctx, p); err != nil {
				return err
			}
			return fmt.Errorf("%d sandboxes of a create that failed are left, after a sweep too", found)
		}
		return nil
	})
	if found > 1 {
		return fmt.Errorf("one create whose answer was lost made %d sandboxes", found)
	}
	return err
}

// settle lets the reaper of the run find what it lost.
func (b *between) settle(ctx context.Context, p *sandbox.Provider) error {
	b.s.reaping.Lock()
	defer b.s.reaping.Unlock()
	return second(p.Reap(ctx, true))
}

func mutationNotResent(ctx context.Context, b *between) error {
	err := b.under(faults.Fault{Only: changing, Lose: true}, func() error {
		_, err := b.table.Exec(ctx, b.sb.ID(), contract.Command{Script: "echo x >> sbxc-ran", Timeout: execLimit})
		if err == nil {
			return errors.New("a command whose answers were lost succeeded")
		}
		for _, r := range twice(b.proxy.Seen()) {
			return fmt.Errorf("%s %s was sent more than once", r.Method, r.Path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	out, err := b.run(ctx, b.sb, "cat sbxc-ran 2> /dev/null || true")
	if err == nil && out != "" && out != "x\n" {
		err = fmt.Errorf("the command ran more than once: %q", out)
	}
	return err
}

// twice are the spoiled requests that came more than once.
func twice(all []faults.Request) []faults.Request {
	seen := map[faults.Request]int{}
	var out []faults.Request
	for _, r := range all {
		if seen[r]++; r.Spoiled && seen[r] == 2 {
			out = append(out, r)
		}
	}
	return out
}

// outcomeUnknown loses the answers to changes of state and to a command.
func outcomeUnknown(ctx context.Context, b *between) error {
	calls := map[string]func() error{
		"Exec": func() error {
			return second(b.table.Exec(ctx, b.sb.ID(), contract.Command{Script: ": > sbxc-did", Timeout: execLimit}))
		},
		"Stop":           func() error { return second(b.table.Stop(ctx, b.sb.ID())) },
		"CreateSnapshot": func() error { return b.capture(ctx) },
	}
	for _, op := range []string{"CreateSnapshot", "Exec", "Stop"} {
		if op == "Stop" && !b.s.callable(contract.CapabilityStop) || op == "CreateSnapshot" && !b.s.callable(contract.CapabilitySnapshot) {
			continue
		}
		var outcome port.Outcome
		err := b.under(faults.Fault{Only: changing, Lose: true}, func() error {
			err := calls[op]()
			if err == nil && op == "Stop" {
				return b.is(ctx, b.sb, contract.StateStopped) // it looked, and told the truth
			}
			if err == nil {
				return fmt.Errorf("%s succeeded although its answer was lost", op)
			}
			outcome = port.OutcomeOf(err)
			if outcome != port.OutcomeUnknown && (op != "Exec" || outcome != port.OutcomeUnchanged) {
				return fmt.Errorf("%s: the answer was lost, and the outcome is %q: %w", op, outcome, err)
			}
			return nil
		})
		if err == nil && outcome == port.OutcomeUnchanged { // only the first of several requests was lost: see whether it is true
			_, err = b.run(ctx, b.sb, "! test -e sbxc-did")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// capture loses the answer to a snapshot and deletes what came of it.
func (b *between) capture(ctx context.Context) error {
	request, _ := b.createRequest()
	label := map[string]string{"sbxc": "lost-" + b.s.nonce()}
	_, err := b.table.CreateSnapshot(ctx, b.sb.ID(), contract.SnapshotRequest{Labels: label, Tags: request.Tags})
	b.cleanup(func(ctx context.Context) error {
		all, err := b.s.table().ListSnapshots(ctx)
		for _, s := range all {
			if s.Source == b.sb.ID() || s.Labels["sbxc"] == label["sbxc"] {
				err = joinErrors(err, second(b.s.table().DeleteSnapshot(ctx, s.ID)))
			}
		}
		return err
	})
	return err
}
