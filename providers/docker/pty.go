package docker

import (
	"context"
	"errors"
	"maps"

	"github.com/moby/moby/client"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// OpenPTY runs a command on a terminal. It has the asked-for size before the
// command starts where the image has stty, right after it otherwise.
func (a *Adapter) OpenPTY(ctx context.Context, id string, request contract.PTYRequest) (port.PTY, error) {
	const op = "OpenPTY"
	if err := a.checkSize(op, id, request.Cols, request.Rows); err != nil {
		return nil, err
	}
	cmd := request.Command
	term := request.Term
	if term == "" {
		term = "xterm-256color"
	}
	cmd.Env = map[string]string{"TERM": term}
	maps.Copy(cmd.Env, request.Command.Env)
	cmd.OpenStdin = true
	t := &terminal{out: newPipe()}
	c, err := a.start(ctx, id, launch{op: op, command: cmd, stdin: true, terminal: &request, stdout: t.out,
		pipes: []*pipe{t.out}})
	if err != nil {
		return nil, err
	}
	t.command = c
	if err := t.ready(ctx, request); err != nil {
		if end := t.Close(); end != nil {
			return nil, a.errorf(op, id, port.CodeOutcomeUnknown, port.OutcomeUnknown, "the terminal failed and its command could not be ended")
		}
		return nil, err
	}
	return t, nil
}

func (a *Adapter) checkSize(op, id string, cols, rows int64) error {
	if cols < 1 || rows < 1 || cols > 65535 || rows > 65535 {
		return a.refuse(op, id, "a terminal has 1 to 65535 columns and rows")
	}
	return nil
}

// terminal is a command on a pseudo terminal.
type terminal struct {
	*command
	out *pipe
}

// ready waits for the wrapper's report and sets the size where stty is missing.
func (t *terminal) ready(ctx context.Context, request contract.PTYRequest) error {
	select {
	case <-t.report.seen:
	case <-ctx.Done():
		return wire.ContextError(ctx, t.op, port.OutcomeUnknown)
	}
	switch rep := t.report.report(); {
	case rep.pid == "":
		_, err := t.result() // it never became the command: says why
		return err
	case rep.unsized:
		return t.Resize(ctx, int(request.Cols), int(request.Rows))
	}
	if len(request.Command.Stdin) > 0 {
		if _, err := t.Write(request.Command.Stdin); err != nil {
			return t.a.translate(ctx, t.op, t.id, wire.Mutate, true, err)
		}
	}
	return nil
}

// Read returns what the terminal shows.
func (t *terminal) Read(p []byte) (int, error) { return t.out.Read(p) }

// Write types into the terminal.
func (t *terminal) Write(p []byte) (int, error) { return t.conn.Conn.Write(p) }

// Resize sets the terminal's size.
func (t *terminal) Resize(ctx context.Context, cols, rows int) error {
	if err := t.a.checkSize("Resize", t.id, int64(cols), int64(rows)); err != nil {
		return err
	}
	return t.a.do(ctx, "Resize", t.id, wire.Mutate, func(ctx context.Context) error {
		_, err := t.a.cli.ExecResize(ctx, t.execID, client.ExecResizeOptions{Height: uint(rows), Width: uint(cols)})
		return err
	})
}

// Wait returns the exit code.
func (t *terminal) Wait(ctx context.Context) (int, error) { return t.wait(ctx) }

// Close ends the command when it still runs.
func (t *terminal) Close() error {
	return errors.Join(t.out.Close(), t.close())
}
