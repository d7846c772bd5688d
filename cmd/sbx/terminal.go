package main

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/muesli/cancelreader"
	"golang.org/x/term"
)

// session is how long somebody may stay at a terminal unless --timeout says.
const session = 7 * 24 * time.Hour

// terminal runs a command on a pseudo terminal that is joined to the one this
// program runs in: keys go in raw, the size follows, and at the end, however it
// comes, the terminal is as it was. The command's exit code is an exitError.
func (a *app) terminal(ctx context.Context, sb *sandbox.Sandbox, c contract.Command) error {
	if !sb.Supports(contract.CapabilityPTY) { // refused as every capability is
		_, err := sb.OpenPTY(ctx, contract.PTYRequest{Command: c})
		return err
	}
	keys, err := a.keyboard()
	if err != nil {
		return err
	}
	cols, rows, err := term.GetSize(int(keys.Fd()))
	if err != nil {
		return err
	}
	if cols < 1 || rows < 1 { // nobody has told this terminal how large it is
		cols, rows = 80, 24
	}
	if c.Timeout == 0 {
		c.Timeout = session
		if d, ok := a.find(sb.Provider()); ok && d.Manifest.ExecTimeoutCap != nil {
			c.Timeout = min(c.Timeout, *d.Manifest.ExecTimeoutCap)
		}
	}
	t, err := sb.OpenPTY(ctx, contract.PTYRequest{Command: c, Cols: int64(cols), Rows: int64(rows), Term: a.getenv("TERM")})
	if err != nil {
		return err
	}
	state, err := term.MakeRaw(int(keys.Fd()))
	if err != nil {
		return join(err, t.Close())
	}
	restored := make(chan error, 1)
	restore := a.exits.add(func() { restored <- term.Restore(int(keys.Fd()), state) })
	code, err := joined(ctx, t, keys, a.out)
	restore()
	err = join(err, <-restored, t.Close())
	if err != nil {
		return err
	}
	return codeOf(ending{code: code})
}

// keyboard is the terminal that keys come from.
func (a *app) keyboard() (*os.File, error) {
	keys, ok := a.in.(*os.File)
	if !ok || !term.IsTerminal(int(keys.Fd())) || a.json {
		return nil, usagef("a terminal is needed here, and no --json; sbx exec REF -- CMD needs none")
	}
	return keys, nil
}

// joined moves bytes and sizes until the command ends or ctx does.
func joined(ctx context.Context, t port.PTY, keys *os.File, screen io.Writer) (code int, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go resizing(ctx, t, keys)
	typed, err := cancelreader.NewReader(keys)
	if err != nil {
		return 0, err
	}
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		if err := feed(ptyInput{t}, typed); err != nil && !errors.Is(err, cancelreader.ErrCanceled) {
			stop(err)
		}
	}()
	defer func() { // what is typed from here on is for whoever comes next
		if typed.Cancel() {
			<-fed
			err = join(err, typed.Close())
		}
	}()
	drawn := make(chan struct{})
	go func() {
		defer close(drawn)
		if _, err := io.Copy(screen, t); err != nil && !errors.Is(err, io.EOF) {
			stop(outputError{err})
		}
	}()
	code, err = t.Wait(ctx)
	if ctx.Err() != nil {
		cause := context.Cause(ctx)
		if errors.Is(cause, context.Canceled) {
			cause = &port.Error{Code: port.CodeCanceled, Op: "OpenPTY", Outcome: port.OutcomeUnknown, Reason: "the command was ended"}
		}
		return 0, join(cause, t.Close())
	}
	select {
	case <-drawn:
	case <-time.After(grace):
	}
	return code, err
}

// ptyInput is the input side of a terminal. The end of our input does not end the
// terminal, which has no half-close.
type ptyInput struct{ port.PTY }

func (ptyInput) Close() error { return nil }

// resize gives t the size of the terminal keys come from.
func resize(ctx context.Context, t port.PTY, keys *os.File) {
	cols, rows, err := term.GetSize(int(keys.Fd()))
	if err != nil || cols < 1 || rows < 1 {
		return // it keeps the size it has
	}
	if err := t.Resize(ctx, cols, rows); err != nil {
		return // the command has ended, or the next change tries again
	}
}
