package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/schema"
)

// conformanceFlags are what the command line of conformance says.
type conformanceFlags struct {
	run, json string
	parallel  int
	watch     bool
}

func newConformanceCmd(s streams) *cobra.Command {
	var flags conformanceFlags
	c := &cobra.Command{
		Use:   "conformance PROVIDER",
		Short: "Run the conformance suite against the vendor or engine that is configured here",
		Long: "conformance builds the provider's generated test where the provider lives, in this tree\n" +
			"or in a module of its own, and runs it against the vendor or engine that its settings\n" +
			"name. In a terminal it shows what runs now, what passed and how long it may take;\n" +
			"elsewhere one line for each check. An interrupt is passed on: everything that was made\n" +
			"is destroyed before the command ends.\n\n" +
			"The exit code is 0 when nothing failed, 1 when something did (or, with\n" +
			"SBX_REQUIRE=owed, when a check that is owed is unknown), 2 when the command was called\n" +
			"wrongly and 3 when the run itself could not be made.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runConformance(cmd, s, flags, args[0]) },
	}
	c.Flags().StringVar(&flags.run, "run", "", "run only checks whose ID matches this regular `expression`, and what they depend on")
	c.Flags().IntVar(&flags.parallel, "parallel", 4, "checks that may run at once")
	c.Flags().StringVar(&flags.json, "json", "", "write the report as JSON to this `file`; - is standard output")
	c.Flags().BoolVar(&flags.watch, "watch", false, "run again whenever a file of the provider changes")
	return c
}

func runConformance(cmd *cobra.Command, s streams, flags conformanceFlags, id string) (err error) {
	if err := checkSelection(flags.run); err != nil {
		return err
	}
	if flags.parallel < 1 {
		return usagef("--parallel %d: at least one check has to run", flags.parallel)
	}
	p, err := loadProject(cmd, s, []string{id})
	if err != nil {
		return err
	}
	su, err := findSuite(p, id)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, su.close()) }()
	if flags.watch {
		return su.watch(cmd.Context(), s, func(ctx context.Context) error { return conformOnce(ctx, s, su, flags) })
	}
	return conformOnce(cmd.Context(), s, su, flags)
}

// conformOnce builds, runs and reports once.
func conformOnce(ctx context.Context, s streams, su *suite, flags conformanceFlags) error {
	if err := su.build(ctx, s); err != nil {
		return err
	}
	r := conformanceRun{pattern: flags.run, parallel: flags.parallel}
	report, output, err := su.conform(ctx, s, r)
	if err != nil {
		return err
	}
	if report == nil {
		return fmt.Errorf("the suite wrote no report; it printed:\n%s", tail(output, 4<<10))
	}
	printFailures(s.out, su, report)
	if _, err := fmt.Fprintln(s.out, report.Summary()); err != nil {
		return err
	}
	if flags.json != "" {
		if err := writeJSONFile(s, flags.json, report.Encode); err != nil {
			return err
		}
	}
	require := strings.Split(strings.ReplaceAll(s.getenv(conformance.EnvRequire), " ", ""), ",")
	return conformanceVerdict(s.err, report, slices.Contains(require, "owed"), flags.run != "")
}

// conformanceVerdict is a finding when something failed, or is unknown that is
// owed and required. Where it is not required that is said: no failure is not a
// proof. A selection leaves the rest unknown on purpose.
func conformanceVerdict(w io.Writer, report *conformance.Report, require, selected bool) error {
	owed := report.Counts.OwedUnknown
	if !report.OK() || owed > 0 && require {
		return findingsError{}
	}
	if owed > 0 && !selected {
		fmt.Fprintf(w, "nothing failed, and of what is owed %s unknown; %s=owed makes that a failure\n",
			map[bool]string{true: "1 check is", false: fmt.Sprint(owed, " checks are")}[owed == 1], conformance.EnvRequire)
	}
	return nil
}

// checkSelection refuses an expression that selects nothing.
func checkSelection(expression string) error {
	re, err := regexp.Compile(expression)
	if err != nil {
		return usagef("--run: %v", err)
	}
	checks, err := schema.Checks()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(checks, func(c schema.Check) bool { return re.MatchString(c.ID) }) {
		return usagef("--run %q: no check matches; sbxgen explain lists them", expression)
	}
	return nil
}

// conformanceRun is how the suite is run.
type conformanceRun struct {
	pattern  string
	parallel int
	state    string // root of the ledgers; empty is a temporary one
	dummy    string
	env      []string
	quiet    bool
	started  func(pid int)
	// unreachable is told why the vendor cannot be reached.
	unreachable func(message string)
}

// conform runs the suite and decodes its report, which is nil when it wrote none.
func (su *suite) conform(ctx context.Context, s streams, r conformanceRun) (*conformance.Report, []byte, error) {
	dir, err := os.MkdirTemp(su.temp, "run-")
	if err != nil {
		return nil, nil, err
	}
	file, progress := filepath.Join(dir, "conformance.json"), filepath.Join(dir, "progress.jsonl")
	env := append([]string{conformance.EnvReport + "=" + file, conformance.EnvProgress + "=" + progress,
		conformance.EnvRun + "=" + r.pattern, conformance.EnvParallel + "=" + strconv.Itoa(r.parallel),
		conformance.EnvState + "=" + r.state, conformance.EnvDummy + "=" + r.dummy}, r.env...)
	view := newCheckView(s)
	if r.quiet {
		view.screen = screen{out: io.Discard}
	}
	stop := follow(progress, func(e conformance.ProgressLine) {
		if e.Check == "" && r.unreachable != nil {
			r.unreachable(e.Message)
		}
		view.take(e)
	}, view.tick)
	output, err := su.run(ctx, []string{"-test.run=^TestConformance$", "-test.count=1", "-test.timeout=0"}, env, r.started)
	err = errors.Join(err, stop())
	view.end()
	if err != nil {
		return nil, output, err
	}
	src, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, output, nil
	}
	if err != nil {
		return nil, output, err
	}
	report, err := conformance.DecodeReport(src)
	return report, output, err
}

// printFailures names for each failure the sentence, the adapter's method and the
// command that repeats it.
func printFailures(w io.Writer, su *suite, report *conformance.Report) {
	for _, c := range report.Checks {
		if c.Verdict != conformance.Failed {
			continue
		}
		fmt.Fprintf(w, "\nFAILED %s: %s\n", c.ID, diag.PrintableLines(c.Message))
		if c.Rule != "" {
			fmt.Fprintf(w, "  rule:    %s; sbxgen explain %s\n", c.Rule, c.ID)
		}
		if c.Location != "" {
			fmt.Fprintf(w, "  adapter: %s: %s\n", su.place(c.Location), c.Method)
		}
		fmt.Fprintf(w, "  repeat:  sbxgen conformance %s --run '^%s$'\n", report.Provider, regexp.QuoteMeta(c.ID))
	}
	for _, p := range report.Problems {
		fmt.Fprintf(w, "\nPROBLEM of the run: %s\n", p)
	}
	if report.Counts.Executed == 0 {
		fmt.Fprintln(w, "\nno check was executed: that is no success")
	}
}

func tail(b []byte, most int) []byte {
	if len(b) > most {
		return b[len(b)-most:]
	}
	return b
}

// writeJSONFile writes to a file, or to standard output for "-".
func writeJSONFile(s streams, name string, encode func(io.Writer) error) (err error) {
	if name == "-" {
		return encode(s.out)
	}
	f, err := os.Create(name)
	if err != nil {
		return usageError{err}
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return encode(f)
}
