package docker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// defaultTimeout is the life of a command whose request states none: the
// Engine has no cap of its own.
const defaultTimeout = 30 * time.Minute

// killTime bounds how long ending a command may take.
const killTime = 20 * time.Second

// streamLead is how much earlier than the command its streams may end for the
// output to count as whole. The engine notices an exit and the end of the streams
// apart from each other, and a command may close its streams and go on; after
// that much nobody can tell it from a connection that was cut.
const streamLead = 2 * time.Second

// launch says how a command is run and where its output goes.
type launch struct {
	op       string
	command  contract.Command
	stdin    bool // attach standard input
	terminal *contract.PTYRequest
	user     string
	stdout   io.Writer
	stderr   io.Writer // nil on a terminal
	pipes    []*pipe   // the outputs that are pipes
}

// command is one exec from its start to its end.
type command struct {
	a      *Adapter
	op     string
	id     string // container
	execID string
	mark   string
	began  time.Time
	conn   client.HijackedResponse
	report *reportWriter
	poll   context.CancelFunc // stops waiting for the exit code
	timer  *time.Timer
	pipes  []*pipe

	done chan struct{} // closed when the fields below are final
	code int
	err  error
	// broken streams ended before the command did, by more than the engine
	// needs: the connection may have been cut, so output may be missing.
	broken bool

	mu      sync.Mutex
	expired bool  // its time ran out
	alive   error // why it could not be killed
	kill    func() error
}

// start creates and starts the exec. The context covers the start alone.
func (a *Adapter) start(ctx context.Context, id string, l launch) (*command, error) {
	if err := a.checkCommand(l.op, id, l.command); err != nil {
		return nil, err
	}
	if err := a.mine(ctx, l.op, id); err != nil {
		return nil, err
	}
	var random [16]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, a.errorf(l.op, id, port.CodeProvider, port.OutcomeUnchanged, "no randomness for a mark")
	}
	c := &command{a: a, op: l.op, id: id, mark: hex.EncodeToString(random[:]), done: make(chan struct{}), pipes: l.pipes}
	c.kill = sync.OnceValue(c.end)
	if err := c.create(ctx, l); err != nil {
		return nil, err
	}
	c.began = time.Now()
	err := a.do(ctx, l.op, id, wire.Mutate, func(ctx context.Context) error {
		attached, err := a.cli.ExecAttach(ctx, c.execID, client.ExecAttachOptions{TTY: l.terminal != nil})
		c.conn = attached.HijackedResponse
		return err
	})
	if err != nil {
		return nil, c.notStarted(ctx, err)
	}
	c.run(l)
	return c, nil
}

func (c *command) create(ctx context.Context, l launch) error {
	env, err := environment(l.command.Env)
	if err != nil {
		return c.a.refuse(l.op, c.id, "%s", err)
	}
	opts := client.ExecCreateOptions{AttachStdin: l.stdin, AttachStdout: true, AttachStderr: true, User: l.user,
		Env: append(env, markVariable+"="+c.mark), Cmd: wrap(c.mark, l.command, enterScript)}
	if t := l.terminal; t != nil {
		opts.TTY = true
		opts.Cmd = wrap(c.mark, l.command, enterTerminalScript, decimal(t.Rows), decimal(t.Cols))
	}
	// An exec that was made and not started is no effect: the engine forgets it.
	return c.a.do(ctx, l.op, c.id, wire.Read, func(ctx context.Context) error {
		made, err := c.a.cli.ExecCreate(ctx, c.id, opts)
		c.execID = made.ID
		return err
	})
}

// notStarted explains a refused start. The client library loses the status of
// this one answer, so the sandbox is asked instead.
func (c *command) notStarted(ctx context.Context, err error) error {
	if port.CodeOf(err) != port.CodeOutcomeUnknown {
		return err
	}
	now, look := c.a.inspect(ctx, c.op, c.id)
	if look != nil {
		return err
	}
	if s := c.a.instance(now).State; s != contract.StateRunning {
		return c.a.errorf(c.op, c.id, port.CodeFailedPrecondition, port.OutcomeUnchanged, "the sandbox is %s", s)
	}
	return err
}

// run moves the command's streams until it ended.
func (c *command) run(l launch) {
	poll, cancel := context.WithCancel(context.Background())
	c.poll = cancel
	if l.terminal != nil {
		c.report = newReportWriter(c.mark, l.stdout)
	} else {
		c.report = newReportWriter(c.mark, l.stderr)
	}
	timeout := l.command.Timeout
	if timeout == 0 {
		timeout = defaultTimeout
	}
	c.timer = time.AfterFunc(timeout, c.expire)
	if l.stdin && !l.command.OpenStdin {
		go c.feed(l.command.Stdin)
	}
	go func() {
		var cut error
		if l.terminal != nil {
			_, cut = io.Copy(c.report, c.conn.Reader)
		} else {
			_, cut = stdcopy.StdCopy(l.stdout, c.report, c.conn.Reader)
		}
		c.report.finish()
		ended := time.Now()
		// The exit code is the engine's own answer and holds; whether the output
		// is whole is another question.
		c.code, c.err = c.exitCode(poll)
		c.broken = cut != nil || time.Since(ended) > streamLead
		if c.forgotten() {
			c.broken, c.err = true, c.a.errorf(c.op, c.id, port.CodeExitUnknown, port.OutcomeUnknown,
				"the connection broke while the command ran, and the engine has forgotten its exit code")
		}
		c.timer.Stop()
		cancel()
		c.conn.Close()
		close(c.done)
		for _, p := range c.pipes {
			p.end(c.streamEnd())
		}
	}()
}

// streamEnd is what a reader of the output is told at its end.
func (c *command) streamEnd() error {
	if c.broken {
		return io.ErrUnexpectedEOF
	}
	return io.EOF
}

// feed writes the whole standard input. A command that does not read it all is
// free to do so, and the connection says so by failing.
func (c *command) feed(stdin []byte) {
	if _, err := c.conn.Conn.Write(stdin); err != nil {
		return
	}
	if err := c.conn.CloseWrite(); err != nil {
		return // the command ended first
	}
}

// exitCode waits for the engine to say that the command ended. Its streams may
// end earlier: a command is free to close them and go on.
func (c *command) exitCode(ctx context.Context) (int, error) {
	unknown := c.a.errorf(c.op, c.id, port.CodeExitUnknown, port.OutcomeUnknown, "the exit code is lost")
	failures := 0
	for wait := time.Millisecond; ; wait = min(wait*2, 100*time.Millisecond) {
		s, err := c.a.raw.execState(ctx, c.execID)
		switch {
		case err == nil && !s.Running && s.ExitCode != nil:
			return *s.ExitCode, nil
		case err == nil && !s.Running:
			return 0, unknown
		case err == nil:
			failures = 0
		default:
			unknown.Err = err
			if _, answered := errors.AsType[*execStateError](err); answered || failures > 8 {
				return 0, unknown
			}
			failures++
		}
		select {
		case <-ctx.Done():
			return 0, unknown
		case <-time.After(wait):
		}
	}
}

// expire ends the command when its time is over.
func (c *command) expire() {
	c.mu.Lock()
	c.expired = true
	c.mu.Unlock()
	if err := c.kill(); err != nil {
		return // kept by kill; result reports it
	}
}

// end kills every process of the command and waits until it is over.
func (c *command) end() error {
	ctx, cancel := context.WithTimeout(context.Background(), killTime)
	defer cancel()
	for _, p := range c.pipes {
		p.release()
	}
	err := c.a.killAll(ctx, c)
	if err != nil {
		// Nobody can end it: stop waiting for it, and say so.
		c.mu.Lock()
		c.alive = err
		c.mu.Unlock()
		c.poll()
		c.conn.Close()
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		c.poll()
		c.conn.Close()
	}
	return err
}

// result is the exit code, or why there is none.
func (c *command) result() (int, error) {
	<-c.done
	c.mu.Lock()
	expired := c.expired
	c.mu.Unlock()
	rep := c.report.report()
	switch {
	case expired:
		if err := c.kill(); err != nil {
			e := c.a.errorf(c.op, c.id, port.CodeTimeout, port.OutcomeUnknown,
				"the command's time is over and it could not be ended")
			e.Err = err
			return 0, e
		}
		return 0, c.a.errorf(c.op, c.id, port.CodeTimeout, port.OutcomeDone,
			"the command's time was over; it and its children were ended")
	case rep.unusable:
		return 0, c.a.errorf(c.op, c.id, port.CodeWorkdirUnusable, port.OutcomeUnchanged,
			"the working directory does not exist or cannot be entered")
	case c.err != nil:
		return 0, c.err
	case rep.pid == "":
		return 0, c.a.errorf(c.op, c.id, port.CodeFailedPrecondition, port.OutcomeUnchanged,
			"the engine could not start /bin/sh in the sandbox (it reports exit code %d)", c.code)
	}
	return c.code, nil
}
