package main

import (
	"context"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/spf13/cobra"
)

// loginShell is the best shell a sandbox has.
const loginShell = `if command -v bash >/dev/null 2>&1; then exec bash; fi; exec sh`

func newSSHCmd(a *app) *cobra.Command {
	f := &commandFlags{}
	cmd := &cobra.Command{
		Use:     "ssh REF [-- CMD...]",
		Aliases: []string{"connect"},
		Short:   "Open a shell in a sandbox",
		Long: "ssh opens a shell on a terminal of the sandbox and says how: over the provider's SSH\n" +
			"where it has it, else over its pty. It exits with the shell's exit code, 125 when sbx failed.",
		Annotations:       commandExit(),
		ValidArgsFunction: a.completeRef,
		RunE: func(cmd *cobra.Command, args []string) error {
			own, argv := args, []string(nil)
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				own, argv = args[:at], args[at:]
			}
			if len(own) != 1 {
				return usagef("ssh wants one REF")
			}
			return a.runSSH(cmd.Context(), own[0], f, argv)
		},
	}
	cmd.Flags().StringVarP(&f.dir, "dir", "w", "", "working directory `DIR` in the sandbox")
	cmd.Flags().StringArrayVarP(&f.env, "env", "e", nil, "variable `K=V`, or K to take it from here")
	return cmd
}

// runSSH: no provider that is built in offers SSH through the contract, so what is
// left is the pty; which of them it is is told, because they are not the same.
func (a *app) runSSH(ctx context.Context, ref string, f *commandFlags, argv []string) error {
	c, err := a.command(f, argv)
	if err != nil {
		return err
	}
	if len(argv) == 0 {
		c.Script = loginShell
	}
	return a.withSandbox(ctx, ref, func(sb *sandbox.Sandbox) error {
		if sb.Supports(contract.CapabilityPTY) {
			if _, err := a.keyboard(); err != nil {
				return err
			}
			if err := a.note("connected to %s by pty", sb.Ref()); err != nil {
				return err
			}
		}
		return a.terminal(ctx, sb, c)
	})
}
