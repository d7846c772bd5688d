//go:build unix

package reference

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// process is a live command.
type process struct {
	a     *Adapter
	b     *box
	cmd   *exec.Cmd
	in    *os.File
	out   *os.File
	errs  *os.File
	done  chan struct{}
	timer *time.Timer

	mu      sync.Mutex
	late    bool // its time was up
	closing sync.Once
	err     error // of Close
}

// Stream implements contract.Streamer.
func (a *Adapter) Stream(ctx context.Context, id string, c contract.Command) (port.Process, error) {
	if err := a.pause(ctx); err != nil {
		return nil, err
	}
	cmd, b, err := a.prepare("Stream", id, c)
	if err != nil {
		return nil, err
	}
	p := &process{a: a, b: b, cmd: cmd, done: make(chan struct{})}
	theirs, err := p.pipes(c)
	if err == nil {
		err = cmd.Start()
	}
	for _, f := range theirs {
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return nil, &port.Error{Code: port.CodeProvider, Op: "Stream", ID: id, Outcome: port.OutcomeUnchanged, Err: err}
	}
	if err := p.begin(c.Timeout); err != nil {
		return nil, &port.Error{Code: port.CodeProvider, Op: "Stream", ID: id, Outcome: port.OutcomeUnknown, Err: err}
	}
	if len(c.Stdin) > 0 {
		return nil, errors.Join(fail("Stream", id, port.CodeInvalidArgument, "standard input is given live"), p.Close())
	}
	return p, nil
}

// pipes connects the command, and returns the ends that are the command's.
func (p *process) pipes(c contract.Command) (theirs []*os.File, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.out, p.cmd.Stdout, p.cmd.Stderr = r, w, w
	theirs = append(theirs, w)
	if !p.a.v.traits.Merged {
		r, w, err := os.Pipe()
		if err != nil {
			return theirs, err
		}
		p.errs, p.cmd.Stderr = r, w
		theirs = append(theirs, w)
	}
	if c.OpenStdin {
		r, w, err := os.Pipe()
		if err != nil {
			return theirs, err
		}
		p.in, p.cmd.Stdin = w, r
		theirs = append(theirs, r)
	}
	return theirs, nil
}

func (p *process) begin(life time.Duration) error {
	if err := p.a.started(p.b, p.cmd); err != nil {
		return errors.Join(err, killGroup(p.cmd), p.cmd.Wait())
	}
	if life > 0 {
		p.timer = time.AfterFunc(life, func() {
			p.mu.Lock()
			p.late = killGroup(p.cmd) == nil
			p.mu.Unlock()
		})
	}
	go func() {
		defer close(p.done)
		if err := p.cmd.Wait(); err != nil && p.cmd.ProcessState == nil {
			return // Wait of the handle says that the exit code is lost
		}
		if p.a.ended(p.b, p.cmd) != nil {
			return // the guard has gone, which is seen when it is told of the next command
		}
	}()
	return nil
}

func (p *process) Stdin() io.WriteCloser {
	if p.in == nil {
		return nil
	}
	return p.in
}

func (p *process) Stdout() io.Reader { return p.a.chunked(p.out) }

// crumbs gives a few bytes at a time, as a proxy in between does.
type crumbs struct{ io.Reader }

func (c crumbs) Read(b []byte) (int, error) { return c.Reader.Read(b[:min(len(b), 7)]) }

func (a *Adapter) chunked(r io.Reader) io.Reader {
	if a.v.traits.Chunked {
		return crumbs{r}
	}
	return r
}

func (p *process) Stderr() io.Reader {
	if p.errs == nil {
		return nil
	}
	return p.a.chunked(p.errs)
}

func (p *process) Wait(ctx context.Context) (int, error) {
	select {
	case <-p.done:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.late:
		return 0, &port.Error{Code: port.CodeTimeout, Op: "Wait", Outcome: port.OutcomeDone}
	case p.cmd.ProcessState == nil:
		return 0, &port.Error{Code: port.CodeExitUnknown, Op: "Wait", Outcome: port.OutcomeUnknown}
	}
	return code(p.cmd)
}

func (p *process) Kill(context.Context) error { return killGroup(p.cmd) }

func (p *process) Close() error {
	p.closing.Do(func() {
		p.err = killGroup(p.cmd)
		<-p.done
		if p.timer != nil {
			p.timer.Stop()
		}
		for _, f := range []*os.File{p.in, p.out, p.errs} {
			if f == nil {
				continue
			}
			if err := f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
				p.err = errors.Join(p.err, err)
			}
		}
	})
	return p.err
}

// terminal is a live command on a terminal, which is p.out.
type terminal struct{ *process }

// OpenPTY implements contract.PTYOpener.
func (a *Adapter) OpenPTY(ctx context.Context, id string, r contract.PTYRequest) (port.PTY, error) {
	if err := a.pause(ctx); err != nil {
		return nil, err
	}
	cmd, b, err := a.prepare("OpenPTY", id, r.Command)
	if err != nil {
		return nil, err
	}
	term := r.Term
	if term == "" {
		term = "xterm-256color"
	}
	cmd.Env = append(cmd.Env, "TERM="+term)
	cmd.SysProcAttr = &syscall.SysProcAttr{} // a session of its own, by pty
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(r.Cols), Rows: uint16(r.Rows)})
	if err != nil {
		return nil, &port.Error{Code: port.CodeProvider, Op: "OpenPTY", ID: id, Outcome: port.OutcomeUnknown, Err: err}
	}
	p := &process{a: a, b: b, cmd: cmd, out: f, done: make(chan struct{})}
	if err := p.begin(r.Command.Timeout); err != nil {
		return nil, &port.Error{Code: port.CodeProvider, Op: "OpenPTY", ID: id, Outcome: port.OutcomeUnknown, Err: errors.Join(err, f.Close())}
	}
	return &terminal{p}, nil
}

// Read ends with io.EOF when the terminal's other end is gone.
func (t *terminal) Read(b []byte) (int, error) {
	n, err := t.out.Read(b)
	if errors.Is(err, syscall.EIO) {
		err = io.EOF
	}
	return n, err
}

func (t *terminal) Write(b []byte) (int, error) { return t.out.Write(b) }

func (t *terminal) Resize(_ context.Context, cols, rows int) error {
	return pty.Setsize(t.out, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
}
