package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/internal/evidence"
	"github.com/agentworkforce/sbx/internal/gate/gatetest"
)

// called runs a command line and returns what it printed.
func called(t *testing.T, args ...string) (code int, out, err string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = run(context.Background(), args, streams{in: strings.NewReader(""), out: &stdout, err: &stderr, getenv: os.Getenv})
	return code, stdout.String(), stderr.String()
}

func TestStatusIsOfADay(t *testing.T) {
	tree := gatetest.New(t)
	tree.Verify()
	code, out, errs := called(t, "status", "--chdir", tree.Root, "--as-of", "2026-09-01")
	require.Equal(t, exitClean, code, errs)
	require.Contains(t, out, "acme         verified until 2026-11-18T11:00:00Z by "+gatetest.Dir+"\n")
	require.Contains(t, out, "proven      core, labels, list, stop\n")
	_, out, _ = called(t, "status", "acme", "--chdir", tree.Root, "--as-of", "2026-12-10")
	require.Contains(t, out, "acme         unknown (expired)\n")
	require.NotContains(t, out, "  proven ")
	tree.Put(gatetest.Adapter, "package acme\n\n// Adapter is another one.\ntype Adapter struct{ n int }\n")
	_, out, _ = called(t, "status", "--chdir", tree.Root, "--as-of", "2026-09-01", "--json")
	require.Contains(t, out, `"reason": "refused: SBX210"`)
	code, _, errs = called(t, "status", "acmee", "--chdir", tree.Root)
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "did you mean acme?")
}

func TestFixDemotesAndNeverPromotes(t *testing.T) {
	tree := gatetest.New(t)
	tree.Verify()
	entry := string(tree.Read(gatetest.Entry))
	args := []string{"validate", "--chdir", tree.Root, "--as-of", "2026-09-01", "--no-cache", "--fix", gatetest.Entry}
	code, _, errs := called(t, args...)
	require.Equal(t, exitClean, code, errs)
	require.Equal(t, entry, string(tree.Read(gatetest.Entry)), "nothing to put right")
	tree.Put(gatetest.Dir+"/benchmark.svg", "<svg>edited</svg>\n")
	code, out, errs := called(t, args...)
	require.Equal(t, exitFindings, code, "the file is still another one: %s", out)
	require.Contains(t, errs, "status is unknown now")
	after := string(tree.Read(gatetest.Entry))
	require.Contains(t, after, "# Reviewed line by line.\nprovider: acme\nstatus: unknown\n")
	require.Contains(t, after, "SBX205")
	tree.Put(gatetest.Dir+"/benchmark.svg", "<svg/>\n")
	code, _, _ = called(t, args...)
	require.Equal(t, exitClean, code)
	require.Equal(t, after, string(tree.Read(gatetest.Entry)), "nothing but a person writes verified")
}

func TestVerifyShowAndSign(t *testing.T) {
	tree := gatetest.New(t)
	tree.Verify()
	at := []string{"--chdir", tree.Root}
	code, out, errs := called(t, append([]string{"evidence", "verify", "acme", "--as-of", "2026-09-01"}, at...)...)
	require.Equal(t, exitClean, code, out+errs)
	code, out, _ = called(t, append([]string{"evidence", "show", "acme"}, at...)...)
	require.Equal(t, exitClean, code)
	require.Contains(t, out, "verdict   passed\nmode      live\n")
	require.Contains(t, out, "proves    core: ")

	// A new key signs, and counts only when it is listed.
	dir := t.TempDir()
	key := filepath.Join(dir, "key.pem")
	code, out, errs = called(t, append([]string{"evidence", "key", key, "--owner", "Ada"}, at...)...)
	require.Equal(t, exitClean, code, errs)
	require.Contains(t, out, "owner: \"Ada\"")
	before := tree.Read(gatetest.Dir + "/" + evidence.EnvelopeName)
	code, _, errs = called(t, append([]string{"evidence", "sign", gatetest.Dir, "--key", key}, at...)...)
	require.Equal(t, exitUsage, code, "the signature is another person's")
	require.Contains(t, errs, "give --replace")
	require.Equal(t, before, tree.Read(gatetest.Dir+"/"+evidence.EnvelopeName))
	for _, more := range [][]string{{"--replace"}, nil} { // the same once more is no harm
		code, _, errs = called(t, append(append([]string{"evidence", "sign", gatetest.Dir, "--key", key}, more...), at...)...)
		require.Equal(t, exitClean, code, errs)
	}
	require.Contains(t, errs, "counts for nothing yet")
	code, out, _ = called(t, append([]string{"evidence", "verify", "acme", "--as-of", "2026-09-01"}, at...)...)
	require.Equal(t, exitFindings, code)
	require.Contains(t, out, "[untrusted-key]")

	// Nor is one over another statement replaced in silence.
	statement := tree.Read(gatetest.Dir + "/" + evidence.StatementName)
	tree.Put(gatetest.Dir+"/"+evidence.StatementName, string(statement)+"\n")
	code, _, errs = called(t, append([]string{"evidence", "sign", gatetest.Dir, "--key", key}, at...)...)
	require.Equal(t, exitUsage, code, errs)
	require.Contains(t, errs, "give --replace")
	tree.Put(gatetest.Dir+"/"+evidence.StatementName, string(statement))

	// What is not what its statement says is not signed.
	tree.Put(gatetest.Dir+"/benchmark.svg", "<svg>edited</svg>\n")
	code, out, _ = called(t, append([]string{"evidence", "sign", gatetest.Dir, "--key", key}, at...)...)
	require.Equal(t, exitFindings, code)
	require.Contains(t, out, "[digest]")
	code, _, errs = called(t, append([]string{"evidence", "sign", "acme"}, at...)...)
	require.Equal(t, exitUsage, code, errs)
	code, _, _ = called(t, append([]string{"evidence", "verify", "acme/none"}, at...)...)
	require.Equal(t, exitUsage, code)
}

func TestKeyIsNotMadeInsideTheTree(t *testing.T) {
	tree := gatetest.New(t)
	code, _, errs := called(t, "evidence", "key", filepath.Join(tree.Root, "key.pem"), "--owner", "Ada", "--chdir", tree.Root)
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "never written into the tree")
	file := filepath.Join(t.TempDir(), "key.pem")
	code, _, _ = called(t, "evidence", "key", file, "--chdir", tree.Root)
	require.Equal(t, exitUsage, code, "nobody answers for it")
	require.NoFileExists(t, file)
	before := tree.Read(evidence.KeysFile)
	code, _, errs = called(t, "evidence", "key", file, "--owner", "Ada", "--list", "--chdir", tree.Root)
	require.Equal(t, exitClean, code, errs)
	keys, found, err := evidence.ParseKeys(evidence.KeysFile, tree.Read(evidence.KeysFile))
	require.NoError(t, err)
	require.Empty(t, found)
	require.Len(t, keys.Keys, 2)
	require.True(t, bytes.HasPrefix(tree.Read(evidence.KeysFile), before))
	private, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, errs, strings.Split(string(private), "\n")[1])
}

func TestReproductionNamesWhatWasLost(t *testing.T) {
	result := func(id string, v conformance.Verdict) conformance.Result {
		return conformance.Result{ID: id, Verdict: v, Message: "seen"}
	}
	before := &conformance.Report{Provider: "acme", Checks: []conformance.Result{result("a", conformance.Passed), result("b", conformance.Failed)}}
	after := &conformance.Report{Provider: "acme", Checks: []conformance.Result{result("a", conformance.Unknown), result("b", conformance.Passed)}, Counts: conformance.Counts{Executed: 1}}
	var out bytes.Buffer
	require.ErrorAs(t, printReproduction(&out, "evidence/acme/run", before, after), &findingsError{})
	require.Contains(t, out.String(), "a: was passed, is unknown()")
	require.Contains(t, out.String(), "1 check that passed did not pass again")
	out.Reset()
	require.NoError(t, printReproduction(&out, "evidence/acme/run", before, &conformance.Report{Provider: "acme",
		Checks: []conformance.Result{result("a", conformance.Passed), result("b", conformance.Passed)}, Counts: conformance.Counts{Executed: 2}}))
	require.ErrorAs(t, printReproduction(&out, "evidence/acme/run", before, &conformance.Report{Provider: "acme", Checks: before.Checks}), &findingsError{}, "nothing was run")
}

func TestMissingCredentials(t *testing.T) {
	manifest := map[string]any{"credentialSets": []any{
		[]any{map[string]any{"key": "id", "env": "ACME_ID"}, map[string]any{"key": "secret", "env": "ACME_SECRET"}},
		[]any{map[string]any{"key": "token", "env": "ACME_TOKEN"}},
	}}
	env := map[string]string{}
	getenv := func(name string) string { return env[name] }
	require.Equal(t, []string{"ACME_TOKEN"}, missingCredentials(manifest, getenv))
	env["ACME_ID"], env["ACME_TOKEN"] = "x", "  "
	require.Equal(t, []string{"ACME_SECRET"}, missingCredentials(manifest, getenv), "a blank variable is absent")
	env["ACME_TOKEN"] = "x"
	require.Empty(t, missingCredentials(manifest, getenv))
	require.Empty(t, missingCredentials(map[string]any{}, getenv))
}

func TestAWatchOfNothingSeesNothing(t *testing.T) {
	dummy, err := newDummy()
	require.NoError(t, err)
	w, err := newProcessWatch(dummy, "")
	require.NoError(t, err)
	if found, looked := w.result(); found != nil || looked != 0 {
		t.Fatal("a watch that has not begun has seen something")
	}
	w.start(1 << 30)
	w.stop()
	found, _ := w.result()
	require.Empty(t, found)
}
