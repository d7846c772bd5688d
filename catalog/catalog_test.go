package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/catalog"
)

func TestEntriesAreWhole(t *testing.T) {
	entries, err := catalog.Entries()
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	for _, e := range entries {
		require.NotEmpty(t, e.ID)
		require.NotEmpty(t, e.Adapter, e.ID)
		if e.Status == "verified" {
			require.NotEmpty(t, e.Evidence, e.ID)
			require.True(t, e.VerifiedAt.Before(e.ExpiresAt), e.ID)
		} else {
			require.NotEmpty(t, e.Reason, e.ID)
		}
	}
}

func TestUnbuilt(t *testing.T) {
	require.Equal(t, "provider e2b is described only: there is no adapter for it yet; there are a, b", catalog.Unbuilt("e2b", "a", "b"))
	require.Equal(t, `no provider "docker" is built in; there are a`, catalog.Unbuilt("docker", "a"), "not in this program")
	require.Equal(t, `no provider "x" is built in; there are a`, catalog.Unbuilt("x", "a"))
}
