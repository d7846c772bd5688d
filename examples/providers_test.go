package examples

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/generated/registry"
	"github.com/agentworkforce/sbx/internal/testengine"
	"github.com/agentworkforce/sbx/sandbox"
)

// place is a provider to run an example on, with a state directory of its own.
type place struct {
	id    string
	flags []string // what the example needs to know, before its other arguments
	env   []string
	state string
	gone  func(t *testing.T) // asks the provider's own side
}

// run runs an example here.
func (p place) run(t *testing.T, program string, args ...string) result {
	t.Helper()
	return run(t, program, append(append([]string{}, p.flags...), args...), p.env...)
}

// nothingLeft asks the provider's own side and the ledgers.
func (p place) nothingLeft(t *testing.T) {
	t.Helper()
	p.gone(t)
	report, err := sandbox.Reap(t.Context(), sandbox.ReapOptions{Drivers: registry.Lookup, StateDir: p.state})
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	require.Empty(t, report.Items, "something is owed")
}

// everywhere runs a test with local, under each isolation that works here, and
// with docker where there is an engine.
func everywhere(t *testing.T, test func(*testing.T, place)) {
	for _, isolation := range isolations(t) {
		t.Run("local/"+isolation, func(t *testing.T) {
			test(t, onLocal(t, isolation))
		})
	}
	t.Run("docker", func(t *testing.T) { test(t, onEngine(t, "docker")) })
}

func onLocal(t *testing.T, isolation string) place {
	state := t.TempDir()
	return place{id: "local", env: []string{"SBX_STATE_DIR=" + state, "SBX_LOCAL_ISOLATION=" + isolation}, state: state,
		gone: func(t *testing.T) {
			t.Helper()
			require.Empty(t, sandboxes(t, state))
		}}
}

func onEngine(t *testing.T, id string, needs ...string) place {
	e := testengine.Require(t, needs...)
	state := t.TempDir()
	return place{id: id, flags: []string{"-image", testengine.Image}, env: engineEnv(e, state), state: state,
		gone: func(t *testing.T) {
			t.Helper()
			owner := "sbx.owner=" + ownerOf(t, state)
			require.Empty(t, e.Containers(t, owner))
			require.Empty(t, e.Images(t, owner))
		}}
}

// Every program is in the table, with a command that starts it.
func TestReadmeListsThem(t *testing.T) {
	page, err := os.ReadFile("README.md")
	require.NoError(t, err)
	folders, err := filepath.Glob("*/main.go")
	require.NoError(t, err)
	require.Greater(t, len(folders), 10)
	for _, file := range folders {
		name := filepath.Dir(file)
		row := regexp.MustCompile(`(?m)^\| \[` + name + `\]\(` + name + `/main\.go\) \| [^|]+ \| ` +
			"`go run ./examples/" + name + " [^`|]*` \\| [^|]+ \\|$")
		require.Regexp(t, row, string(page))
	}
}
