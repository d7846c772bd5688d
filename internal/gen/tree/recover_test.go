package tree

import (
	"context"
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
