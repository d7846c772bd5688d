package docs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTour executes tour.md.
func TestTour(t *testing.T) {
	run := execute(t, "tour.md", 7, 1)
	for _, said := range []string{"hello from ", "exit code 7\n", "from here\n", "content\n", "withhold\n", "nothing is owed\n", `"verifiedGone": true`, `"code": "not_found"`} {
		require.Contains(t, run.out, said)
	}
	require.Contains(t, run.err, "fork is supported by docker")
	if run.engine != nil {
		require.Contains(t, run.out, "prepared\n")
	}
	run.nothingLeft(t)
}
