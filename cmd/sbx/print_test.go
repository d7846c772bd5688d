package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whoever names a sandbox, or fails, has no say over somebody's terminal.
func TestNothingForeignReachesTheTerminal(t *testing.T) {
	d := newDesk(t)
	require.Equal(t, 0, d.sbx("new", "--name", "a\x1b]0;b\ac\nd\te", "--label", "k=\u202egnp.exe\x1b[2J"), d.err.String())
	for _, args := range [][]string{{"info", "cloud:box-1"}, {"list"}, {"list", "--all"}, {"ledger", "show"}, {"reap"}, {"info", "cloud:\x1b[2J\u202e"}} {
		d.sbx(args...)
		text := d.out.String() + d.err.String()
		require.NotContains(t, text, "\x1b", args)
		require.NotContains(t, text, "\a", args)
		require.NotContains(t, text, "\u202e", args)
	}
	require.Equal(t, 0, d.sbx("list"))
	require.Contains(t, d.out.String(), `a\x1b]0;b\x07c\nd\te`)
	require.Equal(t, 0, d.sbx("info", "--json", "cloud:box-1"))
	var v infoView
	require.NoError(t, json.Unmarshal(d.out.Bytes(), &v))
	require.Equal(t, "\u202egnp.exe\x1b[2J", v.Instance.Labels["k"], "programs get what there is")
}

// A failure is JSON for whoever asked for that, also by a flag that was not reached.
func TestUsageErrorsAreJSONToo(t *testing.T) {
	d := newDesk(t)
	for _, args := range [][]string{{"new", "--cpus", "x", "--json"}, {"new", "--bogus", "--json"}, {"bogus", "--json"}, {"info", "--json"}, {"exec", "--bogus", "--json", "--", "say"}} {
		require.NotEqual(t, 0, d.sbx(args...), args)
		var v struct{ Error failureView }
		require.NoError(t, json.Unmarshal(d.out.Bytes(), &v), "%v: %s", args, d.out.String())
		require.Equal(t, "usage", v.Error.Code, args)
	}
	require.NotEqual(t, 0, d.sbx("exec", "--bogus", "cloud:x", "--", "say", "--json"))
	require.Empty(t, d.out.String())
}

// Where a setting chooses the isolation, the least of it is not all there is to say.
func TestProvidersSayWhatChoosesTheIsolation(t *testing.T) {
	u := newUser(t)
	text := u.must("providers", "--provider", "local")
	require.Regexp(t, `(?m)^local +\S+ +none or more +`, text)
	require.Contains(t, text, "local: SBX_LOCAL_ISOLATION chooses the isolation (bwrap, none); sbx info says")
	require.Regexp(t, `(?m)^docker +\S+ +container +`, u.must("providers", "--provider", "docker"))
}
