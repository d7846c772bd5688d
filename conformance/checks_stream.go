package conformance

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

func streamChecks() map[string]proof {
	return map[string]proof{
		"exec.stream.live":               {run: inDir(streamLive), method: "Stream"},
		"exec.stream.stdin":              {run: inDir(streamStdin), method: "Stream"},
		"exec.stream.apart":              {run: inDir(streamApart), method: "Stream"},
		"exec.stream.kill-ends-children": {run: inDir(streamKill), method: "Stream"},
	}
}

// stream starts a command; its handle is closed when the check ends.
func (t *trial) stream(ctx context.Context, sb *sandbox.Sandbox, c contract.Command) (port.Process, error) {
	c.Timeout = execLimit
	p, err := sb.Stream(ctx, c)
	if err != nil {
		return nil, err
	}
	t.cleanup(func(context.Context) error { return p.Close() })
	return p, nil
}

// line reads one line within 20 seconds.
func line(r *bufio.Reader, what string) (string, error) {
	text := ""
	err := promptly(20*time.Second, what, func() (err error) {
		text, err = r.ReadString('\n')
		return err
	})
	if err != nil {
		return "", fmt.Errorf("%s: %w", what, err)
	}
	return text, nil
}

func ended(ctx context.Context, wait func(context.Context) (int, error), want int) error {
	return promptly(30*time.Second, "waiting for the exit code", func() error {
		for range 2 { // may be asked repeatedly
			code, err := wait(ctx)
			if err != nil {
				return err
			}
			if code != want {
				return fmt.Errorf("exit code %d, want %d", code, want)
			}
		}
		return nil
	})
}

// streamLive requires a line while the command waits for a file that only
// another command makes.
func streamLive(ctx context.Context, t *trial, sb *sandbox.Sandbox, dir string) error {
	p, err := t.stream(ctx, sb, contract.Command{Dir: dir,
		Script: "echo first; while ! test -e go; do sleep 1; done; echo last; exit 4"})
	if err != nil {
		return err
	}
	out := bufio.NewReader(p.Stdout())
	first, err := line(out, "the first line of a running command")
	if err != nil {
		return err
	}
	if _, err := t.exec(ctx, sb, contract.Command{Dir: dir, Script: ": > go"}); err != nil {
		return err
	}
	rest, err := io.ReadAll(out)
	if err != nil {
		return err
	}
	if err := equal("output", "first\nlast\n", first+string(rest)); err != nil {
		return err
	}
	return ended(ctx, p.Wait, 4)
}

func streamStdin(ctx context.Context, t *trial, sb *sandbox.Sandbox, dir string) error {
	p, err := t.stream(ctx, sb, contract.Command{Dir: dir, OpenStdin: true,
		Script: "while read -r x; do echo got:$x; done; echo end-of-input; exit 5"})
	if err != nil {
		return err
	}
	in, out := p.Stdin(), bufio.NewReader(p.Stdout())
	if in == nil {
		return errors.New("standard input was asked for and is nil")
	}
	for _, word := range []string{"one", "two"} {
		if _, err := io.WriteString(in, word+"\n"); err != nil {
			return err
		}
		got, err := line(out, "the answer to what was written")
		if err != nil {
			return err
		}
		if err := equal("answer", "got:"+word+"\n", got); err != nil {
			return err
		}
	}
	if err := in.Close(); err != nil {
		return err
	}
	got, err := line(out, "the answer to the end of input")
	if err != nil {
		return err
	}
	if err := equal("answer", "end-of-input\n", got); err != nil {
		return err
	}
	return ended(ctx, p.Wait, 5)
}

func streamApart(ctx context.Context, t *trial, sb *sandbox.Sandbox, dir string) error {
	p, err := t.stream(ctx, sb, contract.Command{Dir: dir, Script: "echo to-out; echo to-err >&2"})
	if err != nil {
		return err
	}
	if t.s.h.Driver.Manifest.ExecStreams == contract.StreamsMerged {
		if p.Stderr() != nil {
			return errors.New("the manifest says merged, and there is a standard error")
		}
		all, err := io.ReadAll(p.Stdout())
		if err == nil && (!strings.Contains(string(all), "to-out\n") || !strings.Contains(string(all), "to-err\n")) {
			err = fmt.Errorf("merged output is %q", all)
		}
		return err
	}
	if p.Stderr() == nil {
		return errors.New("the manifest does not say merged, and there is no standard error")
	}
	errText := make(chan []byte, 1)
	errErr := make(chan error, 1)
	go func() {
		b, err := io.ReadAll(p.Stderr())
		errText <- b
		errErr <- err
	}()
	out, err := io.ReadAll(p.Stdout())
	if err := joinErrors(err, equal("standard output", []byte("to-out\n"), out)); err != nil {
		return err
	}
	if err := joinErrors(equal("standard error", []byte("to-err\n"), <-errText), <-errErr); err != nil {
		return err
	}
	return ended(ctx, p.Wait, 0)
}

func streamKill(ctx context.Context, t *trial, sb *sandbox.Sandbox, dir string) error {
	for name, end := range map[string]func(port.Process) error{
		"kill":  func(p port.Process) error { return p.Kill(ctx) },
		"close": func(p port.Process) error { return p.Close() },
	} {
		sub := dir + "/" + name
		if _, err := t.exec(ctx, sb, contract.Command{Argv: []string{"mkdir", sub}}); err != nil {
			return err
		}
		p, err := t.stream(ctx, sb, contract.Command{Dir: sub, Script: heartbeat + "echo started; sleep 50"})
		if err != nil {
			return err
		}
		if _, err := line(bufio.NewReader(p.Stdout()), "the first line"); err != nil {
			return err
		}
		if err := t.until(ctx, 10*time.Second, func() (bool, error) {
			n, err := t.beats(ctx, sb, sub)
			return n > 0, err
		}); err != nil {
			return fmt.Errorf("waiting for the child to run: %w", err)
		}
		if err := promptly(20*time.Second, name, func() error { return end(p) }); err != nil {
			return err
		}
		if err := t.silent(ctx, sb, sub); err != nil {
			return fmt.Errorf("after %s: %w", name, err)
		}
	}
	return nil
}

func ptyChecks() map[string]proof {
	return map[string]proof{
		"pty.interactive": {run: ptyInteractive, method: "OpenPTY"},
		"pty.resize":      {run: ptyResize, method: "OpenPTY"},
		"pty.exit-code":   {run: ptyExitCode, method: "OpenPTY"},
	}
}

// terminal runs a script on a terminal of 100 by 40.
func (t *trial) terminal(ctx context.Context, script string) (port.PTY, *bufio.Reader, error) {
	sb, err := t.shared()
	if err != nil {
		return nil, nil, err
	}
	p, err := sb.OpenPTY(ctx, contract.PTYRequest{Cols: 100, Rows: 40,
		Command: contract.Command{Argv: []string{"sh", "-c", script}, Timeout: execLimit}})
	if err != nil {
		return nil, nil, err
	}
	t.cleanup(func(context.Context) error { return p.Close() })
	return p, bufio.NewReader(p), nil
}

// awaits reads lines until one holds text.
func awaits(r *bufio.Reader, text string) error {
	seen := ""
	return promptly(20*time.Second, fmt.Sprintf("waiting for %q", text), func() error {
		for {
			l, err := r.ReadString('\n')
			seen += l
			if strings.Contains(l, text) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("waiting for %q: %w; the terminal showed %s", text, err, quoteHead([]byte(seen)))
			}
		}
	})
}

func ptyInteractive(ctx context.Context, t *trial) error {
	p, out, err := t.terminal(ctx, `test -t 0 && test -t 1 && echo is-a-$((1))-terminal; read -r x; echo "answer-to-$x"; exit 0`)
	if err != nil {
		return err
	}
	if err := awaits(out, "is-a-1-terminal"); err != nil {
		return err
	}
	if _, err := io.WriteString(p, "typed\n"); err != nil {
		return err
	}
	if err := awaits(out, "answer-to-typed"); err != nil {
		return err
	}
	return ended(ctx, p.Wait, 0)
}

func ptyResize(ctx context.Context, t *trial) error {
	p, out, err := t.terminal(ctx, `echo "size:$(stty size)"; read -r x; echo "size:$(stty size)"`)
	if err != nil {
		return err
	}
	if err := awaits(out, "size:40 100"); err != nil {
		return err
	}
	if err := p.Resize(ctx, 132, 50); err != nil {
		return err
	}
	if _, err := io.WriteString(p, "\n"); err != nil {
		return err
	}
	return awaits(out, "size:50 132")
}

func ptyExitCode(ctx context.Context, t *trial) error {
	sb, err := t.shared()
	if err != nil {
		return err
	}
	dir, err := t.dir(ctx, sb)
	if err != nil {
		return err
	}
	for _, want := range []string{"bye 1", "bye 2"} { // it runs each time, and once
		p, out, err := t.terminal(ctx, "cd "+dir+" && echo x >> ran; echo bye $(wc -l < ran); exit 42")
		if err != nil {
			return err
		}
		if err := awaits(out, want); err != nil {
			return err
		}
		if err := ended(ctx, p.Wait, 42); err != nil {
			return err
		}
	}
	return exits(ctx, sb, contract.Command{Dir: dir, Script: "test $(wc -l < ran) = 2"}, 0)
}
