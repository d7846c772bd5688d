package conformance

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

func execTimeChecks() map[string]proof {
	return map[string]proof{
		"exec.posix-sh":               {run: posixShell, method: "Exec"},
		"exec.no-stdin-does-not-hang": {run: noStdin, method: "Exec"},
		"exec.timeout-ends-children":  {run: timeoutEndsChildren, method: "Exec"},
		"exec.timeout-is-typed":       {run: timeoutIsTyped, method: "Exec"},
		"exec.timeout-refused-if-unenforceable": {run: timeoutRefused, method: "Exec",
			needs: []string{"exec.timeout-ends-children"}},
		"exec.timeout-keeps-sandbox":          {run: timeoutKeepsSandbox, method: "Exec"},
		"exec.cancel-says-unknown":            {run: cancelSaysUnknown, method: "Exec"},
		"exec.background-child-does-not-hold": {run: backgroundChild, method: "Exec"},
	}
}

// promptly runs fn and requires that it returns within most: its context is not
// ended before, so that what hangs is seen to hang.
func promptly(most time.Duration, what string, fn func() error) error {
	answer := make(chan error, 1)
	go func() { answer <- recovered(fn) }()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case err := <-answer:
		return err
	case <-timer.C:
		return fmt.Errorf("%s has not returned after %s", what, most)
	}
}

// posixShell takes the home directory and the user's name away from commands.
func posixShell(ctx context.Context, t *trial) error {
	sb, err := t.shared()
	if err != nil {
		return err
	}
	dir, err := t.dir(ctx, sb)
	if err != nil {
		return err
	}
	const script = `set -eu; f() { printf '%s:' "$1"; }; for x in a 'b c'; do f "$x"; done; x=${y-none}; case $x in n*) echo "$x$((6 * 7))";; esac`
	for _, env := range []map[string]string{{"HOME": "/sbxc-no-such-home"}, {"HOME": ""}, {"USER": "sbxc-nobody", "LOGNAME": "sbxc-nobody", "SHELL": "/sbxc-no-such-shell"}} {
		for _, c := range []contract.Command{{Script: script}, {Argv: []string{"sh", "-c", script}}, {Script: script, Dir: dir}} {
			c.Env = env
			out, err := t.exec(ctx, sb, c)
			if err != nil {
				return fmt.Errorf("with %v: %w", env, err)
			}
			if err := equal("output", "a:b c:none42\n", out); err != nil {
				return err
			}
		}
	}
	return nil
}

func noStdin(ctx context.Context, t *trial) error {
	sb, err := t.shared()
	if err != nil {
		return err
	}
	return promptly(20*time.Second, "a command that reads input which it does not have", func() error {
		out, err := t.exec(ctx, sb, contract.Command{Script: "cat; echo done", Timeout: 15 * time.Second})
		if err != nil {
			return err
		}
		return equal("output", "done\n", out)
	})
}

// heartbeat leaves a process behind that writes to a file in dir every second.
const heartbeat = `(while :; do echo beat >> beats; sleep 1; done) & `

// beats is how often the process has written.
func (t *trial) beats(ctx context.Context, sb *sandbox.Sandbox, dir string) (int, error) {
	out, err := t.exec(ctx, sb, contract.Command{Dir: dir, Script: "cat beats 2>/dev/null | wc -l"})
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(out))
}

// silent requires that the process writes no more.
func (t *trial) silent(ctx context.Context, sb *sandbox.Sandbox, dir string) error {
	first, err := t.beats(ctx, sb, dir)
	if err != nil {
		return err
	}
	if first == 0 {
		return errors.New("the process that should have been ended never ran")
	}
	if !wait(ctx, 2500*time.Millisecond) {
		return ctx.Err()
	}
	second, err := t.beats(ctx, sb, dir)
	if err != nil {
		return err
	}
	if second != first {
		return fmt.Errorf("a process that the command started still runs: it wrote %d lines more", second-first)
	}
	return nil
}

func timeoutEndsChildren(ctx context.Context, t *trial) error {
	sb, err := t.shared()
	if err != nil {
		return err
	}
	dir, err := t.dir(ctx, sb)
	if err != nil {
		return err
	}
	err = promptly(20*time.Second, "a command with 3 seconds to live", func() error {
		_, err := sb.Exec(ctx, contract.Command{Dir: dir, Script: heartbeat + "sleep 60; echo never", Timeout: 3 * time.Second})
		return err
	})
	if err == nil {
		return errors.New("a command with 3 seconds to live ended well after 60")
	}
	if port.CodeOf(err) != port.CodeTimeout {
		return fmt.Errorf("want timeout: %w", err)
	}
	return t.silent(ctx, sb, dir)
}

func timeoutIsTyped(ctx context.Context, t *trial) error {
	sb, err := t.shared()
	if err != nil {
		return err
	}
	for _, c := range []contract.Command{{Script: "sleep 60"}, {Argv: []string{"sleep", "60"}}, {Script: "trap '' TERM; sleep 60; sleep 60"}} {
		c.Timeout = 2 * time.Second
		err := promptly(20*time.Second, "a command with 2 seconds to live", func() error {
			_, err := sb.Exec(ctx, c)
			return err
		})
		if err := wantCode(err, port.CodeTimeout, brief(c)); err != nil {
			return err
		}
	}
	return nil
}

func timeoutRefused(ctx context.Context, t *trial) error {
	sb, err := t.shared()
	if err != nil {
		return err
	}
	most := t.s.h.Driver.Manifest.ExecTimeoutCap
	if most == nil {
		return noted("no cap is declared, and a time limit was seen to be enforced")
	}
	_, err = sb.Exec(ctx, contract.Command{Script: "exit 0", Timeout: *most + time.Second})
	if err := wantCode(err, port.CodeInvalidArgument, "a time limit over the declared cap"); err != nil {
		return err
	}
	if n := t.reached("Exec"); n > 0 {
		return errors.New("the command reached the adapter")
	}
	return nil
}

func timeoutKeepsSandbox(ctx context.Context, t *trial) error {
	sb, err := t.create(ctx)
	if err != nil {
		return err
	}
	if _, err := t.run(ctx, sb, "echo before > sbxc-kept"); err != nil {
		return err
	}
	_, err = sb.Exec(ctx, contract.Command{Script: "sleep 60", Timeout: time.Second})
	if err == nil {
		return errors.New("a command with a second to live ended well after 60")
	}
	out, err := t.run(ctx, sb, "cat sbxc-kept")
	if err != nil {
		return fmt.Errorf("after a command ran out of time: %w", err)
	}
	return equal("a file from before", "before\n", out)
}

func cancelSaysUnknown(ctx context.Context, t *trial) error {
	sb, err := t.shared()
	if err != nil {
		return err
	}
	dir, err := t.dir(ctx, sb)
	if err != nil {
		return err
	}
	cctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answer := make(chan error, 1)
	go func() {
		answer <- recovered(func() error {
			_, err := sb.Exec(cctx, contract.Command{Dir: dir, Script: "echo x > started; sleep 60", Timeout: 70 * time.Second})
			return err
		})
	}()
	if err := t.until(ctx, 20*time.Second, func() (bool, error) {
		out, err := t.exec(ctx, sb, contract.Command{Dir: dir, Script: "if test -e started; then echo yes; fi"})
		return out == "yes\n", err
	}); err != nil {
		return fmt.Errorf("waiting for the command to start: %w", err)
	}
	cancel()
	err = promptly(20*time.Second, "the cancelled call", func() error { return <-answer })
	if err := wantCode(err, port.CodeCanceled, "the cancelled call"); err != nil {
		return err
	}
	if out := port.OutcomeOf(err); out != port.OutcomeUnknown && out != port.OutcomeDone {
		return fmt.Errorf("the command had started, and the error's outcome is %q: %w", out, err)
	}
	return nil
}

// until asks again and again until the answer is yes, for at most d.
func (t *trial) until(ctx context.Context, d time.Duration, ask func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for {
		ok, err := ask()
		if ok && err == nil {
			return nil
		}
		if !wait(ctx, 100*time.Millisecond) {
			return joinErrors(fmt.Errorf("not within %s", d), err)
		}
	}
}

func backgroundChild(ctx context.Context, t *trial) error {
	sb, err := t.shared()
	if err != nil {
		return err
	}
	return promptly(20*time.Second, "a command whose background process holds its output open", func() error {
		res, err := sb.Exec(ctx, contract.Command{Script: "sleep 40 & echo out; exit 3", Timeout: execLimit})
		switch {
		case err != nil:
			return err
		case res.ExitCode != 3:
			return fmt.Errorf("exit code %d, want 3", res.ExitCode)
		}
		return equal("output", []byte("out\n"), res.Stdout)
	})
}
