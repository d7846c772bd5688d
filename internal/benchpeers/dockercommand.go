package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/agentworkforce/sbx/internal/testengine"
	"github.com/agentworkforce/sbx/sandbox"
)

const (
	runWork     = "sbx run, verified gone included"
	execWork    = "sbx exec on a warm sandbox"
	libraryWork = "sandbox.Run on a warm sandbox"
)

// dockerRun compares sbx run with docker run --rm, each a whole process. No
// container has a network. sbx run exits 0 only when the sandbox is proven gone.
func dockerRun(ctx context.Context, b *bench) (rows []row, err error) {
	met := goal{ratio: 1.1}
	found, reason, err := findEngine(ctx)
	if err != nil {
		return nil, err
	}
	if reason != "" {
		return []row{{work: runWork, peer: "docker run --rm", missing: reason, goal: met}}, nil
	}
	defer func() { err = errors.Join(err, found.Client().Close()) }()
	ours := b.sbx("run", "--image", testengine.Image, "--no-stdin", "--", "echo", "hi")
	theirs := dockerCommand("run", "--rm", "--network", "none", testengine.Image, "echo", "hi")
	e := newEngine()
	byExec := timed("Engine API, 7 requests", e.life)
	rows, err = compare(ctx, 3*b.rounds, runWork, subject{name: "sbx run", run: ours.run},
		versus{dockerSubject("docker run --rm", theirs), met},
		versus{byExec, goal{remains: "what sbx adds to its requests"}})
	if err != nil {
		return rows, err
	}
	// docker run makes the command the container's main process. A sandbox has
	// one of its own, so that a second command and files work as well.
	more, err := compare(ctx, 3*b.rounds, "Engine API: the command by exec", byExec,
		versus{timed("Engine API: as main process", e.mainProcess), goal{remains: "what no caller can take away"}})
	return append(rows, more...), err
}

// dockerExec compares a command in a sandbox that is there already: sbx exec
// with docker exec, each a whole process, and the library with the Engine API.
func dockerExec(ctx context.Context, b *bench) (rows []row, err error) {
	process, library := goal{ratio: 1.15}, goal{ratio: 1.05}
	found, reason, err := findEngine(ctx)
	if err != nil {
		return nil, err
	}
	if reason != "" {
		return []row{{work: execWork, peer: "docker exec", missing: reason, goal: process},
			{work: libraryWork, peer: "Engine API, 3 requests", missing: reason, goal: library}}, nil
	}
	defer func() { err = errors.Join(err, found.Client().Close()) }()
	p, err := openDocker(ctx, filepath.Join(b.dir, "state"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	err = sandbox.With(ctx, p, func(ctx context.Context, sb *sandbox.Sandbox) error {
		ours := b.sbx("exec", "--no-stdin", sb.Ref().String(), "--", "echo", "hi")
		theirs := dockerCommand("exec", sb.ID(), "echo", "hi")
		if rows, err = compare(ctx, 3*b.rounds, execWork, subject{name: "sbx exec", run: ours.run},
			versus{dockerSubject("docker exec", theirs), process}); err != nil {
			return err
		}
		raw := newEngine()
		more, err := compare(ctx, 6*b.rounds, libraryWork,
			timed("sandbox.Run", func(ctx context.Context) error { return hello(ctx, sb) }),
			versus{timed("Engine API, 3 requests", func(ctx context.Context) error {
				return raw.exec(ctx, "/containers/"+sb.ID())
			}), library})
		rows = append(rows, more...)
		return err
	}, sandbox.WithImage(testengine.Image))
	return rows, err
}

// sbx is the command under test, with a state and a configuration of its own.
func (b *bench) sbx(verb string, args ...string) command {
	return command{dir: b.dir, argv: append([]string{b.peers.path("sbx"), verb, "--provider", "docker"}, args...),
		env: []string{"XDG_STATE_HOME=" + filepath.Join(b.dir, "state"), "XDG_CONFIG_HOME=" + filepath.Join(b.dir, "config"),
			"SBX_DOCKER_NETWORK=none", "DOCKER_HOST=unix://" + socket()}}
}

func dockerCommand(args ...string) command { return command{argv: append([]string{"docker"}, args...)} }

func dockerSubject(name string, c command) subject {
	s := subject{name: name, run: c.run}
	if _, err := exec.LookPath("docker"); err != nil {
		s.missing = "no docker on the path"
	}
	return s
}

// hello runs one command by the library.
func hello(ctx context.Context, sb *sandbox.Sandbox) error {
	res, err := sb.Run(ctx, "echo", "hi")
	if err == nil && (res.ExitCode != 0 || string(res.Stdout) != "hi\n") {
		err = fmt.Errorf("the command answered %d and %q", res.ExitCode, res.Stdout)
	}
	return err
}
