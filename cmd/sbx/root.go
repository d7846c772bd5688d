package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/spf13/cobra"
)

// Exit codes that are not those of an error code; schema/errors.json has all.
const (
	exitDone       = 0
	exitFailed     = 1
	exitUsage      = 2
	exitUnverified = 3
	exitUnknown    = 7
)

// outside is what surrounds the program, so that commands are tested in process.
type outside struct {
	out, err io.Writer
	lookup   func(name string) (string, bool)
	driver   func(id string) (sandbox.Driver, bool)
}

func (o outside) getenv(name string) string {
	v, ok := o.lookup(name)
	if !ok {
		return ""
	}
	return v
}

// usageError: the program was called wrongly and did nothing.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// exitError carries an exit code whose reason has been printed already.
type exitError struct{ code int }

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, o outside) int {
	root := newRootCmd(o)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	if exit, ok := errors.AsType[exitError](err); ok {
		return exit.code
	}
	if _, printErr := fmt.Fprintf(o.err, "sbx: %v\n", err); printErr != nil {
		return exitFailed
	}
	return exitCode(err)
}

// exitCode turns an error into the exit code schema/errors.json gives it.
func exitCode(err error) int {
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*ledger.InvalidError](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*sandbox.UnverifiedError](err); ok {
		return exitUnverified
	}
	return port.CodeOf(err).ExitCode()
}

func newRootCmd(o outside) *cobra.Command {
	root := &cobra.Command{
		Use:           "sbx",
		Short:         "Use sandboxes, and leave none behind",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(o.out)
	root.SetErr(o.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newReapCmd(o), newLedgerCmd(o), newVersionCmd(o))
	usageArgs(root)
	return root
}

// usageArgs turns complaints about arguments into usage errors, everywhere.
func usageArgs(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return usageError{fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())}
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		usageArgs(sub)
	}
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
