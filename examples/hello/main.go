// Command hello makes a sandbox with the provider named on its command line,
// runs a command in it, writes and reads a file, takes a snapshot where there is
// such a thing, and proves the sandbox gone. The program is the same for every
// provider:
//
//	hello local
//	hello -image alpine docker
//	hello -image alpine gvisor
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"strings"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/generated/registry"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

func hello(ctx context.Context, p *sandbox.Provider, image string) error {
	return sandbox.With(ctx, p, func(ctx context.Context, sb *sandbox.Sandbox) error {
		res, err := sb.Run(ctx, "echo", "hello from", p.ID())
		if err != nil {
			return err
		}
		name := path.Join(sb.Instance().WorkDir, "hello.txt")
		if err := sb.WriteFile(ctx, name, 0o644, text(res.Stdout)); err != nil {
			return err
		}
		file, err := sb.ReadFile(ctx, name)
		if err != nil {
			return err
		}
		return errors.Join(show(file), capture(ctx, p, sb))
	}, sandbox.WithImage(image))
}

func text[T string | []byte](s T) port.WriteStream {
	return port.WriteStream{Reader: strings.NewReader(string(s)), Size: int64(len(s))}
}

func show(file port.ReadStream) error {
	_, err := io.Copy(os.Stdout, file)
	return errors.Join(err, file.Close())
}

// capture takes a snapshot and deletes it. A provider without snapshots answers
// unsupported, with the reason, and has changed nothing; that is no failure here.
func capture(ctx context.Context, p *sandbox.Provider, sb *sandbox.Sandbox) error {
	snapshot, err := sb.CreateSnapshot(ctx, contract.SnapshotRequest{Name: "hello"})
	if errors.Is(err, port.Is(port.CodeUnsupported)) {
		fmt.Println("no snapshot:", err)
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Println("snapshot", snapshot.ID)
	_, err = p.DeleteSnapshot(ctx, snapshot.ID)
	return err
}

func run(ctx context.Context, id, image string) error {
	p, err := registry.Open(ctx, id)
	if err != nil {
		return err
	}
	return errors.Join(hello(ctx, p, image), p.Close())
}

func main() {
	image := flag.String("image", "", "what to make the sandbox from; empty is the provider's default")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, flag.Arg(0), *image)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "hello:", err)
		os.Exit(1)
	}
}
