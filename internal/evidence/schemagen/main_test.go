package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/schema"
)

func TestSchemasAreCurrent(t *testing.T) {
	want, err := schemas()
	require.NoError(t, err)
	require.Len(t, want, 4)
	for name, text := range want {
		got, err := schema.Files().ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, string(text), string(got), "%s is not what the types say: go run ./internal/evidence/schemagen", name)
	}
}

func TestSchemasAreClosed(t *testing.T) {
	all, err := schemas()
	require.NoError(t, err)
	for name, text := range all {
		require.Contains(t, string(text), `"additionalProperties": false`, name)
		require.NotContains(t, string(text), `: true`, "%s has a part that allows anything", name)
	}
}
