//go:build unix

package local

import (
	"context"
	"errors"
	"io"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// Stream starts a command with live streams. Its timeout counts as in Exec, and
// its output is not limited: a command that is not read waits.
func (a *Adapter) Stream(ctx context.Context, id string, c contract.Command) (port.Process, error) {
	if err := ctxFailure(ctx, "Stream", id, port.OutcomeUnchanged); err != nil {
		return nil, err
	}
	p, err := a.planCommand("Stream", id, c)
	if err != nil {
		return nil, err
	}
	pipes, err := openPipes(c.OpenStdin || len(c.Stdin) > 0)
	if err != nil {
		return nil, fsFailure("Stream", id, port.OutcomeUnchanged, err)
	}
	t, err := a.start(p, pipes.child)
	if err = errors.Join(err, pipes.closeChild()); err != nil {
		if t != nil {
			t.kill(errKilled)
			<-t.ended
		}
		return nil, withCode(errors.Join(err, pipes.closeParent()), "Stream", id)
	}
	if len(c.Stdin) > 0 {
		go feed(pipes.in, c.Stdin)
	}
	return &process{task: t, pipes: pipes, openStdin: c.OpenStdin}, nil
}

type process struct {
	task      *task
	pipes     *pipes
	openStdin bool
}

func (p *process) Stdin() io.WriteCloser {
	if !p.openStdin {
		return nil
	}
	return p.pipes.in
}

func (p *process) Stdout() io.Reader { return p.pipes.out }
func (p *process) Stderr() io.Reader { return p.pipes.err }

func (p *process) Wait(ctx context.Context) (int, error) { return p.task.wait(ctx, "Wait") }

// Kill returns when the command and everything it started are gone; Wait then
// answers 137, the code of SIGKILL, unless the command had ended before.
func (p *process) Kill(ctx context.Context) error { return p.task.killAndWait(ctx, "Kill") }

func (p *process) Close() error {
	err := p.task.killAndWait(context.Background(), "Close")
	return errors.Join(err, p.pipes.closeParent())
}

// killAndWait ends t. How it ended is Wait's to say; only what could not be
// ended is an error here.
func (t *task) killAndWait(ctx context.Context, op string) error {
	t.kill(errKilled)
	select {
	case <-t.ended:
		return t.left
	case <-ctx.Done():
		return ctxFailure(ctx, op, t.plan.folder.id, port.OutcomeUnknown)
	}
}
