// Command stream shows a command's output while the command runs, standard
// output and standard error apart. The command waits for an answer after every
// line, so it would never end if its output came only at the end:
//
//	go run ./examples/stream local
//	go run ./examples/stream -image alpine docker
//
// A provider that lacks exec.stream refuses, and there is no pretending with a
// buffer.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"golang.org/x/sync/errgroup"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/generated/registry"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

const script = `for i in 1 2 3; do echo "step $i"; read answer; echo "heard $answer" >&2; done; exit 3`

// follow shows both streams until the command has ended.
func follow(ctx context.Context, p port.Process) error {
	var g errgroup.Group
	g.Go(func() error { return answer(p.Stdout(), p.Stdin()) })
	if p.Stderr() != nil { // nil: this provider merges it into standard output
		g.Go(func() error {
			_, err := io.Copy(os.Stderr, p.Stderr())
			return err
		})
	}
	code := 0
	g.Go(func() (err error) {
		code, err = p.Wait(ctx)
		if ctx.Err() != nil {
			err = errors.Join(err, p.Close()) // ends the command, and with it the streams
		}
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	fmt.Println("exit code", code)
	return nil
}

// answer shows each line as it comes and answers it.
func answer(from io.Reader, to io.Writer) error {
	lines := bufio.NewScanner(from)
	for n := 1; lines.Scan(); n++ {
		fmt.Println(lines.Text())
		if _, err := fmt.Fprintln(to, "answer", n); err != nil {
			return err
		}
	}
	return lines.Err()
}

func run(ctx context.Context, id, image string) error {
	p, err := registry.Open(ctx, id)
	if err != nil {
		return err
	}
	err = sandbox.With(ctx, p, func(ctx context.Context, sb *sandbox.Sandbox) error {
		process, err := sb.Stream(ctx, contract.Command{Script: script, OpenStdin: true})
		if err != nil {
			return err
		}
		return errors.Join(follow(ctx, process), process.Close())
	}, sandbox.WithImage(image))
	return errors.Join(err, p.Close())
}

func main() {
	image := flag.String("image", "", "what to make the sandbox from; empty is the provider's default")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, flag.Arg(0), *image)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "stream:", err)
		os.Exit(1)
	}
}
