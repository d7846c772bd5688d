package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// One run makes a sandbox and another one removes it: nothing is owed, and the
// file of the first says where that is proven. Only a file in order proves it.
func TestVerifySaysWhereSomethingWasSettled(t *testing.T) {
	d := newDesk(t)
	require.Equal(t, 0, d.sbx("new"))
	require.Equal(t, 0, d.sbx("ledger", "verify"))
	require.Contains(t, d.out.String(), "intact, 4 records, something is owed\n")
	made, err := filepath.Glob(filepath.Join(d.vars["SBX_STATE_DIR"], "sbx", "ledger", "owner-a", "*.jsonl"))
	require.NoError(t, err)
	require.Len(t, made, 1)
	require.Equal(t, 0, d.sbx("rm", "cloud:box-1"))
	require.Equal(t, 0, d.sbx("ledger", "verify"))
	require.NotContains(t, d.out.String(), "something is owed")
	run := regexp.MustCompile(`settled in run (\S+)\n`).FindStringSubmatch(d.out.String())
	require.Len(t, run, 2, d.out.String())
	require.Contains(t, d.out.String(), run[1]+": intact, 6 records, balanced\n")
	require.Equal(t, 0, d.sbx("ledger", "verify", "--json", made[0]))
	var views []verifyView
	require.NoError(t, json.Unmarshal(d.out.Bytes(), &views))
	require.False(t, *views[0].Balanced, "of the file alone")
	require.Equal(t, run[1], views[0].Findings[0].SettledIn)

	proof := filepath.Join(filepath.Dir(made[0]), run[1]+".jsonl")
	raw, err := os.ReadFile(proof)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(proof, bytes.Replace(raw, []byte(`"box-1"`), []byte(`"box-7"`), 1), 0o600))
	require.Equal(t, exitFailed, d.sbx("ledger", "verify"))
	require.Contains(t, d.out.String(), "intact, 4 records, something is owed\n")
}
