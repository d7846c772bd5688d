package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/secretscan"
)

// Exit codes of sbxgen.
const (
	exitClean    = 0
	exitFindings = 1
	exitUsage    = 2
	exitInternal = 3
)

// streams are the outside of the process, so that commands are tested in it.
type streams struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
}

// findingsError says that the command did its work and found something. What
// it found has been printed already.
type findingsError struct{}

func (findingsError) Error() string { return "findings" }

// usageError says that the command was called wrongly; nothing was done.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, s streams) int {
	root := newRootCmd(s)
	root.SetArgs(args)
	err := noFolder(root.ExecuteContext(ctx))
	switch {
	case err == nil:
		return exitClean
	case interrupted(ctx, err, s):
		return exitInterrupted
	case errors.As(err, &findingsError{}):
		return exitFindings
	}
	// It may repeat an argument, and that may be a key that was put in the wrong place.
	text := secretscan.Hide(err.Error(), secretscan.Options{})
	if _, printErr := fmt.Fprintf(s.err, "sbxgen: %s\n", diag.PrintableLines(text)); printErr != nil {
		return exitInternal
	}
	var usage usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitInternal
}

func newRootCmd(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "sbxgen",
		Short: "Make sandbox providers, and check what they claim",
		Long: "sbxgen makes and checks sandbox providers.\n\n" +
			"A provider is a folder with a manifest, provider.yaml. From it and the schema sbxgen\n" +
			"generates everything that is not the vendor's own behaviour, and it refuses claims\n" +
			"that nothing proves. Start with: sbxgen new provider",
		SilenceUsage: true, SilenceErrors: true,
		Args:              cobra.NoArgs,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return checkFlags(cmd) },
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.PersistentFlags().String("chdir", "", "run as if started in this folder")
	root.AddCommand(newNewCmd(s), newGenerateCmd(s), newChecklistCmd(s), newValidateCmd(s), newExplainCmd(s), newSchemaCmd(s),
		newConformanceCmd(s), newBenchCmd(s), newEvidenceCmd(s), newStatusCmd(s))
	usageArgs(root)
	return root
}

// checkFlags refuses a --chdir that is no folder, which would otherwise stand for
// the project around it, and a --chdir or --as-of that was given and is empty, as
// a variable without a value is.
func checkFlags(cmd *cobra.Command) error {
	for _, name := range []string{"chdir", "as-of"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed && f.Value.String() == "" {
			return usagef("--%s is empty; give it a value, or leave it out", name)
		}
	}
	dir, err := cmd.Flags().GetString("chdir")
	if err != nil || dir == "" {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return usagef("--chdir: %w", err)
	}
	if !info.IsDir() {
		return usagef("--chdir: %s is not a folder", dir)
	}
	return nil
}

// usageArgs turns cobra's complaints about arguments into usage errors, for
// every command below c.
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
