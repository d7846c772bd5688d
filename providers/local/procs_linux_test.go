package local

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

func TestMountsAreCountedBelowTheFolderOnly(t *testing.T) {
	const info = `22 1 8:1 / / rw - ext4 /dev/sda rw
23 22 8:1 / /state/a\040b rw - ext4 /dev/sda rw
24 22 0:5 / /state/a\040b/root/m rw shared:1 - tmpfs none rw
25 22 0:5 / /state/a\040bc/m rw - tmpfs none rw
`
	require.Equal(t, 1, countMounts(info, "/state/a b"))
	require.Equal(t, 0, countMounts(info, "/state/x"))
	require.Equal(t, 3, countMounts(info, "/state"))
}

func TestDestroyKeepsItsHandsOffMounts(t *testing.T) {
	if os.Geteuid() != 0 {
		if slices.Contains(strings.Split(os.Getenv("SBX_REQUIRE"), ","), "root") {
			t.Fatal("root is required, and this is not")
		}
		t.Skip("mounting takes root")
	}
	a := openAdapter(t, isolationNone)
	in := create(t, a)
	require.NoError(t, a.Mkdir(t.Context(), in.ID, under(in, "m"), 0o755))
	m := filepath.Join(a.dir, in.ID, rootName, "m")
	require.NoError(t, unix.Mount("none", m, "tmpfs", 0, ""))
	require.NoError(t, os.WriteFile(filepath.Join(m, "precious"), nil, 0o600))
	_, err := a.Destroy(t.Context(), in.ID)
	unchanged, statErr := os.Stat(filepath.Join(m, "precious"))
	require.NoError(t, unix.Unmount(m, 0))
	requireCode(t, port.CodeFailedPrecondition, err)
	require.NoError(t, statErr)
	require.Zero(t, unchanged.Size())
	got, err := a.Inspect(t.Context(), in.ID)
	require.NoError(t, err)
	require.Equal(t, contract.StateRunning, got.State)
}

func TestMarksAreWholeVariables(t *testing.T) {
	a := openAdapter(t, isolationNone)
	in := create(t, a)
	env := map[string]string{"FILL": strings.Repeat("x", 40<<10), "X": "1 " + sandboxMark("other"), "OTHER_" + idVariable: "other"}
	p, err := a.Stream(t.Context(), in.ID, contract.Command{Argv: []string{"sleep", "300"}, Env: env})
	require.NoError(t, err)
	require.Equal(t, 1, running(t, in.ID))
	require.Zero(t, running(t, "other"))
	require.Zero(t, running(t, in.ID[:20]))
	n, err := killMarked(sandboxMark("other"), killLimit)
	require.NoError(t, err)
	require.Zero(t, n)
	require.Equal(t, 1, running(t, in.ID))
	require.NoError(t, p.Close())
	require.Zero(t, running(t, in.ID))
}
