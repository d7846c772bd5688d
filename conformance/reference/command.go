//go:build unix

package reference

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// prepare makes a command of the machine's own sh, in a process group of its own.
func (a *Adapter) prepare(op, id string, c contract.Command) (*exec.Cmd, *box, error) {
	a.v.mu.Lock()
	defer a.v.mu.Unlock()
	b, err := a.v.running(op, id)
	if err != nil {
		return nil, nil, err
	}
	argv := append([]string{"sh", "-c", `exec "$@"`, "sh"}, c.Argv...)
	if c.Script != "" {
		argv = []string{"sh", "-c", c.Script}
	}
	cmd := &exec.Cmd{Path: "/bin/sh", Args: argv, Dir: b.dir, SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}
	if c.Dir != "" {
		cmd.Dir = c.Dir
		if !filepath.IsAbs(c.Dir) {
			cmd.Dir = filepath.Join(b.dir, c.Dir)
		}
	}
	if info, err := os.Stat(cmd.Dir); err != nil || !info.IsDir() {
		return nil, nil, fail(op, id, port.CodeWorkdirUnusable, "the working directory cannot be entered")
	}
	env := map[string]string{"PATH": os.Getenv("PATH"), "HOME": b.dir}
	maps.Copy(env, b.env)
	maps.Copy(env, c.Env)
	if b.net != "" {
		env["PATH"] = b.net + ":" + env["PATH"]
	}
	for _, k := range slices.Sorted(maps.Keys(env)) {
		cmd.Env = append(cmd.Env, k+"="+env[k])
	}
	return cmd, b, nil
}

// started keeps the process group, so that stop and destroy reach what a command
// leaves behind.
func (a *Adapter) started(b *box, cmd *exec.Cmd) error {
	a.v.mu.Lock()
	defer a.v.mu.Unlock()
	b.groups[cmd.Process.Pid] = true
	return b.guard.add(cmd.Process.Pid)
}

func (a *Adapter) ended(b *box, cmd *exec.Cmd) error {
	a.v.mu.Lock()
	defer a.v.mu.Unlock()
	if s := cmd.ProcessState; s != nil {
		b.cpu += s.UserTime() + s.SystemTime()
	}
	if errors.Is(syscall.Kill(-cmd.Process.Pid, 0), syscall.ESRCH) {
		delete(b.groups, cmd.Process.Pid)
		return b.guard.drop(cmd.Process.Pid)
	}
	return nil
}

// code is the exit code as a shell would say it.
func code(cmd *exec.Cmd) (int, error) {
	s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case !ok:
		return 0, &port.Error{Code: port.CodeExitUnknown, Op: "Exec", Outcome: port.OutcomeUnknown}
	case s.Signaled():
		return 128 + int(s.Signal()), nil
	}
	return s.ExitStatus(), nil
}

// Exec implements contract.Adapter. Output goes to files, so that a process which
// is left behind and holds them open holds up nobody.
func (a *Adapter) Exec(ctx context.Context, id string, c contract.Command) (res contract.ExecResult, err error) {
	if err := a.pause(ctx); err != nil {
		return res, err
	}
	cmd, b, err := a.prepare("Exec", id, c)
	if err != nil {
		return res, err
	}
	out, err := a.spool()
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	cmd.Stdout, cmd.Stderr = out, out
	res.Streams = contract.StreamsMerged
	var errs *os.File
	if !a.v.traits.Merged {
		if errs, err = a.spool(); err != nil {
			return res, err
		}
		defer func() { err = errors.Join(err, errs.Close()) }()
		cmd.Stderr, res.Streams = errs, contract.StreamsSeparate
	}
	in, err := a.spool()
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if _, err := in.WriteAt(c.Stdin, 0); err != nil {
		return res, err
	}
	cmd.Stdin = in
	began := time.Now()
	if c.Timeout == 0 {
		c.Timeout = 2 * time.Second // the vendor's default, as the manifest states it
	}
	if err := a.finish(ctx, b, cmd, c.Timeout); err != nil {
		return contract.ExecResult{}, err
	}
	n, err := code(cmd)
	if err != nil {
		return contract.ExecResult{}, err
	}
	res.ExitCode, res.Duration = int64(n), time.Since(began)
	return res, collect(&res, c.OutputLimit, out, errs)
}

// spool is a file that is gone when it is closed.
func (a *Adapter) spool() (*os.File, error) {
	f, err := os.CreateTemp(a.v.dir, "spool-")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}

// finish runs cmd to its end; when its time is up, or the caller has left, the
// whole group is killed.
func (a *Adapter) finish(ctx context.Context, b *box, cmd *exec.Cmd, life time.Duration) (err error) {
	if err := cmd.Start(); err != nil {
		return &port.Error{Code: port.CodeProvider, Op: "Exec", Outcome: port.OutcomeUnchanged, Err: err}
	}
	if err := a.started(b, cmd); err != nil {
		return &port.Error{Code: port.CodeProvider, Op: "Exec", Outcome: port.OutcomeUnknown, Err: errors.Join(err, killGroup(cmd), cmd.Wait())}
	}
	defer func() { err = joined(err, a.ended(b, cmd)) }()
	waited := make(chan error, 1)
	go func() { waited <- cmd.Wait() }()
	timer := time.NewTimer(life)
	defer timer.Stop()
	select {
	case err := <-waited:
		if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
			return &port.Error{Code: port.CodeExitUnknown, Op: "Exec", Outcome: port.OutcomeUnknown, Err: err}
		}
		return nil
	case <-timer.C:
		killErr := killGroup(cmd)
		<-waited
		return &port.Error{Code: port.CodeTimeout, Op: "Exec", Outcome: port.OutcomeDone, Reason: "the command's time was up", Err: killErr}
	case <-ctx.Done():
		killErr := killGroup(cmd)
		<-waited
		c := port.CodeCanceled
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			c = port.CodeTimeout
		}
		return &port.Error{Code: c, Op: "Exec", Outcome: port.OutcomeUnknown, Err: errors.Join(ctx.Err(), killErr)}
	}
}

// joined leaves the first error as it is when there is no second one.
func joined(first, then error) error {
	if then == nil {
		return first
	}
	return errors.Join(first, then)
}

func killGroup(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}

func collect(res *contract.ExecResult, limit int64, out, errs *os.File) error {
	if limit == 0 {
		limit = 10 << 20
	}
	cut := false
	var err error
	if res.Stdout, err = head(out, limit, &cut); err != nil {
		return err
	}
	if errs != nil {
		if res.Stderr, err = head(errs, limit, &cut); err != nil {
			return err
		}
	}
	res.Truncated = &cut
	return nil
}

func head(f *os.File, limit int64, cut *bool) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	*cut = *cut || info.Size() > limit
	b, err := io.ReadAll(io.NewSectionReader(f, 0, min(info.Size(), limit)))
	return b, err
}
