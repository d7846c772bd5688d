//go:build unix

package local

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// drainLimit is how long output is still read after everything has ended. Only a
// process that hid from its end can keep a stream open that long.
const drainLimit = 2 * time.Second

// Exec runs a command to its end, and the end of everything it started. A
// program that does not exist ends with 127, one that cannot be executed with
// 126, as in a shell. When ctx or the timeout ends first, everything is ended
// before Exec returns.
func (a *Adapter) Exec(ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
	if err := ctxFailure(ctx, "Exec", id, port.OutcomeUnchanged); err != nil {
		return contract.ExecResult{}, err
	}
	if c.OpenStdin {
		return contract.ExecResult{}, refuse("Exec", id, port.CodeInvalidArgument,
			"only a stream keeps standard input open")
	}
	p, err := a.planCommand("Exec", id, c)
	if err != nil {
		return contract.ExecResult{}, err
	}
	pipes, err := openPipes(len(c.Stdin) > 0)
	if err != nil {
		return contract.ExecResult{}, fsFailure("Exec", id, port.OutcomeUnchanged, err)
	}
	began := time.Now()
	t, err := a.start(p, pipes.child)
	if err = errors.Join(err, pipes.closeChild()); err != nil {
		if t != nil {
			t.kill(errKilled)
			<-t.ended
		}
		return contract.ExecResult{}, withCode(errors.Join(err, pipes.closeParent()), "Exec", id)
	}
	stop := context.AfterFunc(ctx, func() { t.kill(ctxFailure(ctx, "Exec", id, port.OutcomeUnknown)) })
	defer stop()
	out, errOut, whole := pipes.pump(c.Stdin, p.limit, t.ended)
	<-t.ended
	duration := time.Since(began)
	if err := pipes.closeParent(); err != nil && t.err == nil {
		return contract.ExecResult{}, fsFailure("Exec", id, port.OutcomeUnknown, err)
	}
	if t.err != nil {
		return contract.ExecResult{}, t.err
	}
	res := contract.ExecResult{ExitCode: int64(t.code), Stdout: out.Bytes(), Stderr: errOut.Bytes(),
		Streams: contract.StreamsSeparate, Duration: duration}
	cut := out.Truncated() || errOut.Truncated()
	if whole || cut {
		res.Truncated = &cut
	}
	return res, nil
}

// withCode keeps the *port.Error in front.
func withCode(err error, op, id string) error {
	if e, ok := errors.AsType[*port.Error](err); ok {
		return e
	}
	return fsFailure(op, id, port.OutcomeUnknown, err)
}

// pipes are a command's standard streams: the child's ends, and ours.
type pipes struct {
	child    streams
	in       *os.File // nil without input
	out, err *os.File
}

func openPipes(input bool) (*pipes, error) {
	p := &pipes{}
	var err error
	if input {
		p.child.in, p.in, err = os.Pipe()
	}
	if err == nil {
		p.out, p.child.out, err = os.Pipe()
	}
	if err == nil {
		p.err, p.child.err, err = os.Pipe()
	}
	if err != nil {
		return nil, errors.Join(err, p.closeChild(), p.closeParent())
	}
	return p, nil
}

func (p *pipes) closeChild() error  { return closeAll(p.child.in, p.child.out, p.child.err) }
func (p *pipes) closeParent() error { return closeAll(p.in, p.out, p.err) }

// closeAll closes what is open; closing twice is not an error.
func closeAll(files ...*os.File) error {
	var errs []error
	for _, f := range files {
		if f == nil {
			continue
		}
		if err := f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// pump feeds input and reads both outputs until they end. It reports whether
// both were read to their end: a process that escaped may keep one open.
func (p *pipes) pump(input []byte, limit int, ended <-chan struct{}) (out, errOut *wire.CappedBuffer, whole bool) {
	fed := make(chan struct{})
	go func() { defer close(fed); feed(p.in, input) }()
	out, errOut = wire.NewCappedBuffer(limit), wire.NewCappedBuffer(limit)
	results := make(chan error, 2)
	for _, s := range []struct {
		from *os.File
		to   io.Writer
	}{{p.out, out}, {p.err, errOut}} {
		go func() {
			_, err := io.Copy(s.to, s.from)
			results <- err
		}()
	}
	<-ended
	late := errors.Join(p.out.SetReadDeadline(time.Now().Add(drainLimit)),
		p.err.SetReadDeadline(time.Now().Add(drainLimit)))
	err := errors.Join(late, <-results, <-results)
	if p.in != nil {
		err = errors.Join(err, closeAll(p.in)) // ends a write that nobody reads
	}
	<-fed
	return out, errOut, err == nil
}

// feed writes input and closes. A command need not read its input: that the
// other end is closed is no failure of anything.
func feed(w *os.File, input []byte) {
	if w == nil {
		return
	}
	if _, err := w.Write(input); err != nil && !errors.Is(err, syscall.EPIPE) {
		return // closed by us: the command has ended
	}
	if err := w.Close(); err != nil {
		return // closed by us
	}
}
