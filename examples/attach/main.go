// Command attach uses a sandbox that another process made. The first process
// keeps the sandbox and prints its reference, the second one attaches by it,
// runs a command and destroys it:
//
//	ref=$(go run ./examples/attach keep local)
//	go run ./examples/attach use "$ref" cat note
//
// The second may destroy it because both have the same owner: the ledger says
// that this owner made it. To anybody else it is foreign.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path"
	"strings"

	"github.com/agentworkforce/sbx/generated/registry"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// keep makes a sandbox that outlives this process.
func keep(ctx context.Context, id, image string) error {
	p, err := registry.Open(ctx, id)
	if err != nil {
		return err
	}
	sb, err := p.Create(ctx, sandbox.WithImage(image), sandbox.Kept())
	if err != nil {
		return errors.Join(err, p.Close())
	}
	note := "left by the first process\n"
	content := port.WriteStream{Reader: strings.NewReader(note), Size: int64(len(note))}
	if err := sb.WriteFile(ctx, path.Join(sb.Instance().WorkDir, "note"), 0o644, content); err != nil {
		_, destroyErr := sb.Destroy(ctx)
		return errors.Join(err, destroyErr, p.Close())
	}
	fmt.Println(sb.Ref())
	return p.Close() // ends this run; what is kept stays
}

// use runs a command in it and destroys it.
func use(ctx context.Context, text string, command []string) error {
	ref, err := sandbox.ParseRef(text)
	if err != nil {
		return err
	}
	p, err := registry.Open(ctx, ref.Provider())
	if err != nil {
		return err
	}
	sb, err := p.Attach(ctx, ref.Native())
	if err != nil {
		return errors.Join(err, p.Close())
	}
	res, err := sb.Run(ctx, command[0], command[1:]...)
	if err == nil {
		fmt.Printf("%s", res.Stdout)
	}
	report, destroyErr := sb.Destroy(ctx)
	fmt.Println("verified gone:", report.VerifiedGone)
	return errors.Join(err, destroyErr, p.Close())
}

func main() {
	image := flag.String("image", "", "what to make the sandbox from; empty is the provider's default")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	var err error
	switch {
	case flag.Arg(0) == "keep" && flag.NArg() == 2:
		err = keep(ctx, flag.Arg(1), *image)
	case flag.Arg(0) == "use" && flag.NArg() > 2:
		err = use(ctx, flag.Arg(1), flag.Args()[2:])
	default:
		err = errors.New("say keep PROVIDER, or use REF and a command")
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "attach:", err)
		os.Exit(1)
	}
}
