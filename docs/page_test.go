package docs

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentworkforce/sbx/internal/testengine"
	"github.com/agentworkforce/sbx/internal/testrepo"
	"github.com/stretchr/testify/require"
)

// executed is what came of the commands of a page.
type executed struct {
	out, err string
	state    string             // the state directory they used
	engine   *testengine.Engine // nil: those that need one were left out
}

// execute runs every sh block of a page in order, in one shell, in a copy of the
// repository: those marked docker where there is an engine, and everywhere when
// SBX_REQUIRE names it. A line that starts with "!" must fail. The page has to
// have so many blocks without an engine, and so many for it.
func execute(t *testing.T, name string, plain, docker int) executed {
	t.Helper()
	body, err := os.ReadFile(name)
	require.NoError(t, err)
	page, run := string(body), executed{state: t.TempDir()}
	run.engine, err = testengine.Find(t.Context())
	if err != nil {
		testengine.RequireNamed(t, err)
	}
	blocks := shellBlocks(page)
	require.Len(t, blocks, plain, "the page lost commands")
	if run.engine != nil {
		blocks = shellBlocks(strings.ReplaceAll(page, "```sh docker\n", "```sh\n"))
		require.Len(t, blocks, plain+docker, "the page lost the engine's commands")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute) // a page waits for what it started
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script(blocks))
	cmd.WaitDelay = 10 * time.Second
	cmd.Dir = testrepo.Copy(t)
	cmd.Env = append(environ(), "SBX_STATE_DIR="+run.state, "XDG_CONFIG_HOME="+t.TempDir(), "GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"))
	if _, err := exec.LookPath("bwrap"); err != nil {
		require.False(t, slices.Contains(strings.Split(os.Getenv("SBX_REQUIRE"), ","), "bwrap"), "SBX_REQUIRE names bwrap: %v", err)
		cmd.Env = append(cmd.Env, "SBX_LOCAL_ISOLATION=none")
	}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	require.NoError(t, cmd.Run(), "%s%s", out.String(), errOut.String())
	run.out, run.err = out.String(), errOut.String()
	return run
}

// script stops at the first command that fails, or that was to fail and did not.
func script(blocks []string) string {
	var b strings.Builder
	b.WriteString("set -euo pipefail\n")
	for _, block := range blocks {
		for line := range strings.Lines(block + "\n") {
			if rest, ok := strings.CutPrefix(line, "! "); ok { // under set -e a negated command never fails
				line = "if " + strings.TrimSpace(rest) + "; then echo 'it was to fail' >&2; exit 1; fi\n"
			}
			b.WriteString(line)
		}
	}
	return b.String()
}

// environ is this process's environment without settings of sbx.
func environ() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "SBX_") })
}

// nothingLeft asks the engine itself, and looks for folders of local sandboxes.
func (e executed) nothingLeft(t *testing.T) {
	t.Helper()
	folders, err := os.ReadDir(e.state + "/sbx/local")
	require.NoError(t, err)
	for _, f := range folders {
		require.NoFileExists(t, e.state+"/sbx/local/"+f.Name()+"/meta.json")
	}
	if e.engine == nil {
		return
	}
	owner, err := os.ReadFile(e.state + "/sbx/owner")
	require.NoError(t, err)
	left, err := e.engine.Count(t.Context(), "sbx.owner="+strings.TrimSpace(string(owner)))
	require.NoError(t, err)
	require.Equal(t, map[string]int{"sandbox": 0, "snapshot": 0}, left)
}
