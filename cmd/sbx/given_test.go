package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// A usage error says that nothing was done, so all references are read first.
func TestOneBadReferenceDestroysNothing(t *testing.T) {
	d := newDesk(t)
	require.Equal(t, 0, d.sbx("new"))
	delete(d.vars, "SBX_PROVIDER")
	require.Equal(t, exitUsage, d.sbx("rm", "cloud:box-1", "nope:x"))
	require.Empty(t, d.out.String())
	require.Len(t, d.c.boxes, 1)
	require.Equal(t, 0, d.sbx("snapshot", "cloud:box-1"))
	require.Equal(t, exitUsage, d.sbx("snapshots", "rm", "cloud:snap-2", "nope:x"))
	require.Len(t, d.c.snapshots, 1)
	require.Equal(t, 0, d.sbx("rm", "cloud:box-1"))
}

// What a variable that is not set makes of a flag is no choice of anybody.
func TestAGivenFlagSaysSomething(t *testing.T) {
	d := newDesk(t)
	for _, args := range [][]string{{"new", "--for", ""}, {"new", "--provider", ""}, {"new", "--image", ""}, {"new", "--name", " "},
		{"new", "--from-snapshot", ""}, {"new", "--egress", ""}, {"new", "--memory", ""}, {"run", "--image", ""}} {
		require.NotEqual(t, 0, d.sbx(append(args, map[string][]string{"run": {"--", "say"}}[args[0]]...)...), args)
		require.Contains(t, d.err.String(), args[1]+" is empty", args)
	}
	for _, args := range [][]string{{"new", "--ttl", "0"}, {"new", "--cpus", "0"}, {"new", "--idle", "0s"}, {"new", "--cpus", "NaN"}, {"new", "--cpus", "-1"},
		{"snapshot", "--ttl", "0", "cloud:x"}, {"logs", "--since", "-1s", "cloud:x"}, {"list", "--timeout", "-1s"}} {
		require.Equal(t, exitUsage, d.sbx(args...), args)
		require.Contains(t, d.err.String(), args[1]+" is positive", args)
	}
	require.Empty(t, d.c.asked)
	require.Equal(t, 0, d.sbx("list", "--timeout", "0"))
}

// The sandbox of a key is the one there is, and that it is of another image is told.
func TestTheSandboxOfAKeySaysWhatItWasMadeOf(t *testing.T) {
	d := newDesk(t)
	require.Equal(t, 0, d.sbx("new", "--for", "k1", "--image", "one:1"))
	require.Empty(t, d.err.String())
	require.Equal(t, 0, d.sbx("new", "--for", "k1", "--image", "one:1"))
	require.Empty(t, d.err.String())
	require.Equal(t, 0, d.sbx("new", "--for", "k1", "--image", "other:1", "--json"))
	require.Contains(t, d.err.String(), "made with image one:1; --image other:1 was not used")
	var v newView
	require.NoError(t, json.Unmarshal(d.out.Bytes(), &v))
	require.Equal(t, "cloud:box-1", v.Ref)
	require.Contains(t, v.Note, "one:1")
}
