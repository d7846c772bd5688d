// Command fallback runs a command in Docker where that works, else in a folder
// of this machine. -need names capabilities that a provider must have to be
// taken at all:
//
//	fallback -image alpine -- uname -a
//	fallback -image alpine -need files,snapshot -- uname -a
//
// There is no ranking: the order in the program is the order of choice, and the
// next provider is tried only after a failure that is known to have left
// nothing behind.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/providers/docker"
	"github.com/agentworkforce/sbx/providers/local"
	"github.com/agentworkforce/sbx/sandbox"
)

// choices are the providers in order. Only docker's sandboxes are made from an
// image, so it is the default of that driver and not an option of every create.
func choices(image string) []sandbox.Driver {
	first := docker.Driver()
	first.Manifest.Image = image
	return []sandbox.Driver{first, local.Driver()}
}

// which says who would be taken by what the manifests say, creating nothing.
func which(ctx context.Context, drivers []sandbox.Driver, need sandbox.Requirements) error {
	p, err := sandbox.OpenFirst(ctx, drivers, need)
	if err != nil {
		return err
	}
	fmt.Println("first choice:", p.ID())
	return p.Close()
}

func run(ctx context.Context, drivers []sandbox.Driver, need sandbox.Requirements, command []string) error {
	if err := which(ctx, drivers, need); err != nil {
		return err
	}
	p, sb, err := sandbox.CreateFirst(ctx, drivers, need, nil)
	if err != nil {
		return err
	}
	res, err := sb.Run(ctx, command[0], command[1:]...)
	if err == nil {
		fmt.Printf("ran on %s, exit code %d\n%s", p.ID(), res.ExitCode, res.Stdout)
	}
	_, destroyErr := sb.Destroy(ctx)
	return errors.Join(err, destroyErr, p.Close())
}

func main() {
	image := flag.String("image", "", "what docker makes the sandbox from")
	needs := flag.String("need", "", "capabilities that are required, with commas between")
	flag.Parse()
	var need sandbox.Requirements
	for c := range strings.FieldsFuncSeq(*needs, func(r rune) bool { return r == ',' }) {
		need.Capabilities = append(need.Capabilities, contract.Capability(c))
	}
	command := flag.Args()
	if len(command) == 0 {
		command = []string{"echo", "hello"}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, choices(*image), need, command)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fallback:", err)
		os.Exit(1)
	}
}
