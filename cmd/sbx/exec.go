package main

import (
	"context"
	"unicode/utf8"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/spf13/cobra"
)

// commandFlags are the flags of verbs that run a command.
type commandFlags struct {
	env     []string
	dir     string
	tty     bool
	noInput bool
}

func (f *commandFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&f.dir, "dir", "w", "", "working directory `DIR` in the sandbox")
	flags.BoolVarP(&f.tty, "tty", "t", false, "run on a terminal")
	flags.BoolVarP(&f.noInput, "no-stdin", "n", false, "pass no standard input")
}

// command is what to run, as the contract says it.
func (a *app) command(f *commandFlags, argv []string) (contract.Command, error) {
	env, err := pairs("--env", f.env, a.lookup)
	if err != nil {
		return contract.Command{}, err
	}
	return contract.Command{Argv: argv, Env: env, Dir: f.dir, Timeout: a.timeout}, nil
}

// behindDash splits arguments at "--": what is before belongs to sbx.
func behindDash(cmd *cobra.Command, args []string) (own, command []string, err error) {
	at := cmd.ArgsLenAtDash()
	if at < 0 || at == len(args) {
		return nil, nil, usagef("the command goes behind --: %s; see %s --help", cmd.UseLine(), cmd.CommandPath())
	}
	return args[:at], args[at:], nil
}

func newExecCmd(a *app) *cobra.Command {
	f := &commandFlags{}
	var detach bool
	cmd := &cobra.Command{
		Use:   "exec [FLAGS] REF -- CMD...",
		Short: "Run a command in a sandbox",
		Long: "exec runs a command with standard input, output and error passed through, and exits\n" +
			"with the command's exit code; 125 is a failure of sbx itself, told on stderr.",
		Example:           "  sbx exec $id -- go test ./...",
		Annotations:       commandExit(),
		ValidArgsFunction: a.completeRef,
		RunE: func(cmd *cobra.Command, args []string) error {
			own, argv, err := behindDash(cmd, args)
			if err != nil {
				return err
			}
			if len(own) != 1 {
				return usagef("exec wants one REF before --")
			}
			if detach {
				cmd.Annotations = nil // nothing is waited for, so there is no exit code of a command
				return a.withProvider(cmd.Context(), own[0], func(p *sandbox.Provider, native string) error {
					return refused(p, "Exec", native, contract.CapabilityExecAsync)
				})
			}
			return a.runExec(cmd.Context(), own[0], f, argv)
		},
	}
	f.register(cmd)
	cmd.Flags().StringArrayVarP(&f.env, "env", "e", nil, "variable `K=V`, or K to take it from here")
	cmd.Flags().BoolVarP(&detach, "detach", "d", false, "do not wait (where the provider has exec.async)")
	return cmd
}

func (a *app) runExec(ctx context.Context, ref string, f *commandFlags, argv []string) error {
	c, err := a.command(f, argv)
	if err != nil {
		return err
	}
	return a.withSandbox(ctx, ref, func(sb *sandbox.Sandbox) error {
		if f.tty {
			return a.terminal(ctx, sb, c)
		}
		e, err := a.execute(ctx, sb, c, !f.noInput && a.hasInput())
		if err != nil {
			return err
		}
		if a.json {
			if err := printJSON(a.out, execViewOf(sb, e)); err != nil {
				return err
			}
		}
		return codeOf(e)
	})
}

// codeOf makes the exit code of a command the one of this program.
func codeOf(e ending) error {
	if e.code == 0 {
		return nil
	}
	return exitError{e.code}
}

// execView is how a command ended, in JSON.
type execView struct {
	Ref       string           `json:"ref"`
	ExitCode  *int             `json:"exitCode"` // null: not known
	Stdout    string           `json:"stdout,omitempty"`
	Stderr    string           `json:"stderr,omitempty"`
	StdoutRaw []byte           `json:"stdoutBase64,omitempty"` // instead, when it is not UTF-8
	StderrRaw []byte           `json:"stderrBase64,omitempty"`
	Streams   contract.Streams `json:"streams,omitempty"`
	Truncated *bool            `json:"truncated"` // null: nobody can say
}

func execViewOf(sb *sandbox.Sandbox, e ending) execView {
	v := execView{Ref: sb.Ref().String(), Streams: e.streams, Truncated: e.truncated}
	if e.known {
		v.ExitCode = &e.code
	}
	if utf8.Valid(e.stdout) {
		v.Stdout = string(e.stdout)
	} else {
		v.StdoutRaw = e.stdout
	}
	if utf8.Valid(e.stderr) {
		v.Stderr = string(e.stderr)
	} else {
		v.StderrRaw = e.stderr
	}
	return v
}
