package tree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRecoverCompletesWhatWasInterrupted(t *testing.T) {
	root := t.TempDir()
	recovered, err := Recover(context.Background(), root)
	require.NoError(t, err)
	require.False(t, recovered)
	require.Empty(t, snapshot(t, root), "nothing is made where nothing was interrupted")

	whole := t.TempDir()
	apply(t, whole, dockerPlan("new"), Options{})
	stopped := false
	func() {
		defer func() { stopped = recover() != nil }()
		steps := 0
		opts := Options{step: func(string) {
			if f, err := interrupted(newDisk(root)); err == nil && f != nil {
				if steps++; steps == 2 { // the journal is there, and renaming has begun
					panic("stopped")
				}
			}
		}}
		_, err := Apply(context.Background(), root, dockerPlan("new"), opts)
		require.NoError(t, err)
	}()
	require.True(t, stopped)
	recovered, err = Recover(context.Background(), root)
	require.NoError(t, err)
	require.True(t, recovered)
	require.Equal(t, snapshot(t, whole), snapshot(t, root))
	require.Empty(t, check(t, root, dockerPlan("new")).Findings)
}

// The first file a run makes tells Git to ignore the work folder. A kill can leave
// it empty or beside its place; the next run puts it right, and writes through no link.
func TestTheWorkFolderStaysIgnoredAfterAKill(t *testing.T) {
	root := t.TempDir()
	ignore := workDir + "/.gitignore"
	put(t, root, ignore, "", ignore+".new", "*")
	apply(t, root, dockerPlan("new"), Options{})
	require.Equal(t, ignoreAll, get(t, root, ignore))
	require.False(t, there(root, ignore+".new"))

	elsewhere := filepath.Join(t.TempDir(), "theirs")
	require.NoError(t, os.WriteFile(elsewhere, []byte("theirs"), 0o644))
	put(t, root, ignore, "")
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(root, ignore+".new")))
	_, err := Apply(context.Background(), root, dockerPlan("two"), Options{})
	_, unsafe := errors.AsType[*UnsafePathError](err)
	require.True(t, unsafe, "%v", err)
	theirs, err := os.ReadFile(elsewhere)
	require.NoError(t, err)
	require.Equal(t, "theirs", string(theirs))
}
