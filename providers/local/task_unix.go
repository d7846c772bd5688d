//go:build unix

package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agentworkforce/sbx/port"
)

// task is a command that was started. It ends when the command and everything
// it started are gone.
type task struct {
	adapter *Adapter
	plan    plan
	cmd     *exec.Cmd
	gate    *gate // nil without isolation
	timer   *time.Timer
	ended   chan struct{} // closed when nothing of it is left

	mu     sync.Mutex
	exited bool
	cause  error // why it was killed

	code int // valid after ended
	err  error
	left error // what could not be ended
}

// streams are the command's ends of its standard streams; nil is /dev/null. They
// stay the caller's to close.
type streams struct{ in, out, err *os.File }

// errKilled is the cause of a kill that was asked for: the exit code is SIGKILL's.
var errKilled = errors.New("killed")

const sigkillCode = 128 + int(unix.SIGKILL)

// start runs p. The sandbox's lock is held until the process carries its mark:
// a destroy either finds it or comes first.
func (a *Adapter) start(p plan, s streams) (*task, error) {
	lock, err := lockFolder(p.folder.path, lockShared)
	// A process that is being started elsewhere in this program holds every lock
	// of ours until it has become another program, also one just released.
	for wait := time.Millisecond; errors.Is(err, errLocked) && wait < time.Second; wait *= 2 {
		time.Sleep(wait)
		lock, err = lockFolder(p.folder.path, lockShared)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, notFound(p.op, p.folder.id)
	case errors.Is(err, errLocked):
		return nil, refuse(p.op, p.folder.id, port.CodeFailedPrecondition, "the sandbox is being destroyed")
	case err != nil:
		return nil, fsFailure(p.op, p.folder.id, port.OutcomeUnchanged, err)
	}
	var t *task
	if lock.holds(p.folder.path) {
		t, err = a.startLocked(p, s)
	} else {
		err = notFound(p.op, p.folder.id)
	}
	if closeErr := lock.release(); closeErr != nil && err == nil {
		t.kill(errKilled)
		<-t.ended
		err = fsFailure(p.op, p.folder.id, port.OutcomeUnknown, closeErr)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

func (a *Adapter) startLocked(p plan, s streams) (*task, error) {
	t := &task{adapter: a, plan: p, ended: make(chan struct{})}
	var err error
	if p.meta.Isolation == isolationBwrap {
		t.cmd, t.gate, err = a.isolated(p)
	} else {
		t.cmd, err = direct(p)
	}
	if err != nil {
		return nil, err
	}
	err = t.launch(s)
	if instead := otherwise(p, t.cmd, err); instead != nil {
		t.cmd = instead
		err = t.launch(s)
	}
	if err != nil {
		return nil, startFailure(p, err)
	}
	return t, nil
}

func startFailure(p plan, err error) error {
	code := port.CodeProvider
	switch {
	case errors.Is(err, unix.E2BIG):
		code = port.CodeInvalidArgument
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.ENOMEM), errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		code = port.CodeQuotaExceeded
	}
	return failed(p.op, p.folder.id, code, port.OutcomeUnchanged, "the command could not be started", err)
}

// launch starts the process and returns when it runs.
func (t *task) launch(s streams) error {
	// A nil *os.File in an io.Reader is not a nil io.Reader.
	if s.in != nil {
		t.cmd.Stdin = s.in
	}
	if s.out != nil {
		t.cmd.Stdout = s.out
	}
	if s.err != nil {
		t.cmd.Stderr = s.err
	}
	started := make(chan error, 1)
	go t.run(started)
	return <-started
}

// run starts the process and stays with it. The kernel ends the process when the
// thread that started it ends (that is how a killed caller takes its commands
// along), so the thread is kept.
func (t *task) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := t.cmd.Start()
	if err == nil && t.plan.timeout > 0 {
		t.timer = time.AfterFunc(t.plan.timeout, func() { t.kill(t.timeoutError()) })
	}
	if t.gate != nil {
		err = errors.Join(err, t.gate.begin(err == nil))
	}
	if t.cmd.Process == nil {
		started <- err
		return
	}
	if err != nil {
		t.kill(err)
	}
	started <- nil
	t.watch()
}

func (t *task) timeoutError() error {
	return failed(t.plan.op, t.plan.folder.id, port.CodeTimeout, port.OutcomeUnknown,
		"the command was ended: its timeout of "+t.plan.timeout.String()+" passed", nil)
}

// kill ends the command because of cause, which becomes its error. It does
// nothing once the command has ended by itself, and may be called at any time.
func (t *task) kill(cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.exited {
		return
	}
	if t.cause == nil {
		t.cause = cause
	}
	t.killGroup()
	if t.gate != nil {
		t.gate.shut()
	}
	t.killGroup()
}

// killGroup must not be called once the process was reaped: its number may be
// another's then. A group that is already empty is what was wanted.
func (t *task) killGroup() {
	if err := ignoreGone(unix.Kill(-t.cmd.Process.Pid, unix.SIGKILL)); err != nil && t.cause == nil {
		t.cause = failed(t.plan.op, t.plan.folder.id, port.CodeProvider, port.OutcomeUnknown,
			"the command's processes could not be ended", err)
	}
}

// watch waits for the command, ends what it left behind, and says how it ended.
func (t *task) watch() {
	defer close(t.ended)
	awaitExit(t.cmd.Process.Pid)
	t.mu.Lock()
	cause := t.cause
	t.exited = true
	t.killGroup()
	t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
	}
	waitErr := t.cmd.Wait()
	left := t.endLeftovers(cause != nil)
	t.code, t.err = t.outcome(cause, waitErr)
	if left != nil {
		t.left = failed(t.plan.op, t.plan.folder.id, port.CodeProvider, port.OutcomeUnknown,
			"what the command started could not be ended", errors.Join(left, t.err))
		t.err = t.left
	}
}

// endLeftovers ends what outlived the command. With isolation nothing can, once
// bwrap has ended by itself: it waits for the namespace's process 1, which the
// kernel lets go only after every other process in it.
func (t *task) endLeftovers(killed bool) error {
	if t.gate != nil && !killed && t.cmd.ProcessState.Exited() {
		return nil
	}
	_, err := killMarked(runVariable+"="+t.plan.run, killLimit)
	return err
}

func (t *task) outcome(cause, waitErr error) (int, error) {
	code, known := exitCode(t.cmd.ProcessState)
	neverRan := false
	if t.gate != nil && cause == nil {
		neverRan = known && !t.gate.opened()
		known = known && t.cmd.ProcessState.Exited() // a signal hit bwrap, not the command
	}
	id := t.plan.folder.id
	switch {
	case errors.Is(cause, errKilled):
		return sigkillCode, nil
	case cause != nil:
		return 0, cause
	case (!known || neverRan || code == sigkillCode) && !t.adapter.present(t.plan.folder):
		return 0, failed(t.plan.op, id, port.CodeExitUnknown, port.OutcomeUnknown,
			"the sandbox was destroyed while the command ran", nil)
	case known && neverRan:
		return 0, t.adapter.diagnose(t.plan)
	case known:
		return code, nil
	}
	return 0, failed(t.plan.op, id, port.CodeExitUnknown, port.OutcomeUnknown,
		"the command's exit code is lost", waitErr)
}

func (a *Adapter) present(f folder) bool {
	now, err := a.find(f.id)
	return err == nil && !now.deleting
}

// exitCode is what a shell would say: a signal shows as 128 + its number.
func exitCode(state *os.ProcessState) (int, bool) {
	if state == nil {
		return 0, false
	}
	ws, ok := state.Sys().(syscall.WaitStatus)
	switch {
	case ok && ws.Exited():
		return ws.ExitStatus(), true
	case ok && ws.Signaled():
		return 128 + int(ws.Signal()), true
	}
	return 0, false
}

// wait waits for the end of t or of ctx, which does not end t.
func (t *task) wait(ctx context.Context, op string) (int, error) {
	select {
	case <-t.ended:
		return t.code, t.err
	default:
	}
	select {
	case <-t.ended:
		return t.code, t.err
	case <-ctx.Done():
		return 0, ctxFailure(ctx, op, t.plan.folder.id, port.OutcomeUnchanged)
	}
}
