package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentworkforce/sbx/internal/testengine"
	"github.com/stretchr/testify/require"
)

// The tour is one script, and no provider needs a changed line of it.
func TestTourOnEveryProvider(t *testing.T) {
	script, err := filepath.Abs(filepath.Join("..", "..", "examples", "tour.sh"))
	require.NoError(t, err)
	for _, tc := range []struct {
		provider string
		needs    []string
		flags    []string
		refused  []string // and everything else is not
	}{
		{"local", nil, nil, []string{"Stop", "Suspend", "CreateSnapshot", "Fork"}},
		{"docker", []string{"docker"}, []string{"--image", testengine.Image}, nil},
		{"gvisor", []string{"runsc"}, []string{"--image", testengine.Image}, nil},
	} {
		t.Run(tc.provider, func(t *testing.T) {
			u := newUser(t)
			if tc.needs != nil {
				u.engine(tc.needs...)
			}
			cmd := exec.Command(script, append([]string{tc.provider}, tc.flags...)...)
			cmd.Env = append(u.env, "SBX="+u.shim(), "TMPDIR="+t.TempDir())
			out, err := cmd.CombinedOutput()
			text := string(out)
			require.NoError(t, err, text)
			require.Contains(t, text, "nothing is left, and every ledger is in order")
			require.Equal(t, len(tc.refused)+2, strings.Count(text, ": unsupported ("), text) // and prompt, extend
			for _, op := range tc.refused {
				require.Contains(t, text, "sbx: "+tc.provider+": "+op+" ")
			}
			require.Empty(t, u.folders())
			if tc.needs != nil {
				e := testengine.Require(t, tc.needs...)
				require.Equal(t, map[string]int{"sandbox": 0, "snapshot": 0}, countedBy(t, e, u))
			}
		})
	}
}
