package docs

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/agentworkforce/sbx/internal/testengine"
	"github.com/agentworkforce/sbx/internal/testrepo"
	"github.com/stretchr/testify/require"
)

// TestTour runs every sh block of tour.md in order, in one shell, in a copy of the
// repository: those marked docker where there is an engine, and everywhere when
// SBX_REQUIRE names it. A line that starts with "!" must fail.
func TestTour(t *testing.T) {
	page, err := os.ReadFile("tour.md")
	require.NoError(t, err)
	engine, err := testengine.Find(t.Context())
	if err != nil {
		testengine.RequireNamed(t, err)
	}
	blocks := shellBlocks(string(page))
	require.Len(t, blocks, 7, "the page lost commands")
	if engine != nil {
		marked := shellBlocks(strings.ReplaceAll(string(page), "```sh docker\n", "```sh\n"))
		require.Len(t, marked, 8, "the page lost the engine's commands")
		blocks = marked
	}
	script := "set -euo pipefail\n"
	for _, block := range blocks {
		for line := range strings.Lines(block + "\n") {
			if rest, ok := strings.CutPrefix(line, "! "); ok { // under set -e a negated command never fails
				line = "if " + strings.TrimSpace(rest) + "; then echo 'it was to fail' >&2; exit 1; fi\n"
			}
			script += line
		}
	}
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = testrepo.Copy(t)
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); !strings.HasPrefix(name, "SBX_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	state := t.TempDir()
	cmd.Env = append(cmd.Env, "SBX_STATE_DIR="+state, "XDG_CONFIG_HOME="+t.TempDir(), "GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"))
	if _, err := exec.LookPath("bwrap"); err != nil {
		require.False(t, slices.Contains(strings.Split(os.Getenv("SBX_REQUIRE"), ","), "bwrap"), "SBX_REQUIRE names bwrap: %v", err)
		cmd.Env = append(cmd.Env, "SBX_LOCAL_ISOLATION=none")
	}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	require.NoError(t, cmd.Run(), "%s%s", out.String(), errOut.String())
	for _, said := range []string{"hello from ", "exit code 7\n", "from here\n", "content\n", "withhold\n", "nothing is owed\n", `"verifiedGone": true`, `"code": "not_found"`} {
		require.Contains(t, out.String(), said)
	}
	require.Contains(t, errOut.String(), "fork is supported by docker")
	if engine != nil {
		require.Contains(t, out.String(), "prepared\n")
		owner, err := os.ReadFile(state + "/sbx/owner")
		require.NoError(t, err)
		left, err := engine.Count(t.Context(), "sbx.owner="+strings.TrimSpace(string(owner)))
		require.NoError(t, err)
		require.Equal(t, map[string]int{"sandbox": 0, "snapshot": 0}, left)
	}
}
