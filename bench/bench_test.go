//go:build unix

package bench_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/bench"
	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/conformance/reference"
	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

func harness(t testing.TB, more ...sandbox.Option) conformance.Harness {
	t.Helper()
	v, err := reference.New(t.TempDir(), reference.Traits{})
	require.NoError(t, err)
	return conformance.Harness{Driver: v.Driver(), Count: v.Count,
		Options: append([]sandbox.Option{sandbox.WithSecret("token", port.NewSecret(reference.Token))}, more...)}
}

func TestNearestRank(t *testing.T) {
	var samples []float64
	for i := 100; i >= 1; i-- {
		samples = append(samples, float64(i))
	}
	require.Equal(t, &bench.Stats{N: 100, Min: 1, Median: 50, P95: 95, P99: 99, Max: 100}, bench.Summarize(samples))
	require.Equal(t, &bench.Stats{N: 1, Min: 7, Median: 7, P95: 7, P99: 7, Max: 7}, bench.Summarize([]float64{7}))
	require.Equal(t, &bench.Stats{N: 3, Min: 1, Median: 2, P95: 3, P99: 3, Max: 3}, bench.Summarize([]float64{3, 1, 2}))
	require.Nil(t, bench.Summarize(nil))
	require.Equal(t, 100.0, samples[0], "samples stay in the order in which they were taken")
}

func TestArtifact(t *testing.T) {
	a, err := bench.Execute(t.Context(), harness(t), bench.Options{Samples: 2, StateDir: t.TempDir()})
	require.NoError(t, err)
	require.Empty(t, a.Problems)
	require.Equal(t, a.Created, a.VerifiedGone)
	for _, id := range []string{"create", "ready", "exec", "exec_parallel_16", "first_output_byte", "file_read_64mib", "stop", "start",
		"suspend", "resume", "snapshot", "fork"} {
		m, ok := a.Metric(id)
		require.True(t, ok)
		require.Len(t, m.Samples, 2, id)
		require.Zero(t, m.Failures, "%s: %v", id, m.Errors)
		require.Equal(t, bench.Summarize(m.Samples), m.Stats)
		require.Positive(t, m.Stats.Min)
	}
	gone, ok := a.Metric("verified_gone")
	require.True(t, ok)
	require.Len(t, gone.Samples, 3)
	relay, ok := a.Metric("agent_relay_ready")
	require.True(t, ok)
	require.Equal(t, conformance.NotAttempted, relay.Unknown)
	require.Nil(t, relay.Stats)
	var b bytes.Buffer
	require.NoError(t, a.Encode(&b))
	require.NotContains(t, b.String(), "bench-token-9876")
	again, err := bench.DecodeArtifact(b.Bytes())
	require.NoError(t, err)
	require.Equal(t, a, again)
	_, err = bench.DecodeArtifact([]byte(strings.Replace(b.String(), `"samples"`, `"simples"`, 1)))
	require.ErrorContains(t, err, "simples")
}

func TestFailuresAreNoSamples(t *testing.T) {
	broken := sandbox.WithTable(func(table contract.Table) contract.Table {
		table.CreateSnapshot = func(context.Context, string, contract.SnapshotRequest) (contract.Snapshot, error) {
			return contract.Snapshot{}, &port.Error{Code: port.CodeQuotaExceeded, Err: errors.New("no more")}
		}
		return table
	})
	a, err := bench.Execute(t.Context(), harness(t, broken), bench.Options{Samples: 2, StateDir: t.TempDir()})
	require.NoError(t, err)
	m, ok := a.Metric("snapshot")
	require.True(t, ok)
	require.Empty(t, m.Samples)
	require.Nil(t, m.Stats)
	require.Equal(t, 2, m.Failures)
	require.Len(t, m.Errors, 1)
	require.Equal(t, conformance.NotAttempted, m.Unknown)
}

func TestWithoutASandboxEverythingIsUnknown(t *testing.T) {
	broken := sandbox.WithTable(func(table contract.Table) contract.Table {
		table.Create = func(context.Context, contract.CreateRequest) (contract.Instance, error) {
			return contract.Instance{}, &port.Error{Code: port.CodeQuotaExceeded}
		}
		return table
	})
	a, err := bench.Execute(t.Context(), harness(t, broken), bench.Options{Samples: 2, StateDir: t.TempDir()})
	require.NoError(t, err)
	for _, m := range a.Metrics {
		require.Nil(t, m.Stats, m.ID)
		require.NotEmpty(t, m.Unknown, m.ID)
	}
}

func BenchmarkReference(b *testing.B) { bench.Run(b, harness(b)) }
