package docker

import (
	"context"
	"errors"
	"io"
	"math"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// defaultOutputLimit is what is kept of each stream when the request does not say.
const defaultOutputLimit = 10 << 20

// Exec runs a command to its end, with its streams apart. It runs as the
// image's user. When its time is over, or the context ends, the command and
// everything it started are killed, also what moved to a session of its own;
// what was printed until then is in the result beside the error. Processes
// left in the background by a command that ends by itself go on; while they
// hold its streams the engine waits up to two seconds before it lets go.
//
// When the streams end seconds before the command, the connection may have been
// cut: Truncated is absent then, and a reader of Stream is told
// io.ErrUnexpectedEOF. A command that closes its own streams and goes on looks
// the same.
//
// The time is kept by this process: a command outlives a caller that crashes.
func (a *Adapter) Exec(ctx context.Context, id string, cmd contract.Command) (contract.ExecResult, error) {
	if cmd.OpenStdin {
		return contract.ExecResult{}, a.refuse("Exec", id, "standard input can be kept open in Stream only")
	}
	limit := cmd.OutputLimit
	if limit == 0 {
		limit = defaultOutputLimit
	}
	stdout, stderr := wire.NewCappedBuffer(int(min(limit, math.MaxInt))), wire.NewCappedBuffer(int(min(limit, math.MaxInt)))
	c, err := a.start(ctx, id, launch{op: "Exec", command: cmd, stdin: len(cmd.Stdin) > 0, stdout: stdout, stderr: stderr})
	if err != nil {
		return contract.ExecResult{}, err
	}
	var stopped error
	select {
	case <-c.done:
	case <-ctx.Done():
		stopped = c.kill()
	}
	code, err := c.result()
	truncated := stdout.Truncated() || stderr.Truncated()
	res := contract.ExecResult{ExitCode: int64(code), Stdout: stdout.Bytes(), Stderr: stderr.Bytes(),
		Streams: contract.StreamsSeparate, Truncated: &truncated, Duration: time.Since(c.began)}
	if c.broken && !truncated {
		res.Truncated = nil // nobody can say
	}
	if ended := c.interrupted(ctx, stopped); ended != nil {
		err = ended
	}
	if err != nil {
		res.ExitCode = -1
	}
	return res, err
}

// interrupted is the error of a command that was ended because its caller's
// context did; nil while the context lives or the command was faster.
func (c *command) interrupted(ctx context.Context, killed error) error {
	if ctx.Err() == nil {
		return nil
	}
	out := port.OutcomeDone
	if killed != nil {
		out = port.OutcomeUnknown
	}
	e := c.a.errorf(c.op, c.id, port.CodeCanceled, out, "the caller gave up; the command and its children were ended")
	if port.CodeOf(wire.ContextError(ctx, c.op, out)) == port.CodeTimeout {
		e.Code, e.Reason = port.CodeTimeout, "the operation's deadline passed; the command and its children were ended"
	}
	if e.Err = ctx.Err(); killed != nil {
		e.Err, e.Reason = killed, "the operation's time is over and the command could not be ended"
	}
	return e
}

// Stream starts a command and returns its live streams. The command's timeout
// holds; the context covers the start alone. Up to 4 MiB of each stream wait
// for a slow reader, then the command waits.
func (a *Adapter) Stream(ctx context.Context, id string, cmd contract.Command) (port.Process, error) {
	p := &process{out: newPipe(), err: newPipe()}
	c, err := a.start(ctx, id, launch{op: "Stream", command: cmd, stdin: cmd.OpenStdin || len(cmd.Stdin) > 0,
		stdout: p.out, stderr: p.err, pipes: []*pipe{p.out, p.err}})
	if err != nil {
		return nil, err
	}
	p.command = c
	if cmd.OpenStdin {
		p.in = &stdin{c: c}
		if len(cmd.Stdin) > 0 {
			if _, err := p.in.Write(cmd.Stdin); err != nil {
				return nil, a.translate(ctx, "Stream", id, wire.Mutate, true, err)
			}
		}
	}
	return p, nil
}

// process is a running command with live streams.
type process struct {
	*command
	in  *stdin
	out *pipe
	err *pipe
}

// Stdin is nil when the command was started without OpenStdin.
func (p *process) Stdin() io.WriteCloser {
	if p.in == nil {
		return nil
	}
	return p.in
}

// Stdout delivers what the command prints.
func (p *process) Stdout() io.Reader { return p.out }

// Stderr delivers what the command prints as errors.
func (p *process) Stderr() io.Reader { return p.err }

// Wait returns the exit code. Where much output is unread, the command may be
// waiting for a reader.
func (p *process) Wait(ctx context.Context) (int, error) { return p.wait(ctx) }

// Kill ends the command and everything it started.
func (p *process) Kill(ctx context.Context) error { return p.stop(ctx) }

// Close ends the command when it still runs, and drops what was not read.
func (p *process) Close() error {
	return errors.Join(p.out.Close(), p.err.Close(), p.close())
}

func (c *command) wait(ctx context.Context) (int, error) {
	select {
	case <-c.done:
		return c.result()
	case <-ctx.Done():
		return 0, wire.ContextError(ctx, "Wait", port.OutcomeUnchanged)
	}
}

// stop kills the command; an ended one is left alone. One that could not be killed
// is not ended because its streams are closed.
func (c *command) stop(ctx context.Context) error {
	select {
	case <-c.done:
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.alive
	default:
	}
	killed := make(chan error, 1)
	go func() { killed <- c.kill() }()
	select {
	case err := <-killed:
		return err
	case <-ctx.Done():
		return wire.ContextError(ctx, "Kill", port.OutcomeUnknown)
	}
}

func (c *command) close() error { return c.stop(context.Background()) }

// stdin is the open standard input of a command.
type stdin struct{ c *command }

// Write fails once the command ended or the input was closed.
func (s *stdin) Write(p []byte) (int, error) { return s.c.conn.Conn.Write(p) }

// Close sends end-of-file.
func (s *stdin) Close() error { return s.c.conn.CloseWrite() }
