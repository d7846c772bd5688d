package schema_test

import (
	"go/token"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/schema"
)

func TestBadPackage(t *testing.T) {
	for id := range map[string]bool{"go": true, "func": true, "fu-nc": true, "range": true, "init": true, "main": true, "ma-in": true,
		"documentation": true, "internal": true, "vendor": true, "testdata": true} {
		require.NotEmpty(t, schema.BadPackage(id), id)
	}
	// What only shadows a name of Go is no hindrance: generated code imports it
	// under a name of its own.
	for _, id := range []string{"docker", "error", "len", "context", "contract", "port", "in-ternal", "e2b"} {
		require.Empty(t, schema.BadPackage(id), id)
		require.True(t, token.IsIdentifier(schema.PackageName(id)), id)
	}
}
