package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/internal/gen"
)

func TestFailureNamesMethodAndRepetition(t *testing.T) {
	su := &suite{project: &gen.Project{Module: "example.com/acme"}}
	r := &conformance.Report{Provider: "acme", Counts: conformance.Counts{Executed: 1, Failed: 1}, Problems: []string{"closing the provider: broken"},
		Checks: []conformance.Result{{ID: "exec.exit-codes", Verdict: conformance.Failed, Rule: "R5", Message: "got 0, want 3",
			Method: "acme.(*Adapter).Exec", Location: "example.com/acme/providers/acme/exec.go:34"}, {ID: "exec.dir", Verdict: conformance.Passed}}}
	var out bytes.Buffer
	printFailures(&out, su, r)
	require.Equal(t, `
FAILED exec.exit-codes: got 0, want 3
  rule:    R5; sbxgen explain exec.exit-codes
  adapter: providers/acme/exec.go:34: acme.(*Adapter).Exec
  repeat:  sbxgen conformance acme --run '^exec\.exit-codes$'

PROBLEM of the run: closing the provider: broken
`, out.String())
	out.Reset()
	printFailures(&out, su, &conformance.Report{})
	require.Contains(t, out.String(), "no check was executed")
}

func TestConformanceOfLocal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.json")
	code, out, errs := called(t, "conformance", "local", "--chdir", filepath.Join("..", ".."), "--run", "^exec.exit-zero$", "--json", file)
	require.Equal(t, exitClean, code, out+errs)
	src, err := os.ReadFile(file)
	require.NoError(t, err)
	r, err := conformance.DecodeReport(src)
	require.NoError(t, err)
	require.Equal(t, "^exec.exit-zero$", r.Selected)
	require.Contains(t, out, r.Summary())
	require.Contains(t, errs, "shape.manifest-matches", "progress in plain lines")
	require.NotContains(t, errs, "\x1b", "no control characters outside of a terminal")
}

func TestConformanceCalledWrongly(t *testing.T) {
	for _, args := range [][]string{
		{"conformance"}, {"conformance", "nowhere"}, {"conformance", "e2b"}, {"conformance", "local", "--run", "("}, {"conformance", "local", "--parallel", "0"},
		{"bench", "local", "--samples", "0"}, {"bench", "local", "--compare", "nowhere.json"}, {"evidence", "collect", "e2b"}, {"evidence", "collect", "local", "--samples", "3"},
	} {
		code, _, errs := called(t, append(args, "--chdir", filepath.Join("..", ".."))...)
		require.Equal(t, exitUsage, code, "%v: %s", args, errs)
	}
}

// What is wrong with a flag is said before anything is built, and by its name.
func TestFlagsAreNamed(t *testing.T) {
	dir := t.TempDir()
	junk := filepath.Join(dir, "junk.json")
	require.NoError(t, os.WriteFile(junk, []byte("junk"), 0o600))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"conformance", "local", "--run", "nope"}, `--run "nope": no check matches; sbxgen explain lists them`},
		{[]string{"bench", "local", "--max-cost-usd", "-1"}, "--max-cost-usd -1: "},
		{[]string{"bench", "local", "--max-cost-usd", "NaN"}, "--max-cost-usd NaN: "},
		{[]string{"evidence", "collect", "local", "--max-cost-usd", "-1"}, "--max-cost-usd -1: "},
		{[]string{"bench", "local", "--svg", filepath.Join(dir, "none", "x.svg")}, "--svg " + dir + "/none/x.svg: there is no folder "},
		{[]string{"bench", "local", "--json", dir}, "--json " + dir + ": this is a folder"},
		{[]string{"bench", "local", "--compare", dir}, "--compare " + dir + ": "},
		{[]string{"bench", "local", "--compare", junk}, "--compare " + junk + ": "},
		{[]string{"bench", "local", "--from", junk}, "--from " + junk + ": "},
	} {
		code, _, errs := called(t, append(c.args, "--chdir", filepath.Join("..", ".."))...)
		require.Equal(t, exitUsage, code, "%v: %s", c.args, errs)
		require.Contains(t, errs, c.want)
	}
}

// A benchmark that lacks a credential says which, as collecting evidence does.
func TestBenchmarkWithoutCredential(t *testing.T) {
	dir := acmeModule(t)
	code, out, errs := command(nil, t.TempDir(), "bench", "acme", "--chdir", dir)
	require.Equal(t, exitFindings, code)
	require.Empty(t, out)
	require.Equal(t, "nothing was run: missing ACME_API_KEY\n", errs)
}

// No failure is not a proof, and that is said unless it is asked for as an error.
func TestOwedUnknownIsSaid(t *testing.T) {
	r := &conformance.Report{Counts: conformance.Counts{Executed: 1, Passed: 1, OwedUnknown: 2}}
	require.True(t, r.OK())
	var out bytes.Buffer
	require.NoError(t, conformanceVerdict(&out, r, false, false))
	require.Equal(t, "nothing failed, and of what is owed 2 checks are unknown; SBX_REQUIRE=owed makes that a failure\n", out.String())
	out.Reset()
	require.ErrorAs(t, conformanceVerdict(&out, r, true, false), &findingsError{})
	require.NoError(t, conformanceVerdict(&out, r, false, true))
	require.Empty(t, out.String(), "a selection leaves the rest unknown on purpose")
}

func TestViewOfATerminal(t *testing.T) {
	var out bytes.Buffer
	at := time.Date(2026, 8, 20, 10, 0, 0, 0, time.UTC)
	v := &checkView{screen: screen{out: &out, live: true, width: 69}, began: at, now: func() time.Time { return at }, running: map[string]time.Time{}, counts: map[conformance.Verdict]int{}}
	v.take(conformance.ProgressLine{Check: "exec.dir", Total: 4})
	v.take(conformance.ProgressLine{Check: "exec.env", Total: 4})
	at = at.Add(10 * time.Second)
	v.take(conformance.ProgressLine{Check: "exec.dir", Verdict: conformance.Failed, Message: "no such directory\nmore", Done: 1, Total: 4})
	v.tick()
	require.Contains(t, out.String(), "exec.dir (10s): no such directory\n")
	require.Contains(t, out.String(), "[#####...............] 1/4  0 passed, 0 refused as declared, 1 faile\n", "cut at the width")
	require.Contains(t, out.String(), "  runs  exec.env")
	out.Reset()
	v.tick()
	require.Contains(t, out.String(), "\x1b[2A\x1b[J", "what was drawn is taken away first")
	out.Reset()
	v.end()
	require.Equal(t, "\x1b[2A\x1b[J", out.String())
}

// TestInterruptIsPassedOn: the process of the provider hears of an interrupt and
// has time to tear down.
func TestInterruptIsPassedOn(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted there")
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "suite.test")
	script := "#!/bin/sh\ntrap 'echo torn down; exit 0' INT\necho started >" + dir + "/started\nwhile :; do sleep 0.05; done\n"
	require.NoError(t, os.WriteFile(binary, []byte(script), 0o755))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(dir, "started")); err == nil {
				cancel()
			}
		}
	}()
	out, err := (&suite{folder: dir, binary: binary}).run(ctx, nil, nil, nil)
	require.NoError(t, err)
	require.Contains(t, string(out), "torn down")
}

func TestFollowReadsWhatIsAppended(t *testing.T) {
	file := filepath.Join(t.TempDir(), "progress.jsonl")
	var got []string
	stop := follow(file, func(e conformance.ProgressLine) { got = append(got, e.Check) }, func() {})
	require.NoError(t, os.WriteFile(file, []byte("{\"check\":\"a\"}\n{\"check\":\"b\"}\n{\"che"), 0o600))
	require.NoError(t, stop())
	require.Equal(t, []string{"a", "b"}, got, "an incomplete line is no event")
	stop = follow(file, func(conformance.ProgressLine) {}, func() {})
	require.NoError(t, os.WriteFile(file, []byte("not JSON\n"), 0o600))
	require.Error(t, stop())
}
