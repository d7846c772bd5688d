package main

import (
	"context"
	"fmt"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/spf13/cobra"
)

func newRunCmd(a *app) *cobra.Command {
	create, command := &createFlags{}, &commandFlags{}
	cmd := &cobra.Command{
		Use:   "run [FLAGS] -- CMD...",
		Short: "Run a command in a sandbox that is gone afterwards",
		Long: "run creates a sandbox, runs a command in it as exec does, and destroys the sandbox\n" +
			"whatever happens. It exits with the command's exit code, and with 125 when sbx failed\n" +
			"or could not verify that the sandbox is gone.",
		Example:     "  sbx run --image golang:1.26 -- go version",
		Annotations: commandExit(),
		RunE: func(cmd *cobra.Command, args []string) error {
			own, argv, err := behindDash(cmd, args)
			if err != nil {
				return err
			}
			if len(own) > 0 {
				return usagef("run takes no argument before --")
			}
			c, err := a.command(command, argv)
			if err != nil {
				return err
			}
			return a.runRun(cmd.Context(), create, command, c)
		},
	}
	create.register(cmd, a)
	command.register(cmd)
	return cmd
}

// runResult is what run says in JSON.
type runResult struct {
	execView
	Destroy *sandbox.DestroyReport `json:"destroy"`
	Phases  []phase                `json:"phases"`
	Error   *failureView           `json:"error,omitempty"`
}

// runRun needs the sandbox gone more than anything else: its end has a deadline of
// its own and no signal but the second one stops it.
func (a *app) runRun(ctx context.Context, create *createFlags, f *commandFlags, c contract.Command) (err error) {
	p, sb, err := a.create(a.progressing(ctx), create, "", sandbox.Scoped(), sandbox.SkipReady())
	if err != nil {
		return join(err, a.warnings())
	}
	notes := a.warnings()
	e, cmdErr := a.inside(ctx, sb, f, c)
	report, destroyErr := sb.Destroy(ctx)
	if destroyErr != nil {
		destroyErr = fmt.Errorf("%s may still be there; sbx reap says more: %w", sb.Ref(), destroyErr)
	}
	if exit, ended := cmdErr.(exitError); ended { // of a command on a terminal
		e.known, e.code, cmdErr = true, exit.code, nil
	}
	err = join(destroyErr, cmdErr, p.Close(), notes, a.timings("create", "ready", "destroy"))
	if a.json {
		v := runResult{execView: execViewOf(sb, e), Destroy: &report, Phases: a.watch.of("create", "ready", "destroy")}
		if err != nil {
			failure := a.failure(ctx, err)
			v.Error = &failure
		}
		if printErr := printJSON(a.out, v); printErr != nil || err != nil {
			return shownError{join(err, printErr)}
		}
	}
	if err != nil {
		return err
	}
	return codeOf(e)
}

// inside runs the command. It is itself the first one in the sandbox, so nothing
// asks before whether commands run; where it certainly did not run because the
// sandbox is not ready yet, readiness is waited for and it is run then.
func (a *app) inside(ctx context.Context, sb *sandbox.Sandbox, f *commandFlags, c contract.Command) (ending, error) {
	attempt := func() (ending, error) {
		if f.tty {
			return ending{}, a.terminal(ctx, sb, c)
		}
		return a.execute(ctx, sb, c, !f.noInput && a.hasInput())
	}
	e, err := attempt()
	if !notYet(err) || ctx.Err() != nil {
		return e, err
	}
	if readyErr := sb.Ready(ctx); readyErr != nil {
		return e, readyErr
	}
	return attempt()
}

// notYet reports whether a command did not run for a reason that passes.
func notYet(err error) bool {
	e, ok := err.(*port.Error)
	if !ok || e.Outcome != port.OutcomeUnchanged {
		return false
	}
	return e.Code == port.CodeFailedPrecondition || e.Code == port.CodeUnavailable
}
