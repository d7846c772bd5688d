//go:build unix

package tree

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// The short way answers what the long way answers, or leaves it to that.
func TestQuickHash(t *testing.T) {
	root := t.TempDir()
	put := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	put("empty", "")
	put("small", "x\n")
	put("just", strings.Repeat("a", 64<<10-1))
	put("full", strings.Repeat("a", 64<<10))
	put("large", strings.Repeat("a", 200<<10))
	require.NoError(t, os.Symlink("small", filepath.Join(root, "link")))
	require.NoError(t, os.Mkdir(filepath.Join(root, "folder"), 0o755))
	require.NoError(t, syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600))
	d := newDisk(root)
	for name, quick := range map[string]bool{"empty": true, "small": true, "just": true, "full": false, "large": false,
		"link": false, "folder": false, "pipe": false, "absent": false, "small/below": false} {
		var h, long hasher
		sum, ok := h.quick(filepath.Join(root, name))
		require.Equal(t, quick, ok, name)
		want, wantErr := long.slow(d, name)
		if ok {
			require.NoError(t, wantErr, name)
			require.Equal(t, want, sum, name)
		}
		got, err := h.file(d, name)
		require.Equal(t, wantErr, err, name)
		require.Equal(t, want, got, name)
	}
}
