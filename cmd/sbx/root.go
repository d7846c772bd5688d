package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/sandbox"
	"github.com/spf13/cobra"
)

// app is one invocation: its surroundings and the flags that every verb has.
type app struct {
	outside
	json     bool
	quiet    bool
	provider string
	timeout  time.Duration
	watch    *stopwatch
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, o outside) int {
	if o.exits == nil {
		o.exits = &exitHooks{}
	}
	a := &app{outside: o, watch: &stopwatch{}}
	root := newRootCmd(a)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	a.json = a.json || wantsJSON(args)
	return a.report(ctx, cmd, err)
}

// wantsJSON reports whether --json is among the flags, also where reading them
// ended at one before it. What is behind -- is not of this program.
func wantsJSON(args []string) bool {
	for _, arg := range args {
		switch arg {
		case "--":
			return false
		case "--json", "--json=true":
			return true
		}
	}
	return false
}

// Groups of the overview.
const (
	groupUse   = "use"
	groupState = "state"
	groupKnow  = "know"
	groupClean = "clean"
)

func newRootCmd(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "sbx COMMAND",
		Short:         "Use sandboxes, and leave none behind",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return givenWell(cmd.Flags())
		},
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())}
	})
	root.SetUsageTemplate(usageTemplate)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpCommand(&cobra.Command{Use: "no-help", Hidden: true})
	flags := root.PersistentFlags()
	flags.BoolVar(&a.json, "json", false, "print JSON, failures included")
	flags.StringVar(&a.provider, "provider", "", "provider `P`, or several in order: P1,P2")
	flags.DurationVar(&a.timeout, "timeout", 0, "give up after `D` (exec, run, ssh: end the command)")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "no progress, timings or notes on stderr")
	complete(root, "provider", a.completeProviders)
	group := func(id, title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: id, Title: title})
		for _, c := range commands {
			c.GroupID = id
			root.AddCommand(c)
		}
	}
	group(groupUse, "Use a sandbox:", newNewCmd(a), newRunCmd(a), newExecCmd(a), newSSHCmd(a), newScpCmd(a), newPortsCmd(a),
		newLogsCmd(a), newPromptCmd(a))
	group(groupState, "Change it:", newStateCmd(a, "stop"), newStateCmd(a, "start"), newStateCmd(a, "suspend"), newStateCmd(a, "resume"),
		newStateCmd(a, "restart"), newSnapshotCmd(a), newForkCmd(a), newExtendCmd(a), newAdoptCmd(a), newRmCmd(a))
	group(groupKnow, "Know more:", newListCmd(a), newInfoCmd(a), newSnapshotsCmd(a), newProvidersCmd(a), newCapabilitiesCmd(a),
		newEgressCheckCmd(a), newVersionCmd(a))
	group(groupClean, "Leave nothing behind:", newReapCmd(a), newLedgerCmd(a))
	usageArgs(root)
	reflow(root)
	return root
}

// usageTemplate is made for 80 columns.
const usageTemplate = `Usage: {{if .Runnable}}{{.UseLine}}{{end}}{{if and .HasAvailableSubCommands .HasParent}}
       {{.CommandPath}} COMMAND{{end}}{{if .Aliases}}
Alias: {{.NameAndAliases}}{{end}}{{if .HasExample}}

{{.Example}}{{end}}{{if .HasAvailableSubCommands}}{{$all := .Commands}}{{if .Groups}}{{range $group := .Groups}}

{{.Title}}{{range $all}}{{if and (eq .GroupID $group.ID) .IsAvailableCommand}}
  {{rpad .Name 14}}{{.Short}}{{end}}{{end}}{{end}}{{else}}
{{range $all}}{{if .IsAvailableCommand}}
  {{rpad .Name 14}}{{.Short}}{{end}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

Everywhere:
{{.InheritedFlags.FlagUsagesWrapped 80 | trimTrailingWhitespaces}}{{end}}
`

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

// reflow fits the long texts of all commands into 80 columns.
func reflow(c *cobra.Command) {
	var out []string
	for paragraph := range strings.SplitSeq(c.Long, "\n\n") {
		out = append(out, strings.Join(wrapped(paragraph, 80), "\n"))
	}
	c.Long = strings.Join(out, "\n\n")
	c.DisableFlagsInUseLine = true // every line names what matters, and the flags follow
	for _, sub := range c.Commands() {
		reflow(sub)
	}
}

// within is the context of a verb that --timeout limits as a whole.
func (a *app) within(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	ctx := a.progressing(cmd.Context())
	if a.timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, a.timeout)
}

// note tells something on stderr that is no part of the result.
func (a *app) note(format string, args ...any) error {
	if a.quiet {
		return nil
	}
	p := &printer{w: a.err}
	p.line("sbx: "+format, args...)
	return p.err
}

// closing closes p after fn and keeps both errors. What is created late, and
// destroyed because nobody waits for it, is waited for here.
func closing(p *sandbox.Provider, fn func() error) error {
	err := fn()
	return join(err, p.Close())
}

// join keeps a single error as it is: its type is what the exit code is made of.
func join(errs ...error) error {
	var kept []error
	for _, err := range errs {
		if err != nil {
			kept = append(kept, err)
		}
	}
	if len(kept) == 1 {
		return kept[0]
	}
	return errors.Join(kept...)
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
