// Command egress asks for a sandbox that reaches nothing but example.com. What
// will become of that is known before anything starts; a provider that cannot
// enforce it refuses, and nothing is created:
//
//	go run ./examples/egress local
//	go run ./examples/egress -uncontained local
//
// The second lets this one start go on without the policy, and is told so.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/generated/registry"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

func start(ctx context.Context, p *sandbox.Provider, policy contract.EgressPolicy, opts ...sandbox.CreateOption) error {
	opts = append(opts, sandbox.WithEgress(policy))
	return sandbox.With(ctx, p, func(ctx context.Context, sb *sandbox.Sandbox) error {
		res, err := sb.Run(ctx, "echo", "it runs")
		if err == nil {
			fmt.Printf("%s", res.Stdout)
		}
		return err
	}, opts...)
}

func run(ctx context.Context, id, image string, uncontained bool) error {
	warn := func(provider string, _ contract.EgressPolicy) {
		fmt.Println("warning:", provider, "enforces no policy; this sandbox reaches everything")
	}
	p, err := registry.Open(ctx, id, sandbox.OnEgressUnenforced(warn))
	if err != nil {
		return err
	}
	policy := contract.EgressPolicy{Mode: contract.EgressModeAllowList, Hosts: []string{"example.com"}}
	// Pure: it asks nobody and changes nothing.
	fmt.Println("disposition:", sandbox.EgressDisposition(p.Manifest().Egress, &policy, uncontained))

	opts := []sandbox.CreateOption{sandbox.WithImage(image)}
	if uncontained {
		opts = append(opts, sandbox.AllowUncontained())
	}
	err = start(ctx, p, policy, opts...)
	if errors.Is(err, port.Is(port.CodeUnsupported)) {
		fmt.Println("refused:", err)
		// The ledger is on disk before a vendor is asked; there is not even a file.
		fmt.Println("created nothing:", p.LedgerPath() == "")
		err = nil
	}
	return errors.Join(err, p.Close())
}

func main() {
	image := flag.String("image", "", "what to make the sandbox from; empty is the provider's default")
	uncontained := flag.Bool("uncontained", false, "start also where nobody enforces the policy")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, flag.Arg(0), *image, *uncontained)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "egress:", err)
		os.Exit(1)
	}
}
