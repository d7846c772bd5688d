// Command forks prepares one sandbox, takes a snapshot of it, makes a sandbox
// from the snapshot and ten forks of the running one, and shows that each starts
// with what was prepared:
//
//	go run ./examples/forks -image alpine docker
//	go run ./examples/forks local
//
// The second refuses, with the reason, and has changed nothing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"golang.org/x/sync/errgroup"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/generated/registry"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

const forks = 10

// show prints what a sandbox starts with.
func show(ctx context.Context, what string, sb *sandbox.Sandbox) error {
	res, err := sb.Run(ctx, "cat", "prepared")
	if err == nil && res.ExitCode != 0 { // a nonzero exit is a result, not an error
		err = fmt.Errorf("%s: %s", what, res.Stderr)
	}
	if err == nil {
		fmt.Printf("%s: %s", what, res.Stdout)
	}
	return err
}

// restored makes a sandbox from a snapshot and deletes both.
func restored(ctx context.Context, p *sandbox.Provider, sb *sandbox.Sandbox) error {
	snapshot, err := sb.CreateSnapshot(ctx, contract.SnapshotRequest{Name: "prepared"})
	if err != nil {
		return err
	}
	err = sandbox.With(ctx, p, func(ctx context.Context, sb *sandbox.Sandbox) error {
		return show(ctx, "snapshot", sb)
	}, sandbox.WithFromSnapshot(snapshot.ID))
	_, deleteErr := p.DeleteSnapshot(context.WithoutCancel(ctx), snapshot.ID)
	return errors.Join(err, deleteErr)
}

// forked makes one fork, looks and destroys it.
func forked(ctx context.Context, sb *sandbox.Sandbox, n int) error {
	fork, err := sb.Fork(ctx, contract.ForkRequest{})
	if err != nil {
		return err
	}
	err = show(ctx, fmt.Sprint("fork ", n), fork)
	_, destroyErr := fork.Destroy(ctx)
	return errors.Join(err, destroyErr)
}

func run(ctx context.Context, id, image string) error {
	p, err := registry.Open(ctx, id)
	if err != nil {
		return err
	}
	err = sandbox.With(ctx, p, func(ctx context.Context, sb *sandbox.Sandbox) error {
		if _, err := sb.Shell(ctx, "echo ready to go > prepared"); err != nil {
			return err
		}
		if err := restored(ctx, p, sb); err != nil {
			return err
		}
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(4)
		for n := range forks {
			g.Go(func() error { return forked(ctx, sb, n+1) })
		}
		return g.Wait()
	}, sandbox.WithImage(image))
	return errors.Join(err, p.Close())
}

func main() {
	image := flag.String("image", "", "what to make the sandbox from; empty is the provider's default")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, flag.Arg(0), *image)
	stop()
	switch {
	case errors.Is(err, port.Is(port.CodeUnsupported)):
		fmt.Println("refused:", err)
	case err != nil:
		fmt.Fprintln(os.Stderr, "forks:", err)
		os.Exit(1)
	}
}
