package docker

import (
	"bytes"
	"context"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"

	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// reportTime is how long a command that has to be ended may still take to say
// its process ID, so that one that has just started is found.
const reportTime = 2 * time.Second

// killAll ends every process of a command from inside the sandbox, as root,
// and succeeds only when none is left. A sandbox that is gone or stopped has
// no process left.
func (a *Adapter) killAll(ctx context.Context, c *command) error {
	select {
	case <-c.report.seen:
	case <-c.done:
	case <-time.After(reportTime):
	case <-ctx.Done():
	}
	code, text, err := a.runPlain(ctx, c.id, "0", []string{"/bin/sh", "-c", killScript, "sbx", c.mark, c.report.report().pid})
	switch {
	case port.CodeOf(err) == port.CodeNotFound:
		return nil
	case port.CodeOf(err) == port.CodeFailedPrecondition:
		now, look := a.inspect(ctx, c.op, c.id)
		if port.CodeOf(look) == port.CodeNotFound || look == nil && !now.State.Running {
			return nil
		}
		return err
	case err != nil:
		return err
	case code != 0:
		return a.errorf(c.op, c.id, port.CodeProvider, port.OutcomeUnknown, "processes of the command are left: %s", text)
	}
	return nil
}

// attachFailed is the exit code that the engine puts down for a command when the
// connection that it was attached by breaks, although the command goes on.
const attachFailed = 126

// aliveScript exits 0 while the process with number $2 is the command of mark $1.
const aliveScript = `{ tr '\000' '\n' <"/proc/$2/environ"; } 2>/dev/null | grep -q -x -F -e "` + markVariable + `=$1"`

// forgotten reports whether the exit code is the engine's word for a connection
// that broke and not the command's: its streams broke long before, or it still
// runs. What cannot be looked at counts as ended.
func (c *command) forgotten() bool {
	pid := c.report.report().pid
	if c.code != attachFailed || c.err != nil || pid == "" {
		return false
	}
	if c.broken {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), killTime)
	defer cancel()
	code, _, err := c.a.runPlain(ctx, c.id, "0", []string{"/bin/sh", "-c", aliveScript, "sbx", c.mark, pid})
	return err == nil && code == 0
}

// runPlain runs argv without the wrapper and returns its exit code and output.
func (a *Adapter) runPlain(ctx context.Context, id, user string, argv []string) (int, string, error) {
	const op = "Exec"
	var made client.ExecCreateResult
	err := a.do(ctx, op, id, wire.Mutate, func(ctx context.Context) (err error) {
		made, err = a.cli.ExecCreate(ctx, id, client.ExecCreateOptions{User: user, Cmd: argv,
			AttachStdout: true, AttachStderr: true})
		return err
	})
	if err != nil {
		return 0, "", err
	}
	var attached client.ExecAttachResult
	err = a.do(ctx, op, id, wire.Mutate, func(ctx context.Context) (err error) {
		attached, err = a.cli.ExecAttach(ctx, made.ID, client.ExecAttachOptions{})
		return err
	})
	if err != nil {
		return 0, "", err
	}
	defer attached.Close()
	defer context.AfterFunc(ctx, attached.Close)()
	var text bytes.Buffer
	if _, err := stdcopy.StdCopy(&text, &text, attached.Reader); err != nil {
		return 0, "", a.translate(ctx, op, id, wire.Mutate, true, err)
	}
	end := &command{a: a, op: op, id: id, execID: made.ID}
	code, err := end.exitCode(ctx)
	return code, text.String(), err
}
