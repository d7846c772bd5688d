package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentworkforce/sbx/bench"
	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/internal/evidence"
	"github.com/agentworkforce/sbx/ledger"
)

// collectFlags are what the command line of collect says.
type collectFlags struct {
	samples, parallel int
	ceiling           float64
	keep              bool
	producer          evidence.Producer
}

func newEvidenceCollectCmd(s streams) *cobra.Command {
	var flags collectFlags
	c := &cobra.Command{
		Use:   "collect PROVIDER",
		Short: "Run suite and benchmark against the real vendor and write the run to evidence/",
		Long: "collect first looks whether everything is there: credentials, a vendor or engine that\n" +
			"answers, a cost below --max-cost-usd. Until then it only reads; when something is\n" +
			"missing the verdict is blocked-before-mutation, with the names of what is missing and\n" +
			"nothing left behind. Then it runs the whole suite and the benchmark, gathers the\n" +
			"ledgers, looks for a secret that it injected on purpose, and writes the folder as a\n" +
			"whole. Verdict and mode follow from the records; no flag states them.\n\n" +
			"It works unchanged under any program that sets variables for one command. The exit\n" +
			"code is 0 when the run passed, and 1 otherwise; failed runs are written too.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runCollect(cmd, s, flags, args[0]) },
	}
	c.Flags().IntVar(&flags.samples, "samples", evidence.MinSamples, "samples of each metric")
	c.Flags().IntVar(&flags.parallel, "parallel", 4, "checks that may run at once")
	c.Flags().Float64Var(&flags.ceiling, "max-cost-usd", 0, "make nothing when the rates of the manifest project more `USD`")
	c.Flags().BoolVar(&flags.keep, "keep-blocked", false, "write a blocked run to evidence/ too")
	c.Flags().StringVar(&flags.producer.Person, "person", "", "who makes the run")
	c.Flags().StringVar(&flags.producer.Agent, "agent", "", "which agent makes the run")
	c.Flags().StringVar(&flags.producer.Node, "node", "", "on which node it is made")
	c.Flags().StringVar(&flags.producer.WorkUnit, "work-unit", "", "what it is made for")
	return c
}

func runCollect(cmd *cobra.Command, s streams, flags collectFlags, id string) (err error) {
	if flags.samples < evidence.MinSamples {
		return usagef("--samples %d: evidence needs at least %d", flags.samples, evidence.MinSamples)
	}
	if err := checkCeiling(flags.ceiling); err != nil {
		return err
	}
	p, err := loadProject(cmd, s, []string{id})
	if err != nil {
		return err
	}
	su, err := findSuite(p, id)
	if err != nil {
		return err
	}
	c := &collection{suite: su, s: s, flags: flags}
	defer func() { err = errors.Join(err, c.close()) }()
	return c.collect(cmd.Context())
}

var errInterrupted = errors.New("interrupted; nothing was written")

// collection is one run on its way to a folder.
type collection struct {
	*suite
	s     streams
	flags collectFlags
	dummy string
	now   *evidence.Current
	run   evidence.Run
	owing bool // something is owed at the vendor: the ledgers stay
}

func (c *collection) close() error {
	if c.owing {
		fmt.Fprintf(c.s.err, "something may be left at the vendor; its ledgers are kept: SBX_STATE_DIR=%s sbx reap\n", filepath.Join(c.temp, "state"))
		return nil
	}
	return c.suite.close()
}

func (c *collection) collect(ctx context.Context) error {
	var err error
	if c.now, err = currentOf(c.project, c.manifest); err != nil {
		return err
	}
	missing, err := c.preflight(ctx)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return c.blocked(missing)
	}
	if err := c.records(ctx); err != nil {
		return err
	}
	b, err := evidence.New(c.run, c.now)
	if err != nil {
		return err
	}
	if err := c.secrecy(b); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errInterrupted
	}
	dir, err := b.Write(c.project.Root)
	if err != nil {
		return err
	}
	return c.tell(b, dir)
}

// preflight only reads. It returns the names of what is missing.
func (c *collection) preflight(ctx context.Context) ([]string, error) {
	missing := missingCredentials(c.manifest.Value(), c.s.getenv)
	if err := conformancePlan().and(benchmarkPlan(c.flags.samples)).underCeiling(c.manifest.Value(), c.flags.ceiling); err != nil {
		fmt.Fprintln(c.s.err, err)
		missing = append(missing, "--max-cost-usd")
	}
	if len(missing) > 0 && !c.flags.keep {
		return missing, nil // not even a process is started
	}
	if err := c.build(ctx, c.s); err != nil {
		return nil, err
	}
	report, output, err := c.conform(ctx, c.s, conformanceRun{pattern: "^$", parallel: 1, quiet: true, unreachable: func(message string) {
		fmt.Fprintf(c.s.err, "the vendor or engine does not answer: %s\n", firstLine(message))
		missing = append(missing, "a vendor or engine that answers")
	}})
	if err != nil {
		return nil, err
	}
	if report == nil {
		return nil, fmt.Errorf("the preflight wrote no report; it printed:\n%s", tail(output, 4<<10))
	}
	c.run = evidence.Run{StartedAt: report.StartedAt, FinishedAt: report.FinishedAt, Tool: toolVersion(), Report: report}
	return missing, nil
}

// blocked ends before anything was made.
func (c *collection) blocked(missing []string) error {
	fmt.Fprintf(c.s.out, "%s: missing %s\n", evidence.Blocked, strings.Join(missing, ", "))
	if !c.flags.keep {
		return findingsError{}
	}
	c.run.Missing = missing
	b, err := evidence.New(c.run, c.now)
	if err != nil {
		return err
	}
	dir, err := b.Write(c.project.Root)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.s.out, "wrote %s\n", dir)
	return findingsError{}
}

// records runs suite and benchmark and gathers what they left.
func (c *collection) records(ctx context.Context) error {
	var err error
	if c.dummy, err = newDummy(); err != nil {
		return err
	}
	watch, err := newProcessWatch(c.dummy, c.binary)
	if err != nil {
		return err
	}
	env := []string{"SBX_DUMMY_SECRET=" + c.dummy}
	checks, samples := filepath.Join(c.temp, "state", "checks"), filepath.Join(c.temp, "state", "samples")
	c.owing = true
	started := time.Now().UTC()
	report, output, err := c.conform(ctx, c.s, conformanceRun{parallel: c.flags.parallel, state: checks, dummy: c.dummy, env: env, started: watch.start})
	watch.stop()
	if err != nil {
		return err
	}
	if report == nil {
		return fmt.Errorf("the suite wrote no report; it printed:\n%s", tail(output, 4<<10))
	}
	if ctx.Err() != nil {
		c.owing = owes(report, nil)
		return errInterrupted
	}
	artifact, printed, err := c.measure(ctx, c.s, benchRun{samples: c.flags.samples, state: samples, env: env, started: watch.start})
	watch.stop()
	if err != nil {
		return err
	}
	c.control(report, append(output, printed...), watch)
	c.run = evidence.Run{StartedAt: started, FinishedAt: time.Now().UTC(), Tool: toolVersion(), Report: report, Benchmark: artifact,
		Commit: commitOf(ctx, c.project.Root), Ledgers: map[string][]byte{}}
	if c.flags.producer != (evidence.Producer{}) {
		c.run.Producer = &c.flags.producer
	}
	if artifact != nil {
		c.run.Plot = plotSVG(artifact)
	}
	if err := c.ledgers(ctx, checks, samples); err != nil {
		return err
	}
	c.run.Endpoints, err = evidence.Resolve(ctx, c.now.Endpoints, overrides(c.manifest.Value(), c.s.getenv), nil)
	return err
}

// ledgers reads every ledger of the state directories; nothing is owed when all
// together balance.
func (c *collection) ledgers(ctx context.Context, dirs ...string) error {
	for _, dir := range dirs {
		runs, err := ledger.Scan(ctx, ledger.Dirs{Root: dir})
		if err != nil {
			return err
		}
		for _, r := range runs {
			if c.run.Ledgers[r.Run], err = os.ReadFile(r.Path); err != nil {
				return err
			}
		}
	}
	c.owing = owes(c.run.Report, c.run.Benchmark)
	return nil
}

// owes reports whether suite or benchmark say that something was left.
func owes(report *conformance.Report, artifact *bench.Artifact) bool {
	unsettled := slices.ContainsFunc(report.Ledgers, func(l conformance.LedgerSummary) bool { return l.Leaked > 0 || l.Unresolved > 0 })
	return unsettled || artifact != nil && artifact.Created != artifact.VerifiedGone
}

// tell says how the run ended and what is next. Nothing here writes "verified".
func (c *collection) tell(b *evidence.Bundle, dir string) error {
	statement, err := b.Statement()
	if err != nil {
		return err
	}
	p := statement.Predicate
	fmt.Fprintf(c.s.out, "%s\n%s, %s: %s\n", c.run.Report.Summary(), p.Verdict, p.Mode, dir)
	for _, r := range p.Reasons {
		fmt.Fprintf(c.s.out, "  %s\n", r)
	}
	fmt.Fprintf(c.s.out, "next: sbxgen evidence sign %s --key FILE\n", dir)
	if p.Verdict != evidence.Passed {
		return findingsError{}
	}
	fmt.Fprintf(c.s.out, "then a person may write to %s, and run sbxgen generate:\n%s", path.Join("catalog", p.Provider+".yaml"), entryText(b, statement, dir))
	return nil
}

// entryText is what an entry says that rests on a run; who answers for it is left
// to be filled in.
func entryText(b *evidence.Bundle, s *evidence.Statement, dir string) string {
	return fmt.Sprintf("  status: verified\n  evidence:\n    - path: %s/%s\n      sha256: %s\n  verifiedAt: %s\n  verifiedBy: WHO\n  expiresAt: %s\n", dir, evidence.StatementName,
		evidence.SHA256(b.Files[evidence.StatementName]), s.Predicate.FinishedAt.UTC().Format(time.RFC3339Nano), s.Predicate.ExpiresAt().UTC().Format(time.RFC3339Nano))
}
