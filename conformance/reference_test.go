//go:build unix

package conformance_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/conformance/reference"
)

// clean requires that everything that could be executed was, and held.
func clean(t *testing.T, h conformance.Harness) *conformance.Report {
	t.Helper()
	report, err := conformance.Execute(t.Context(), h, conformance.RunOptions{Parallel: 8, StateDir: t.TempDir(), CheckTimeout: 2 * time.Minute})
	require.NoError(t, err)
	for _, c := range report.Checks {
		if c.Verdict == conformance.Failed {
			t.Errorf("%s: %s", c.ID, c.Message)
		}
		if c.Verdict == conformance.Unknown && c.Reason != conformance.NotAttempted {
			t.Errorf("%s is unknown (%s): %s", c.ID, c.Reason, c.Message)
		}
	}
	require.Empty(t, report.Problems)
	require.True(t, report.OK())
	require.Equal(t, conformance.CountIndependent, report.Vendor.Method)
	require.Equal(t, report.Vendor.Before, report.Vendor.After)
	t.Log(report.Summary())
	return report
}

func TestTheReferenceIsClean(t *testing.T) {
	report := clean(t, harness(t, reference.Traits{}))
	require.Greater(t, report.Counts.Passed, 110)
	for _, l := range report.Ledgers {
		require.True(t, l.Intact, l.File)
	}
	var b bytes.Buffer
	require.NoError(t, report.Encode(&b))
	again, err := conformance.DecodeReport(b.Bytes())
	require.NoError(t, err)
	require.Equal(t, report.Checks, again.Checks)
	require.NotContains(t, b.String(), "reference-token-1234")
	_, err = conformance.DecodeReport([]byte(strings.Replace(b.String(), `"suite"`, `"sweet"`, 1)))
	require.ErrorContains(t, err, "sweet")
}

func TestHonestDifferencesAreClean(t *testing.T) {
	for name, traits := range map[string]reference.Traits{
		"slow":         {Latency: 20 * time.Millisecond},
		"merged":       {Merged: true},
		"coarse clock": {CoarseClock: true},
		"chunked":      {Chunked: true},
		"eventual":     {ListLag: 400 * time.Millisecond},
		"contained":    {Egress: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clean(t, harness(t, traits))
		})
	}
	t.Run("over HTTP", func(t *testing.T) {
		t.Parallel()
		clean(t, remote(t, reference.Traits{}))
	})
}

func TestNothingExecutedIsAFailure(t *testing.T) {
	report, err := conformance.Execute(t.Context(), harness(t, reference.Traits{}), conformance.RunOptions{
		Run: regexp.MustCompile("no-such-check")})
	require.NoError(t, err)
	require.Zero(t, report.Counts.Executed)
	require.False(t, report.OK())
	require.NotEmpty(t, report.Problems)
}
