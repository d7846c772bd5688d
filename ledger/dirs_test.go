package ledger

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A file system that answers "no such file" for a folder whose parent is there,
// as procfs does, must end in an error and not in a search without end.
func TestAFolderThatCannotBeMadeIsAnError(t *testing.T) {
	require.Error(t, mkdirDurable("/proc/self/sbx-not-here/below"))
}
