package evidence

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/agentworkforce/sbx/bench"
	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/schema"
)

// MinSamples is how many samples a metric needs to be known.
const MinSamples = 10

// benchmarks computes the statistics again.
func (v *verifier) benchmarks() {
	b := v.benchmark
	if b == nil {
		if _, ok := v.b.Files[BenchmarkName]; !ok && v.predicate().Verdict == Passed {
			v.say(KindMissing, BenchmarkName, "", "is not there; a metric that was not measured is unknown with a reason")
		}
		return
	}
	if b.Method != bench.Method {
		v.say(KindStatistics, BenchmarkName, "/method", "the statistics are %q; this reader computes %q", b.Method, bench.Method)
	}
	for i, problem := range b.Problems {
		v.say(KindNotPassed, BenchmarkName, pointerAt("/problems", i), "the benchmark had a problem: %s", problem)
	}
	if b.Created != b.VerifiedGone {
		v.say(KindBalance, BenchmarkName, "/verifiedGone", "%d sandboxes were created and %d are verified gone", b.Created, b.VerifiedGone)
	}
	seen := map[string]bool{}
	for i, m := range b.Metrics {
		at := pointerAt("/metrics", i)
		if seen[m.ID] {
			v.say(KindStatistics, BenchmarkName, at+"/id", "%s is there twice", m.ID)
		}
		seen[m.ID] = true
		v.metric(m, at)
	}
	if v.o.Current == nil {
		return
	}
	for _, m := range v.o.Current.Metrics {
		i := slices.IndexFunc(b.Metrics, func(got bench.Metric) bool { return got.ID == m.ID })
		switch {
		case i < 0:
			v.say(KindSamples, BenchmarkName, "/metrics", "%s is neither measured nor unknown", m.ID)
		case b.Metrics[i].Unit != m.Unit:
			v.say(KindStatistics, BenchmarkName, fmt.Sprintf("/metrics/%d/unit", i), "%s is in %s, not in %q", m.ID, m.Unit, b.Metrics[i].Unit)
		}
	}
	v.notMeasured()
}

// notMeasured refuses metrics that are in no list: nobody could say what they are.
func (v *verifier) notMeasured() {
	for i, m := range v.benchmark.Metrics {
		if !slices.ContainsFunc(v.o.Current.Metrics, func(row schema.Metric) bool { return row.ID == m.ID }) && m.Unknown == "" {
			v.say(KindStatistics, BenchmarkName, fmt.Sprintf("/metrics/%d/id", i), "%s is not in the list of metrics", m.ID)
		}
	}
}

func (v *verifier) metric(m bench.Metric, at string) {
	if !reflect.DeepEqual(bench.Summarize(m.Samples), m.Stats) {
		v.say(KindStatistics, BenchmarkName, at+"/stats", "of %s do not follow from its samples", m.ID)
	}
	if i := slices.IndexFunc(m.Samples, func(s float64) bool { return s < 0 || math.IsNaN(s) || math.IsInf(s, 0) }); i >= 0 {
		v.say(KindStatistics, BenchmarkName, fmt.Sprintf("%s/samples/%d", at, i), "%v is no time", m.Samples[i])
	}
	if m.Failures < 0 || m.Failures < len(m.Errors) {
		v.say(KindStatistics, BenchmarkName, at+"/failures", "%s has %d failures and %d different errors", m.ID, m.Failures, len(m.Errors))
	}
	known := m.Unknown == ""
	switch {
	case known && len(m.Samples) < MinSamples:
		v.say(KindSamples, BenchmarkName, at+"/samples", "%s has %d samples and is not unknown; %d are needed", m.ID, len(m.Samples), MinSamples)
	case !known && len(m.Samples) > 0:
		v.say(KindStatistics, BenchmarkName, at+"/unknown", "%s is unknown and has samples", m.ID)
	case !known && !slices.Contains(conformance.Reasons(), m.Unknown):
		v.say(KindSamples, BenchmarkName, at+"/unknown", "%s is unknown for no reason of the list", m.ID)
	}
}
