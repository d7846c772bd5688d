package conformance_test

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/providers/local"
	"github.com/agentworkforce/sbx/sandbox"
)

// TestControlFindsALeak: the search inside a sandbox names a secret that leaked
// into it, and finds nothing in a clean one. It needs commands that are kept
// apart from this process, whose environment would otherwise be in sight.
func TestControlFindsALeak(t *testing.T) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		if slices.Contains(strings.Split(os.Getenv("SBX_REQUIRE"), ","), "bwrap") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	const dummy = "sbx-dummy-secret-0123456789abcdef0123456789abcdef"
	run := func(create ...sandbox.CreateOption) *conformance.Report {
		h := conformance.Harness{Driver: local.Driver(), Create: create}
		r, err := conformance.Execute(context.Background(), h, conformance.RunOptions{Run: regexp.MustCompile("^create.returns-id$"), Dummy: dummy, StateDir: t.TempDir()})
		require.NoError(t, err)
		return r
	}
	clean := run()
	require.Empty(t, clean.Problems)
	require.Equal(t, []string{conformance.ControlDummy}, clean.Controls)
	leaking := run(sandbox.WithEnv(map[string]string{"LEAKED": dummy}))
	require.Len(t, leaking.Problems, 1)
	require.Contains(t, leaking.Problems[0], "injected on purpose is inside the sandbox: /proc/")
	require.NotContains(t, leaking.Problems[0], dummy)
	require.Empty(t, leaking.Controls)
}
