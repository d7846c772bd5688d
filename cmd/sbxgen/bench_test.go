package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/bench"
	"github.com/agentworkforce/sbx/conformance"
)

func artifact(samples ...float64) *bench.Artifact {
	return &bench.Artifact{Format: "sbx.benchmark/1", Provider: "acme", Method: bench.Method, StartedAt: time.Date(2026, 8, 20, 10, 0, 0, 0, time.UTC),
		Metrics: []bench.Metric{{ID: "exec", Unit: "ms", Samples: samples, Stats: bench.Summarize(samples)},
			{ID: "stop", Unit: "ms", Unknown: conformance.NotAttempted, Detail: "stop is <unsupported>"}}}
}

func TestPlotFollowsFromTheArtifact(t *testing.T) {
	a := artifact(1, 2, 30, 400)
	svg := plotSVG(a)
	require.Equal(t, svg, plotSVG(a))
	require.Equal(t, 4, bytes.Count(svg, []byte("<circle ")), "every sample is drawn")
	require.Contains(t, string(svg), "UNKNOWN (not-attempted)")
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
	require.NotContains(t, string(plotSVG(artifact())), "NaN")
	require.NotContains(t, string(plotSVG(artifact(0))), "NaN")
}

func TestComparisonTellsNoiseFromChange(t *testing.T) {
	older := artifact(10, 11, 12, 13, 14, 10.5, 11.5, 12.5, 13.5, 14.5)
	var same, other bytes.Buffer
	printComparison(&same, older, artifact(10.2, 11.1, 12.2, 13.3, 14.1, 10.4, 11.6, 12.4, 13.4, 14.6))
	require.Contains(t, same.String(), "~")
	printComparison(&other, older, artifact(20, 21, 22, 23, 24, 20.5, 21.5, 22.5, 23.5, 24.5))
	require.Contains(t, other.String(), "+83.33%")
	require.Contains(t, other.String(), "p=0.000 n=10")
	require.NotContains(t, other.String(), "stop", "what was not measured is not compared")
}

func TestUnknownIsPrintedWithItsReason(t *testing.T) {
	var out bytes.Buffer
	printBenchmark(&out, artifact(1, 2, 3))
	require.Contains(t, out.String(), "UNKNOWN(not-attempted): stop is <unsupported>")
	require.NoError(t, benchVerdict(artifact(1)))
	require.Error(t, benchVerdict(artifact()), "nothing measured is no success")
	failed := artifact(1)
	failed.Metrics[0].Failures = 1
	require.Error(t, benchVerdict(failed))
}

func TestComparingWithoutMeasuring(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.json")
	f, err := os.Create(file)
	require.NoError(t, err)
	a := artifact(1, 2, 3)
	a.Provider = "local"
	require.NoError(t, errors.Join(a.Encode(f), f.Close()))
	code, out, errs := called(t, "bench", "local", "--chdir", filepath.Join("..", ".."), "--from", file, "--compare", file, "--svg", filepath.Join(dir, "a.svg"))
	require.Equal(t, exitClean, code, errs)
	require.Contains(t, out, "~")
	require.FileExists(t, filepath.Join(dir, "a.svg"))
	code, _, errs = called(t, "bench", "docker", "--chdir", filepath.Join("..", ".."), "--from", file)
	require.Equal(t, exitUsage, code, errs)
}

func TestCostIsProjectedOrUnknown(t *testing.T) {
	priced := func(rates ...any) any {
		return map[string]any{"pricing": map[string]any{"meter": map[string]any{"value": "wall-clock"}, "rates": rates}}
	}
	rate := func(what string, usd float64, per string) any {
		return map[string]any{"what": what, "rate": map[string]any{"value": map[string]any{"usd": usd, "per": per}}}
	}
	p := plan{creates: 10, seconds: 3600}
	usd, known, _ := p.cost(map[string]any{"pricing": map[string]any{"meter": map[string]any{"value": "none"}}})
	require.True(t, known)
	require.Zero(t, usd)
	usd, known, _ = p.cost(priced(rate("cpu", 0.001, "vcpu-second"), rate("create", 0.01, "create"), rate("subscription", 150, "month")))
	require.True(t, known)
	require.InDelta(t, 7.3, usd, 1e-9)
	for name, manifest := range map[string]any{
		"nothing":      map[string]any{},
		"said unknown": map[string]any{"pricing": map[string]any{"unknown": "Nobody knows."}},
		"no rate":      priced(),
		"odd unit":     priced(rate("storage", 1, "gb-month")),
		"rate unknown": priced(map[string]any{"what": "cpu", "rate": map[string]any{"unknown": "It is not published."}}),
	} {
		_, known, why := p.cost(manifest)
		require.False(t, known, name)
		require.NotEmpty(t, why, name)
		require.Error(t, p.underCeiling(manifest, 1000), "%s: an unknown cost is over every ceiling", name)
		require.NoError(t, p.underCeiling(manifest, 0), name)
	}
	require.Error(t, p.underCeiling(priced(rate("cpu", 0.001, "vcpu-second")), 7))
	require.NoError(t, p.underCeiling(priced(rate("cpu", 0.001, "vcpu-second")), 8))
}
