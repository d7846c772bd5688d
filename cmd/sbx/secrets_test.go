package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/sandbox"
)

// A key that was put in the wrong place of a command line is not repeated.
func TestArgumentsThatAreKeysAreNotRepeated(t *testing.T) {
	key := "gh" + "p_" + strings.Repeat("aB3dE9", 6) // put together here, so that no file holds one
	none := func(string) (sandbox.Driver, bool) { return sandbox.Driver{}, false }
	for _, args := range [][]string{{key}, {"--" + key}, {"run", "--provider", key, "--", "true"}, {"new", "--provider", key}, {"list", "--provider", key},
		{"rm", key}, {"info", key}, {"info", "--json", key}, {"new", "--timeout", key}, {"capabilities", key}, {"ledger", "show", key}} {
		m := newMachine(t)
		code := m.sbx(none, args...)
		require.NotZero(t, code, args)
		require.NotContains(t, m.out.String()+m.err.String(), key, args)
		require.Contains(t, m.out.String()+m.err.String(), "(hidden)", args)
	}
}
