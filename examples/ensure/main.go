// Command ensure starts two copies of itself that ask for the sandbox of one key
// at the same time. One of them creates it and both get the same reference:
//
//	go run ./examples/ensure local
//	go run ./examples/ensure -image alpine docker
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/generated/registry"
	"github.com/agentworkforce/sbx/sandbox"
)

// ensure prints the reference of the key's sandbox, made now or found.
func ensure(ctx context.Context, id, image, key string) error {
	p, err := registry.Open(ctx, id)
	if err != nil {
		return err
	}
	// The options count only for the one that creates it. It is kept: the end of
	// that process does not end it.
	sb, err := p.Ensure(ctx, key, sandbox.WithImage(image), sandbox.WithLabels(map[string]string{"for": key}))
	if err != nil {
		return errors.Join(err, p.Close())
	}
	fmt.Println(sb.Ref())
	return p.Close()
}

// race asks from two processes at once.
func race(ctx context.Context, id, image, key string) (refs [2]string, err error) {
	self, err := os.Executable()
	if err != nil {
		return refs, err
	}
	g, ctx := errgroup.WithContext(ctx)
	for i := range refs {
		g.Go(func() error {
			c := exec.CommandContext(ctx, self, "-image", image, "-key", key, id)
			c.Stderr = os.Stderr
			out, err := c.Output()
			refs[i] = strings.TrimSpace(string(out))
			return err
		})
	}
	return refs, g.Wait()
}

// compare shows what both got and how many there are, and destroys it.
func compare(ctx context.Context, id, key string, refs [2]string) error {
	p, err := registry.Open(ctx, id)
	if err != nil {
		return err
	}
	fmt.Printf("%s\n%s\nthe same: %t\n", refs[0], refs[1], refs[0] == refs[1])
	all, err := p.List(ctx, contract.ListRequest{Labels: map[string]string{"for": key}})
	if err != nil {
		return errors.Join(err, p.Close())
	}
	fmt.Println("sandboxes:", len(all))
	for _, i := range all {
		sb, err := p.Attach(ctx, i.ID)
		if err == nil {
			_, err = sb.Destroy(ctx)
		}
		if err != nil {
			return errors.Join(err, p.Close())
		}
	}
	return p.Close()
}

func main() {
	image := flag.String("image", "", "what to make the sandbox from; empty is the provider's default")
	key := flag.String("key", "", "be one of the two processes, and ask for this key")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	var err error
	if *key != "" {
		err = ensure(ctx, flag.Arg(0), *image, *key)
	} else {
		shared := fmt.Sprint("example-", os.Getpid())
		var refs [2]string
		refs, err = race(ctx, flag.Arg(0), *image, shared)
		err = errors.Join(err, compare(context.WithoutCancel(ctx), flag.Arg(0), shared, refs))
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "ensure:", err)
		os.Exit(1)
	}
}
