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

func stateChecks() map[string]proof {
	return map[string]proof{
		"stop.keeps-disk":                 {run: stopKeepsDisk, method: "Stop"},
		"stop.state-settles":              {run: stopStateSettles, method: "Stop"},
		"stop.start-runs-again":           {run: startRunsAgain, method: "Start"},
		"stop.exec-while-stopped-refused": {run: execWhileStopped, method: "Exec"},
		"suspend.keeps-processes":         {run: suspendKeepsProcesses, method: "Suspend"},
		"suspend.inspect-does-not-resume": {run: inspectDoesNotResume, method: "Inspect"},
		"suspend.resume-continues":        {run: resumeContinues, method: "Resume"},
		"restart.keeps-disk":              {run: restartKeepsDisk, method: "Restart"},
		"restart.ends-processes":          {run: restartEndsProcesses, method: "Restart"},
	}
}

// at is a script in a directory below the sandbox's own working directory. The
// path is relative, so that it means the same in a copy of the sandbox.
func at(dir, script string) contract.Command {
	return contract.Command{Script: "cd " + dir + " || exit 99\n" + script, Timeout: execLimit}
}

// marked makes a sandbox with a file in it, and names the directory to work in.
func (t *trial) marked(ctx context.Context) (sb *sandbox.Sandbox, dir string, err error) {
	if sb, err = t.create(ctx); err != nil {
		return nil, "", err
	}
	dir = "sbxc-" + t.s.nonce()
	if _, err = t.run(ctx, sb, "mkdir "+dir); err != nil {
		return nil, "", err
	}
	_, err = t.exec(ctx, sb, at(dir, "printf 'kept content' > mark; chmod 640 mark"))
	return sb, dir, err
}

// hasMark requires the file of marked.
func (t *trial) hasMark(ctx context.Context, sb *sandbox.Sandbox, dir string) error {
	out, err := t.exec(ctx, sb, at(dir, "cat mark"))
	if err != nil {
		return err
	}
	return equal("a file from before", "kept content", out)
}

// is requires a state from a look-up now.
func (t *trial) is(ctx context.Context, sb *sandbox.Sandbox, want contract.State) error {
	i, err := t.s.table().Inspect(ctx, sb.ID())
	switch {
	case err != nil:
		return err
	case i.State != want:
		return fmt.Errorf("the look-up says %s, want %s", i.State, want)
	case i.Freshness != contract.FreshnessLive:
		return fmt.Errorf("the look-up's answer is %s, not read from the vendor now", i.Freshness)
	}
	return nil
}

func stopKeepsDisk(ctx context.Context, t *trial) error {
	sb, dir, err := t.marked(ctx)
	if err != nil {
		return err
	}
	if _, err := sb.Stop(ctx); err != nil {
		return err
	}
	if _, err := sb.Start(ctx); err != nil {
		return err
	}
	return t.hasMark(ctx, sb, dir)
}

func stopStateSettles(ctx context.Context, t *trial) error {
	sb, err := t.create(ctx)
	if err != nil {
		return err
	}
	for range 2 { // already stopped is not an error
		i, err := sb.Stop(ctx)
		if err != nil {
			return err
		}
		if i.State != contract.StateStopped {
			return fmt.Errorf("stop returned state %s", i.State)
		}
		if err := t.is(ctx, sb, contract.StateStopped); err != nil {
			return err
		}
	}
	if _, err := sb.Start(ctx); err != nil {
		return err
	}
	if _, err := sb.Stop(ctx); err != nil {
		return fmt.Errorf("stopping a second time: %w", err)
	}
	return t.is(ctx, sb, contract.StateStopped)
}

func startRunsAgain(ctx context.Context, t *trial) error {
	sb, err := t.create(ctx)
	if err != nil {
		return err
	}
	if _, err := sb.Stop(ctx); err != nil {
		return err
	}
	for range 2 { // already running is not an error
		i, err := sb.Start(ctx)
		if err != nil {
			return err
		}
		if i.State != contract.StateRunning {
			return fmt.Errorf("start returned state %s", i.State)
		}
		if err := joinErrors(t.alive(ctx, sb), t.is(ctx, sb, contract.StateRunning)); err != nil {
			return err
		}
	}
	return nil
}

func execWhileStopped(ctx context.Context, t *trial) error {
	sb, dir, err := t.marked(ctx)
	if err != nil {
		return err
	}
	if _, err := sb.Stop(ctx); err != nil {
		return err
	}
	_, err = sb.Exec(ctx, at(dir, "echo ran > ran"))
	if err := wantCode(err, port.CodeFailedPrecondition, "a command for a stopped sandbox"); err != nil {
		return err
	}
	if err := t.is(ctx, sb, contract.StateStopped); err != nil {
		return fmt.Errorf("after a command was refused: %w", err)
	}
	if _, err := sb.Start(ctx); err != nil {
		return err
	}
	return exits(ctx, sb, at(dir, "test -e ran"), 1)
}

// counting starts a process that counts in memory and writes the number down.
func (t *trial) counting(ctx context.Context, sb *sandbox.Sandbox, dir string) error {
	const script = `(n=1000; while :; do echo $n > count.new; mv count.new count; n=$((n + 1)); sleep 1; done) > /dev/null 2>&1 < /dev/null & echo started`
	if _, err := t.exec(ctx, sb, at(dir, script)); err != nil {
		return err
	}
	if err := t.until(ctx, 15*time.Second, func() (bool, error) {
		n, err := t.counted(ctx, sb, dir)
		return n > 1000, err
	}); err != nil {
		return unknown(NotAttempted, "processes do not outlive the command that started them: %v", err)
	}
	return nil
}

func (t *trial) counted(ctx context.Context, sb *sandbox.Sandbox, dir string) (int, error) {
	out, err := t.exec(ctx, sb, at(dir, "cat count 2>/dev/null || echo 0"))
	if err != nil {
		return 0, err
	}
	n := 0
	_, err = fmt.Sscan(strings.TrimSpace(out), &n)
	return n, err
}

// goesOn requires that the process still counts, from where it was.
func (t *trial) goesOn(ctx context.Context, sb *sandbox.Sandbox, dir string) error {
	before, err := t.counted(ctx, sb, dir)
	if err != nil {
		return err
	}
	if before < 1000 {
		return fmt.Errorf("the process counts %d: it began anew or its memory is lost", before)
	}
	return t.until(ctx, 15*time.Second, func() (bool, error) {
		now, err := t.counted(ctx, sb, dir)
		return now > before, err
	})
}

func (t *trial) suspended(ctx context.Context) (sb *sandbox.Sandbox, dir string, err error) {
	if sb, dir, err = t.marked(ctx); err != nil {
		return nil, "", err
	}
	if err := t.counting(ctx, sb, dir); err != nil {
		return nil, "", err
	}
	for range 2 { // already suspended is not an error
		i, err := sb.Suspend(ctx)
		if err != nil {
			return nil, "", err
		}
		if i.State != contract.StateSuspended {
			return nil, "", fmt.Errorf("suspend returned state %s", i.State)
		}
	}
	return sb, dir, t.is(ctx, sb, contract.StateSuspended)
}

func suspendKeepsProcesses(ctx context.Context, t *trial) error {
	sb, dir, err := t.suspended(ctx)
	if err != nil {
		return err
	}
	if _, err := sb.Resume(ctx); err != nil {
		return err
	}
	return joinErrors(t.goesOn(ctx, sb, dir), t.hasMark(ctx, sb, dir))
}

func inspectDoesNotResume(ctx context.Context, t *trial) error {
	sb, _, err := t.suspended(ctx)
	if err != nil {
		return err
	}
	for range 3 {
		if err := t.is(ctx, sb, contract.StateSuspended); err != nil {
			return err
		}
		if _, err := t.s.p.Attach(ctx, sb.ID()); err != nil {
			return err
		}
		if !t.s.callable(contract.CapabilityList) {
			continue
		}
		row, ok, err := t.listed(ctx, contract.ListRequest{}, sb.ID())
		if err != nil || !ok {
			return joinErrors(err, errors.New("a suspended sandbox is not in the listing"))
		}
		if row.State != contract.StateSuspended {
			return fmt.Errorf("the listing says %s", row.State)
		}
	}
	return t.is(ctx, sb, contract.StateSuspended)
}

func resumeContinues(ctx context.Context, t *trial) error {
	sb, _, err := t.suspended(ctx)
	if err != nil {
		return err
	}
	for range 2 { // already running is not an error
		i, err := sb.Resume(ctx)
		if err != nil {
			return err
		}
		if i.State != contract.StateRunning {
			return fmt.Errorf("resume returned state %s", i.State)
		}
		if err := joinErrors(t.alive(ctx, sb), t.is(ctx, sb, contract.StateRunning)); err != nil {
			return err
		}
	}
	if _, err := sb.Suspend(ctx); err != nil {
		return fmt.Errorf("suspending a second time: %w", err)
	}
	if err := t.is(ctx, sb, contract.StateSuspended); err != nil {
		return err
	}
	return second(sb.Resume(ctx))
}

func restartKeepsDisk(ctx context.Context, t *trial) error {
	sb, dir, err := t.marked(ctx)
	if err != nil {
		return err
	}
	i, err := sb.Restart(ctx)
	if err != nil {
		return err
	}
	if i.State != contract.StateRunning {
		return fmt.Errorf("restart returned state %s", i.State)
	}
	return t.hasMark(ctx, sb, dir)
}

func restartEndsProcesses(ctx context.Context, t *trial) error {
	sb, dir, err := t.marked(ctx)
	if err != nil {
		return err
	}
	if err := t.counting(ctx, sb, dir); err != nil {
		return err
	}
	if _, err := sb.Restart(ctx); err != nil {
		return err
	}
	before, err := t.counted(ctx, sb, dir)
	if err != nil {
		return err
	}
	if !wait(ctx, 2500*time.Millisecond) {
		return ctx.Err()
	}
	after, err := t.counted(ctx, sb, dir)
	if err == nil && after != before {
		err = fmt.Errorf("a process from before the restart still runs: it counted from %d to %d", before, after)
	}
	return err
}
