package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// grace is how long ending a command may take.
const grace = 15 * time.Second

// ending is how a command ended, with its output where that was not passed on.
type ending struct {
	known     bool // whether code is the command's
	code      int
	stdout    []byte
	stderr    []byte
	streams   contract.Streams
	truncated *bool
}

// execute runs a command with this program's standard streams, live where the
// provider streams and at the end where it does not. When ctx ends the command is
// ended, with everything it started, before execute returns.
func (a *app) execute(ctx context.Context, sb *sandbox.Sandbox, c contract.Command, input bool) (ending, error) {
	if sb.Supports(contract.CapabilityExecStream) && !a.json {
		return a.stream(ctx, sb, c, input)
	}
	return a.buffered(ctx, sb, c, input)
}

// buffered runs a command whole.
func (a *app) buffered(ctx context.Context, sb *sandbox.Sandbox, c contract.Command, input bool) (ending, error) {
	if input {
		raw, err := io.ReadAll(a.in)
		if err != nil {
			return ending{}, fmt.Errorf("reading standard input: %w", err)
		}
		c.Stdin = raw
		a.in = bytes.NewReader(raw) // for a second attempt, when the first did not run
	}
	res, err := sb.Exec(ctx, c)
	if err != nil {
		return ending{}, err
	}
	e := ending{known: true, code: int(res.ExitCode), stdout: res.Stdout, stderr: res.Stderr, streams: res.Streams, truncated: res.Truncated}
	if a.json {
		return e, nil
	}
	_, outErr := a.out.Write(res.Stdout)
	_, errErr := a.err.Write(res.Stderr)
	if res.Truncated != nil && *res.Truncated {
		errErr = join(errErr, a.note("output was cut"))
	}
	return e, join(outErr, errErr)
}

// stream runs a command with live streams.
func (a *app) stream(ctx context.Context, sb *sandbox.Sandbox, c contract.Command, input bool) (ending, error) {
	c.OpenStdin = input
	proc, err := sb.Stream(ctx, c)
	if err != nil {
		return ending{}, err
	}
	return a.attend(ctx, proc, input)
}

// attend passes on the streams of a command until it has ended.
func (a *app) attend(ctx context.Context, proc port.Process, input bool) (ending, error) {
	inputErr := make(chan error, 1)
	if input && proc.Stdin() != nil {
		go func() { inputErr <- feed(proc.Stdin(), a.in) }()
	}
	broken, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var copies sync.WaitGroup
	var lost [2]error // what a stream ended with before the command's own end
	pump := func(i int, w io.Writer, r io.Reader) {
		if r == nil {
			return
		}
		copies.Go(func() {
			to := &sink{w: w}
			_, err := io.Copy(to, r)
			switch {
			case to.err != nil:
				stop(outputError{to.err})
			case err != nil:
				lost[i] = fmt.Errorf("some of its output is lost: %w", err)
			}
		})
	}
	pump(0, a.out, proc.Stdout())
	pump(1, a.err, proc.Stderr())
	code, err := wait(broken, proc)
	whole := err == nil // then the streams have ends of their own
	if whole {
		copies.Wait()
	}
	closed := proc.Close()
	copies.Wait()
	if whole {
		err = join(lost[0], lost[1])
	}
	if cause, ok := errors.AsType[outputError](context.Cause(broken)); ok && ctx.Err() == nil {
		err = join(cause, err)
	}
	select {
	case inErr := <-inputErr:
		err = join(err, inErr)
	default: // input that nobody asked for any more
	}
	err = join(err, closed)
	return ending{known: err == nil, code: code}, err
}

// sink remembers that it could not be written to: io.Copy does not tell that from
// a read that failed.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	s.err = err
	return n, err
}

// outputError: what a command wrote could not be passed on.
type outputError struct{ err error }

func (e outputError) Error() string { return "passing on output: " + e.err.Error() }
func (e outputError) Unwrap() error { return e.err }

// wait waits for the command. When ctx ends it ends the command first.
func wait(ctx context.Context, proc port.Process) (int, error) {
	code, err := proc.Wait(ctx)
	if ctx.Err() == nil {
		return code, err
	}
	kctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if killErr := proc.Kill(kctx); killErr != nil {
		return 0, &port.Error{Code: port.CodeOutcomeUnknown, Op: "Stream", Outcome: port.OutcomeUnknown,
			Reason: "the command could not be ended", Err: killErr}
	}
	return 0, &port.Error{Code: port.CodeCanceled, Op: "Stream", Outcome: port.OutcomeUnknown, Reason: "the command was ended"}
}

// feed copies from to w and closes w. A command need not read its input; that it
// has stopped is no failure.
func feed(w io.WriteCloser, from io.Reader) error {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if _, writeErr := w.Write(buf[:n]); writeErr != nil {
				return nil
			}
		}
		if errors.Is(err, io.EOF) {
			if closeErr := w.Close(); closeErr != nil {
				return nil // it has ended
			}
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading standard input: %w", err)
		}
	}
}

// hasInput reports whether standard input may hold something: it is there and is
// not the null device.
func (a *app) hasInput() bool {
	f, ok := a.in.(*os.File)
	if !ok {
		return a.in != nil
	}
	if f == nil {
		return false
	}
	have, err := f.Stat()
	if err != nil {
		return false // closed
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(have, null)
}
