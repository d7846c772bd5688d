package conformance

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/agentworkforce/sbx/sandbox"
)

// Roles of a child process.
const (
	childTerm = "ends when asked to" // holds a sandbox with sandbox.With until SIGTERM
	childKill = "is killed"          // the same; the test kills it
)

// childLine begins the line on which a child prints its sandbox's ID.
const childLine = "sbx-conformance-child "

// beChild opens the harness in stateDir, holds one sandbox and waits.
func beChild(ctx context.Context, h Harness, role, stateDir string) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	opts := append([]sandbox.Option{sandbox.WithStateDir(stateDir)}, h.Options...)
	p, err := sandbox.Open(ctx, h.Driver, opts...)
	if err != nil {
		return fmt.Errorf("conformance: child that %s: %w", role, err)
	}
	err = sandbox.With(ctx, p, func(ctx context.Context, sb *sandbox.Sandbox) error {
		if _, err := fmt.Fprintln(os.Stdout, childLine+sb.ID()); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}, slices.Clone(h.Create)...)
	return errors.Join(err, p.Close())
}

// process is a Child that is this program, started again.
type process struct {
	cmd    *exec.Cmd
	out    *bufio.Reader
	exited chan struct{}
}

func startChild(ctx context.Context, test, role, stateDir string) (Child, error) {
	// The process has to outlive what starts it, and is ended by the check.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), os.Args[0], "-test.run=^"+regexp.QuoteMeta(test)+"$", "-test.count=1", "-test.timeout=10m")
	cmd.Env = append(os.Environ(), envChild+"="+role, EnvState+"="+stateDir)
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("conformance: child: %w", err)
	}
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("conformance: child: %w", err), r.Close(), w.Close())
	}
	if err := w.Close(); err != nil {
		return nil, errors.Join(fmt.Errorf("conformance: child: %w", err), cmd.Process.Kill())
	}
	p := &process{cmd: cmd, out: bufio.NewReader(r), exited: make(chan struct{})}
	go func() {
		defer close(p.exited)
		if err := cmd.Wait(); err != nil && cmd.ProcessState == nil {
			return // its end could not be observed; Wait returns all the same
		}
	}()
	return p, nil
}

func (p *process) ID(ctx context.Context) (string, error) {
	type answer struct {
		id  string
		err error
	}
	got := make(chan answer, 1)
	go func() {
		for {
			line, err := p.out.ReadString('\n')
			if id, ok := strings.CutPrefix(line, childLine); ok && err == nil {
				got <- answer{id: strings.TrimSpace(id)}
				_, err = io.Copy(io.Discard, p.out) // so that the child never waits for a reader
			}
			if err != nil {
				got <- answer{err: errors.New("the process ended before it had a sandbox")}
				return
			}
		}
	}()
	select {
	case a := <-got:
		return a.id, a.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (p *process) Terminate() error { return p.cmd.Process.Signal(syscall.SIGTERM) }

func (p *process) Kill() error { return p.cmd.Process.Kill() }

func (p *process) Wait(ctx context.Context) error {
	select {
	case <-p.exited:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
