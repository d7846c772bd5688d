package schemacheck

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeys(t *testing.T) {
	c, err := Provider()
	require.NoError(t, err)
	keys := c.Keys()
	require.Greater(t, len(keys), 100)
	find := func(path string) Key {
		i := slices.IndexFunc(keys, func(k Key) bool { return k.Path == path })
		require.GreaterOrEqual(t, i, 0, path)
		return keys[i]
	}
	gone := find("lifecycle.goneProof")
	require.True(t, gone.Fact && gone.Required)
	require.Equal(t, []string{"inspect", "list", "both", "none"}, gone.Words)
	require.Equal(t, "a text", gone.Form)
	require.Empty(t, gone.Keys)
	gap := find("adapter.gap")
	require.Equal(t, "a list of entries", gap.Form)
	require.Equal(t, []string{"capability", "check", "computesdkFact", "evidence"}, gap.Keys, "of both alternatives")
	require.True(t, find("adapter.gap.check").Required)
	require.Equal(t, []string{"sbx/v1"}, find("apiVersion").Words)
	require.NotEmpty(t, find("id").Pattern)
	require.NotEmpty(t, find("credentialSets.env").Title, "through a list of lists")
	require.False(t, slices.ContainsFunc(keys, func(k Key) bool { return k.Path == "capabilities.files" }), "the vocabulary explains those")
	for _, k := range keys {
		require.NotEmpty(t, k.Title, k.Path)
		require.NotEmpty(t, k.Description, k.Path)
		require.NotEmpty(t, k.Form, k.Path)
	}
}
