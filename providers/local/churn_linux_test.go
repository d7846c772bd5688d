package local

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// What container engines mount and unmount is not bound, and everything beside it is.
func TestEngineFoldersAreLeftOut(t *testing.T) {
	for _, dir := range []string{"/var", "/run"} {
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		binds, err := hostBinds(dir)
		require.NoError(t, err)
		for _, engine := range engineDirs() {
			require.NotContains(t, binds, engine)
		}
		if _, err := os.Stat("/var/lib/docker"); err == nil && dir == "/var" {
			require.NotContains(t, binds, "/var", "the whole tree is bound, mounts included")
			require.Contains(t, binds, "/var/tmp")
		}
	}
	binds, err := hostBinds("/usr")
	require.NoError(t, err)
	require.True(t, slices.Equal(binds, []string{"--ro-bind-try", "/usr", "/usr"}))
}
