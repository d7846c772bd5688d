package main

import (
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/agentworkforce/sbx/internal/gen"
)

func newNewCmd(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "new",
		Short: "Start something new: a provider",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(newProviderCmd(s))
	return c
}

// newProviderFlags are the flags of `new provider` that are no question.
type newProviderFlags struct {
	from, module, dir, replace string
	dryRun, resume             bool
}

// newProviderCmd makes the command whose flags come from the schema. They are
// added when the command is used, so that other commands do not pay for reading
// the schema.
func newProviderCmd(s streams) *cobra.Command {
	var flags newProviderFlags
	var questions []gen.Question
	c := &cobra.Command{
		Use:                "provider [ID]",
		Short:              "Make a provider that compiles and says what is still unproven",
		DisableFlagParsing: true, // until the flags are known
		Args:               cobra.ArbitraryArgs,
	}
	addFlags := sync.OnceValue(func() error {
		var err error
		if questions, err = gen.ProviderQuestions(); err != nil {
			return err
		}
		c.Long = newProviderHelp(questions)
		addQuestionFlags(c, questions)
		f := c.Flags()
		f.StringVar(&flags.from, "from", "", "read answers from this manifest, whole or in part; - is standard input")
		f.StringVar(&flags.dir, "dir", "", "the provider's `folder`; default providers/ID of the module around it")
		f.StringVar(&flags.module, "module", "", "make a module of this `path` in --dir when there is none")
		f.StringVar(&flags.replace, "replace", "", "the sbx `checkout` that a module made here builds with; default the one around the current folder")
		f.BoolVar(&flags.dryRun, "dry-run", false, "write nothing; print the tree and the difference")
		f.BoolVar(&flags.resume, "resume", false, "go on with the answers of a session that was left")
		c.MarkFlagsMutuallyExclusive("from", "resume")
		c.DisableFlagParsing = false
		return nil
	})
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := addFlags(); err != nil {
			return err
		}
		if err := cmd.ParseFlags(args); err != nil {
			return usageError{err}
		}
		if help, err := cmd.Flags().GetBool("help"); err == nil && help {
			return cmd.Help()
		}
		if err := checkFlags(cmd); err != nil {
			return err
		}
		if err := cmd.ValidateFlagGroups(); err != nil {
			return usageError{err}
		}
		if ids := cmd.Flags().Args(); len(ids) > 1 {
			return usagef("one ID at a time, not %s", strings.Join(ids, " "))
		}
		return runNewProvider(cmd, s, flags, questions)
	}
	show := c.HelpFunc()
	c.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if err := addFlags(); err != nil {
			fmt.Fprintf(s.err, "sbxgen: %v\n", err)
			return
		}
		show(cmd, args)
	})
	return c
}

func addQuestionFlags(c *cobra.Command, questions []gen.Question) {
	for _, q := range questions {
		switch {
		case q.Flag == "":
		case q.Many:
			c.Flags().StringSlice(q.Flag, nil, strings.ToLower(q.Title)+", repeated or separated by commas: "+q.Text)
		default:
			c.Flags().String(q.Flag, q.Default, flagUsage(q))
		}
	}
}

func flagUsage(q gen.Question) string {
	usage := q.Text
	if len(q.Options) > 0 {
		var words []string
		for _, o := range q.Options {
			words = append(words, o.Word)
		}
		usage += " One of " + strings.Join(words, ", ")
	}
	return usage
}

func newProviderHelp(questions []gen.Question) string {
	var b strings.Builder
	b.WriteString("new provider makes the folder of a provider: its manifest, an adapter whose methods\n" +
		"answer not_implemented, a typed client, tests and a checklist. It compiles and its\n" +
		"tests run at once; whatever was not answered is unknown until you establish it.\n\n" +
		"In a terminal it asks what the flags leave open (shift+tab goes back, ctrl+c keeps the\n" +
		"answers for --resume). Anywhere else it asks nothing: give the flags, or --from with a\n" +
		"file in the form of the manifest.\n\nIt asks for:\n")
	for i, q := range questions {
		name := "--" + q.Flag
		if q.Flag == "" {
			name = "ID"
		}
		need := ""
		if q.Required {
			need = " (required)"
		}
		fmt.Fprintf(&b, "  %d. %-17s %s%s\n", i+1, name, q.Text, need)
	}
	for _, q := range questions {
		if q.Many {
			fmt.Fprintf(&b, "\n--%s is one or more of:\n", q.Flag)
			for _, o := range q.Options {
				fmt.Fprintf(&b, "  %-14s %s\n", o.Word, o.Text)
			}
			b.WriteString("A chosen one is written as unknown, with its methods to fill in; change it to\nsupported when they work.\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}
