package main

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"golang.org/x/perf/benchmath"

	"github.com/agentworkforce/sbx/bench"
)

// printBenchmark prints every metric; one that was not measured with its reason.
func printBenchmark(w io.Writer, a *bench.Artifact) {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintf(t, "METRIC\tUNIT\tN\tMIN\tMEDIAN\tP95\tP99\tFAILED\n")
	for _, m := range a.Metrics {
		if m.Stats == nil {
			fmt.Fprintf(t, "%s\t%s\tUNKNOWN(%s): %s\n", m.ID, m.Unit, m.Unknown, m.Detail)
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\t%s\t%s\t%d\n", m.ID, m.Unit, m.Stats.N, short(m.Stats.Min), short(m.Stats.Median), short(m.Stats.P95), short(m.Stats.P99), m.Failures)
	}
	if err := t.Flush(); err != nil {
		return // w's own error, which the caller's next write meets again
	}
	fmt.Fprintf(w, "percentiles: %s; %d sandboxes created, %d verified gone\n", a.Method, a.Created, a.VerifiedGone)
	for _, p := range a.Problems {
		fmt.Fprintf(w, "PROBLEM of the run: %s\n", p)
	}
}

func short(f float64) string { return strconv.FormatFloat(f, 'g', 4, 64) }

// printComparison says for each metric that both runs measured whether they
// differ by more than their noise.
func printComparison(w io.Writer, older, newer *bench.Artifact) {
	fmt.Fprintf(w, "\ncompared with the run of %s: medians, Mann-Whitney U, \"~\" is no difference beyond noise\n", older.StartedAt.UTC().Format("2006-01-02 15:04"))
	if older.Environment.OS != newer.Environment.OS || older.Environment.Arch != newer.Environment.Arch || older.Environment.CPUs != newer.Environment.CPUs {
		fmt.Fprintf(w, "the machines differ (%s/%s with %d processors, now %s/%s with %d): the difference may be theirs\n", older.Environment.OS, older.Environment.Arch,
			older.Environment.CPUs, newer.Environment.OS, newer.Environment.Arch, newer.Environment.CPUs)
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintf(t, "METRIC\tUNIT\tOLD\tNEW\tDELTA\tP AND N\n")
	for _, n := range newer.Metrics {
		o, ok := older.Metric(n.ID)
		switch {
		case !ok || o.Stats == nil || n.Stats == nil:
			continue
		case o.Unit != n.Unit:
			fmt.Fprintf(t, "%s\tthe units differ: %s and %s\n", n.ID, o.Unit, n.Unit)
			continue
		}
		c := compareSamples(o.Samples, n.Samples)
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", n.ID, n.Unit, short(o.Stats.Median), short(n.Stats.Median), c.FormatDelta(o.Stats.Median, n.Stats.Median), c)
	}
	if err := t.Flush(); err != nil {
		return // as above
	}
}

// compareSamples asks whether two samples come from one distribution.
func compareSamples(older, newer []float64) benchmath.Comparison {
	thresholds := benchmath.DefaultThresholds
	return benchmath.AssumeNothing.Compare(benchmath.NewSample(append([]float64(nil), older...), &thresholds), benchmath.NewSample(append([]float64(nil), newer...), &thresholds))
}
