package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/internal/testengine"
	"github.com/agentworkforce/sbx/providers/docker"
	"github.com/agentworkforce/sbx/sandbox"
)

// dockerLife compares one sandbox's life: create, start, a command, destroy,
// and the proof that it is gone. No container has a network.
func dockerLife(ctx context.Context, b *bench) (rows []row, err error) {
	const work = "Docker: create, exec, destroy, verified gone"
	found, reason, err := findEngine(ctx)
	if err != nil {
		return nil, err
	}
	if reason != "" {
		return []row{{work: work, peer: "Engine API", missing: reason, goal: goal{ratio: 1.03}},
			{work: work, peer: "docker CLI", missing: reason, goal: goal{ratio: 0.85}}}, nil
	}
	defer func() { err = errors.Join(err, found.Client().Close()) }()
	p, err := openDocker(ctx, filepath.Join(b.dir, "state"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	ours := timed("sandbox.Create, Run, Destroy", func(ctx context.Context) error { return life(ctx, p, sandbox.SkipReady()) })
	ready := timed("the same, ready before it is handed over", func(ctx context.Context) error { return life(ctx, p) })
	raw := timed("Engine API, 7 requests", newEngine().life)
	cli := subject{name: "docker CLI, 4 commands", run: cliLife}
	if _, err := exec.LookPath("docker"); err != nil {
		cli.missing = "no docker on the path"
	}
	rounds := 3 * b.rounds
	rows, err = compare(ctx, rounds, work, ours, versus{raw, goal{ratio: 1.03}}, versus{cli, goal{ratio: 0.85}})
	if err != nil {
		return rows, err
	}
	more, err := compare(ctx, rounds, "the same, with the command that shows it ready", ready,
		versus{raw, goal{remains: "the peer runs one command less"}})
	return append(rows, more...), err
}

func openDocker(ctx context.Context, state string) (*sandbox.Provider, error) {
	return sandbox.Open(ctx, docker.Driver(), sandbox.WithStateDir(state), sandbox.WithSetting("network", "none"),
		sandbox.WithSetting("host", "unix://"+socket()))
}

func timed(name string, do func(context.Context) error) subject {
	return subject{name: name, run: func(ctx context.Context) (sample, error) {
		begin := time.Now()
		err := do(ctx)
		return sample{wall: time.Since(begin)}, err
	}}
}

// life is what an application does.
func life(ctx context.Context, p *sandbox.Provider, opts ...sandbox.CreateOption) error {
	sb, err := p.Create(ctx, append(opts, sandbox.WithImage(testengine.Image))...)
	if err != nil {
		return err
	}
	err = hello(ctx, sb)
	report, destroyErr := sb.Destroy(ctx)
	if destroyErr == nil && !report.VerifiedGone {
		destroyErr = errors.New("the sandbox is not proven gone")
	}
	return errors.Join(err, destroyErr)
}

// cliLife is the same by the docker command, without the proof.
func cliLife(ctx context.Context) (took sample, err error) {
	begin := time.Now()
	out, err := exec.CommandContext(ctx, "docker", "create", "--network", "none", "--entrypoint", "sleep",
		testengine.Image, "3600").Output()
	if err != nil {
		return sample{}, err
	}
	id := strings.TrimSpace(string(out))
	for _, args := range [][]string{{"start", id}, {"exec", id, "echo", "hi"}, {"rm", "--force", "--volumes", id}} {
		if out, err := exec.CommandContext(ctx, "docker", args...).CombinedOutput(); err != nil {
			return sample{}, fmt.Errorf("docker %s: %w: %.200s", args[0], err, out)
		}
	}
	return sample{wall: time.Since(begin)}, nil
}
