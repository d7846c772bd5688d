//go:build unix

package ledger

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Windows has no permission bits.
func TestFilesArePrivate(t *testing.T) {
	w := startTest(t)
	for path := w.Path(); filepath.Base(path) != "sbx"; path = filepath.Dir(path) {
		info, err := os.Stat(path)
		require.NoError(t, err)
		want := fs.FileMode(0o700)
		if path == w.Path() {
			want = 0o600
		}
		require.Equal(t, want, info.Mode().Perm(), path)
	}
}
