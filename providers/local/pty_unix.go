//go:build unix

package local

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

const defaultTerm = "xterm-256color"

// OpenPTY starts a command on a terminal of its own. Its timeout counts as in
// Exec.
func (a *Adapter) OpenPTY(ctx context.Context, id string, r contract.PTYRequest) (port.PTY, error) {
	if err := ctxFailure(ctx, "OpenPTY", id, port.OutcomeUnchanged); err != nil {
		return nil, err
	}
	if len(r.Command.Stdin) > 0 {
		return nil, refuse("OpenPTY", id, port.CodeInvalidArgument, "a terminal is written to, it is given no input")
	}
	if err := checkSize("OpenPTY", id, r.Cols, r.Rows); err != nil {
		return nil, err
	}
	p, err := a.planCommand("OpenPTY", id, r.Command)
	if err != nil {
		return nil, err
	}
	p.tty = true
	if _, given := r.Command.Env["TERM"]; r.Term != "" || !given {
		p.env["TERM"] = r.Term
		if r.Term == "" {
			p.env["TERM"] = defaultTerm
		}
	}
	if hasNUL(r.Term) {
		return nil, refuse("OpenPTY", id, port.CodeInvalidArgument, "TERM holds a NUL byte")
	}
	master, slave, err := openTerminal(r.Cols, r.Rows)
	if err != nil {
		return nil, fsFailure("OpenPTY", id, port.OutcomeUnchanged, err)
	}
	t, err := a.start(p, streams{slave, slave, slave})
	if err = errors.Join(err, slave.Close()); err != nil {
		if t != nil {
			t.kill(errKilled)
			<-t.ended
		}
		return nil, withCode(errors.Join(err, master.Close()), "OpenPTY", id)
	}
	return &terminal{task: t, master: master}, nil
}

func checkSize(op, id string, cols, rows int64) error {
	if cols < 1 || rows < 1 || cols > math.MaxUint16 || rows > math.MaxUint16 {
		return refuse(op, id, port.CodeInvalidArgument, "a terminal has 1 to 65535 columns and rows")
	}
	return nil
}

// openTerminal returns a terminal whose master can be read and closed from
// different goroutines.
func openTerminal(cols, rows int64) (master, slave *os.File, err error) {
	blocking, slave, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	fd, err := unix.FcntlInt(blocking.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		if err = unix.SetNonblock(fd, true); err == nil {
			master = os.NewFile(uintptr(fd), blocking.Name())
			err = setSize(master, cols, rows)
		} else {
			err = errors.Join(err, unix.Close(fd))
		}
	}
	if err = errors.Join(err, blocking.Close()); err != nil {
		return nil, nil, errors.Join(err, closeAll(master, slave))
	}
	return master, slave, nil
}

func setSize(f *os.File, cols, rows int64) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	err = conn.Control(func(fd uintptr) {
		set = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: uint16(cols)})
	})
	return errors.Join(err, set)
}

type terminal struct {
	task   *task
	master *os.File
}

// Read ends with io.EOF when nothing holds the terminal's other side any more,
// which Linux reports as an input/output error.
func (t *terminal) Read(b []byte) (int, error) {
	n, err := t.master.Read(b)
	if errors.Is(err, syscall.EIO) {
		err = io.EOF
	}
	return n, err
}

func (t *terminal) Write(b []byte) (int, error) { return t.master.Write(b) }

func (t *terminal) Resize(ctx context.Context, cols, rows int) error {
	id := t.task.plan.folder.id
	if err := ctxFailure(ctx, "Resize", id, port.OutcomeUnchanged); err != nil {
		return err
	}
	if err := checkSize("Resize", id, int64(cols), int64(rows)); err != nil {
		return err
	}
	if err := setSize(t.master, int64(cols), int64(rows)); err != nil {
		return fsFailure("Resize", id, port.OutcomeUnchanged, err)
	}
	return nil
}

func (t *terminal) Wait(ctx context.Context) (int, error) { return t.task.wait(ctx, "Wait") }

func (t *terminal) Close() error {
	return errors.Join(t.task.killAndWait(context.Background(), "Close"), closeAll(t.master))
}
