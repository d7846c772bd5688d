// Command fanout runs fifty tasks in fifty sandboxes, at most eight at a time.
// The first error cancels the others; every sandbox is destroyed either way:
//
//	go run ./examples/fanout local
//	go run ./examples/fanout -image alpine docker
//	go run ./examples/fanout -fail 20 local
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/generated/registry"
	"github.com/agentworkforce/sbx/sandbox"
)

const tasks, atOnce = 50, 8

// square computes in a sandbox; the task that is to fail does.
func square(ctx context.Context, sb *sandbox.Sandbox, n, fail int) (int64, error) {
	if n == fail {
		return 0, fmt.Errorf("task %d fails as told", n)
	}
	res, err := sb.Shell(ctx, fmt.Sprintf("echo $((%d * %d))", n, n))
	if err == nil && res.ExitCode != 0 { // a nonzero exit is a result, not an error
		err = fmt.Errorf("task %d: exit code %d: %s", n, res.ExitCode, res.Stderr)
	}
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(res.Stdout)), 10, 64)
}

// fanOut returns the sum of the tasks. With ends a sandbox also when ctx is
// cancelled, so nothing has to be collected here.
func fanOut(ctx context.Context, p *sandbox.Provider, fail int, opts ...sandbox.CreateOption) (int64, error) {
	var sum, made atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for n := 1; n <= tasks && ctx.Err() == nil; n++ {
		g.Go(func() error {
			return sandbox.With(ctx, p, func(ctx context.Context, sb *sandbox.Sandbox) error {
				made.Add(1)
				got, err := square(ctx, sb, n, fail)
				sum.Add(got)
				return err
			}, opts...)
		})
	}
	err := g.Wait()
	fmt.Println("sandboxes:", made.Load())
	return sum.Load(), err
}

// left counts what there still is, looking as somebody else would.
func left(ctx context.Context, id string, labels map[string]string) error {
	p, err := registry.Open(ctx, id)
	if err != nil {
		return err
	}
	found, err := p.List(ctx, contract.ListRequest{Labels: labels})
	if err == nil {
		fmt.Println("left:", len(found))
	}
	return errors.Join(err, p.Close())
}

func run(ctx context.Context, id, image string, fail int) error {
	p, err := registry.Open(ctx, id)
	if err != nil {
		return err
	}
	mine := map[string]string{"fanout": strconv.FormatInt(time.Now().UnixNano(), 36)}
	sum, err := fanOut(ctx, p, fail, sandbox.WithImage(image), sandbox.WithLabels(mine))
	if err == nil {
		fmt.Println("sum:", sum)
	}
	// A create whose caller left is destroyed too; Close waits until that is done.
	return errors.Join(err, p.Close(), left(context.WithoutCancel(ctx), id, mine))
}

func main() {
	image := flag.String("image", "", "what to make the sandboxes from; empty is the provider's default")
	fail := flag.Int("fail", 0, "the task that is to fail; 0 is none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, flag.Arg(0), *image, *fail)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fanout:", err)
		os.Exit(1)
	}
}
