// Command typed uses the providers' own clients, which have exactly the methods
// that the provider supports. Docker sandboxes can be stopped and started again,
// local ones cannot, and the compiler knows:
//
//	typed local
//	typed -image alpine docker
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/providers/docker"
	"github.com/agentworkforce/sbx/providers/local"
	"github.com/agentworkforce/sbx/sandbox"
)

// runner is what every provider's sandbox can do.
type runner interface {
	Run(ctx context.Context, name string, args ...string) (contract.ExecResult, error)
}

// stopper is what some can do as well.
type stopper interface {
	runner
	Stop(ctx context.Context) (contract.Instance, error)
	Start(ctx context.Context) (contract.Instance, error)
}

func greet(ctx context.Context, sb runner) error {
	res, err := sb.Run(ctx, "echo", "hello")
	if err == nil {
		fmt.Printf("%s", res.Stdout)
	}
	return err
}

// nap takes only sandboxes that can be stopped: nap of a *local.Sandbox does
// not compile.
func nap(ctx context.Context, sb stopper) error {
	stopped, err := sb.Stop(ctx)
	if err != nil {
		return err
	}
	started, err := sb.Start(ctx)
	if err != nil {
		return err
	}
	fmt.Println(stopped.State, "and", started.State, "again")
	return greet(ctx, sb)
}

func onLocal(ctx context.Context) error {
	p, err := local.Open(ctx)
	if err != nil {
		return err
	}
	sb, err := p.Create(ctx)
	if err != nil {
		return errors.Join(err, p.Close())
	}
	err = greet(ctx, sb)
	_, destroyErr := sb.Destroy(ctx)
	return errors.Join(err, destroyErr, p.Close())
}

func onDocker(ctx context.Context, image string) error {
	p, err := docker.Open(ctx)
	if err != nil {
		return err
	}
	sb, err := p.Create(ctx, sandbox.WithImage(image))
	if err != nil {
		return errors.Join(err, p.Close())
	}
	err = nap(ctx, sb)
	_, destroyErr := sb.Destroy(ctx)
	return errors.Join(err, destroyErr, p.Close())
}

func run(ctx context.Context, id, image string) error {
	switch id {
	case "local":
		return onLocal(ctx)
	case "docker":
		return onDocker(ctx, image)
	}
	return fmt.Errorf("say local or docker, not %q", id)
}

func main() {
	image := flag.String("image", "", "what to make the docker sandbox from")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, flag.Arg(0), *image)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "typed:", err)
		os.Exit(1)
	}
}
