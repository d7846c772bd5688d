package schema

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommittedSchemasLintClean(t *testing.T) {
	for _, p := range LintAll(Files()) {
		t.Error(p)
	}
	require.NotNil(t, Files())
}
