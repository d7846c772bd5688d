package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentworkforce/sbx/bench"
)

// benchFlags are what the command line of bench says.
type benchFlags struct {
	samples       int
	compare, from string
	json, svg     string
	ceiling       float64
}

func newBenchCmd(s streams) *cobra.Command {
	var flags benchFlags
	c := &cobra.Command{
		Use:   "bench PROVIDER",
		Short: "Measure a provider: every sample kept, failures counted, unknown where nothing was measured",
		Long: "bench measures the metrics that the provider's capabilities allow, on real sandboxes, and\n" +
			"prints minimum, median and percentiles over all samples, untrimmed. With --compare it\n" +
			"says for each metric whether two runs differ by more than their noise (Mann-Whitney U,\n" +
			"as benchstat does). It compares a provider with itself and ranks nothing.\n\n" +
			"With --max-cost-usd nothing is run when the rates of the manifest project more, or when\n" +
			"the cost is unknown. The exit code is 1 when an attempt failed or nothing was measured.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runBench(cmd, s, flags, args[0]) },
	}
	c.Flags().IntVar(&flags.samples, "samples", 10, "samples of each metric")
	c.Flags().StringVar(&flags.compare, "compare", "", "compare with the artifact in this `file`, taken as the older one")
	c.Flags().StringVar(&flags.from, "from", "", "measure nothing: take the artifact in this `file`")
	c.Flags().StringVar(&flags.json, "json", "", "write the artifact to this `file`; - is standard output")
	c.Flags().StringVar(&flags.svg, "svg", "", "write a plot of all samples to this `file`")
	c.Flags().Float64Var(&flags.ceiling, "max-cost-usd", 0, "run nothing that may cost more `USD` by the rates of the manifest")
	return c
}

func runBench(cmd *cobra.Command, s streams, flags benchFlags, id string) (err error) {
	if err := flags.check(); err != nil {
		return err
	}
	older, err := givenArtifact("--compare", flags.compare)
	if err != nil {
		return err
	}
	taken, err := givenArtifact("--from", flags.from)
	if err != nil {
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
	defer func() { err = errors.Join(err, su.close()) }()
	a := taken
	if a == nil {
		if a, err = measured(cmd.Context(), s, su, flags); err != nil {
			return err
		}
	}
	if a.Provider != id || older != nil && older.Provider != id {
		return usagef("the artifact is of another provider than %s", id)
	}
	if err := writeBenchmark(s, a, flags); err != nil {
		return err
	}
	out := s.out
	if flags.json == "-" {
		out = s.err
	}
	printBenchmark(out, a)
	if older != nil {
		printComparison(out, older, a)
	}
	return benchVerdict(a)
}

// measured measures, unless something is missing that can be seen before.
func measured(ctx context.Context, s streams, su *suite, flags benchFlags) (*bench.Artifact, error) {
	blocked := false
	if missing := missingCredentials(su.manifest.Value(), s.getenv); len(missing) > 0 {
		fmt.Fprintf(s.err, "nothing was run: missing %s\n", strings.Join(missing, ", "))
		blocked = true
	}
	if err := benchmarkPlan(flags.samples).underCeiling(su.manifest.Value(), flags.ceiling); err != nil {
		fmt.Fprintf(s.err, "nothing was run: %v\n", err)
		blocked = true
	}
	if blocked {
		return nil, findingsError{}
	}
	if err := su.build(ctx, s); err != nil {
		return nil, err
	}
	a, output, err := su.measure(ctx, s, benchRun{samples: flags.samples})
	if err != nil {
		return nil, err
	}
	if a == nil {
		fmt.Fprintf(s.err, "nothing was measured; the provider's process printed:\n%s", tail(output, 4<<10))
		return nil, findingsError{}
	}
	return a, nil
}

// benchRun is how the benchmark is run.
type benchRun struct {
	samples int
	state   string
	env     []string
	started func(pid int)
}

// measure runs the provider's benchmark and decodes the artifact, which is nil
// when there is none.
func (su *suite) measure(ctx context.Context, s streams, r benchRun) (*bench.Artifact, []byte, error) {
	dir, err := os.MkdirTemp(su.temp, "bench-")
	if err != nil {
		return nil, nil, err
	}
	file, progress := filepath.Join(dir, "benchmark.json"), filepath.Join(dir, "progress.jsonl")
	env := append([]string{bench.EnvArtifact + "=" + file, bench.EnvProgress + "=" + progress,
		bench.EnvSamples + "=" + strconv.Itoa(r.samples), bench.EnvState + "=" + r.state}, r.env...)
	view := &benchView{screen: newScreen(s), began: time.Now()}
	stop := follow(progress, view.take, view.tick)
	output, err := su.run(ctx, []string{"-test.run=^$", "-test.bench=^BenchmarkProvider$/^all$", "-test.benchtime=1x", "-test.v", "-test.timeout=0"}, env, r.started)
	err = errors.Join(err, stop())
	view.end()
	if err != nil {
		return nil, output, err
	}
	a, err := readArtifact(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, output, nil
	}
	return a, output, err
}

func readArtifact(name string) (*bench.Artifact, error) {
	src, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return bench.DecodeArtifact(src)
}

func writeBenchmark(s streams, a *bench.Artifact, flags benchFlags) error {
	if flags.json != "" {
		if err := writeJSONFile(s, flags.json, a.Encode); err != nil {
			return err
		}
	}
	if flags.svg == "" {
		return nil
	}
	return writeJSONFile(s, flags.svg, func(w io.Writer) error {
		_, err := w.Write(plotSVG(a))
		return err
	})
}

// benchVerdict is a finding when something failed or nothing was measured.
func benchVerdict(a *bench.Artifact) error {
	samples, failures := 0, 0
	for _, m := range a.Metrics {
		samples += len(m.Samples)
		failures += m.Failures
	}
	if samples == 0 || failures > 0 || len(a.Problems) > 0 {
		return findingsError{}
	}
	return nil
}

// benchView shows a bar for the series that is measured now.
type benchView struct {
	screen screen
	began  time.Time
	last   bench.ProgressLine
	failed int
}

func (v *benchView) take(e bench.ProgressLine) {
	if v.last.Metric != "" && v.last.Metric != e.Metric {
		v.screen.say(fmt.Sprintf("measured %-20s %d attempts, %d failed", v.last.Metric, v.last.Done, v.failed))
		v.failed = 0
	}
	v.last = e
	if e.Failed {
		v.failed++
	}
}

func (v *benchView) tick() {
	if v.screen.live && v.last.Metric != "" {
		v.screen.draw([]string{fmt.Sprintf("%s %-20s %d/%d  %s", bar(v.last.Done, v.last.Wanted, 20), v.last.Metric, v.last.Done, v.last.Wanted,
			time.Since(v.began).Round(time.Second))})
	}
}

func (v *benchView) end() {
	v.screen.draw(nil)
	if v.last.Metric != "" {
		v.screen.say(fmt.Sprintf("measured %-20s %d attempts, %d failed", v.last.Metric, v.last.Done, v.failed))
	}
}
