package main

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// What was asked for and is not possible is no pass, and says so in one line.
func TestDeepWithoutTheProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	code, out, stderr := command(nil, t.TempDir(), "validate", "--deep", "--no-cache", "--chdir", repository(t), "catalog")
	require.Equal(t, exitUsage, code)
	require.Empty(t, out)
	require.Equal(t, "sbxgen: --deep needs the program gitleaks (8.19 or newer) in PATH, which has none; install it, or leave --deep out\n", stderr)
}

// A program that is there is run; one that answers nothing is no clean scan.
func TestDeepRunsTheProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("the fake program is a shell script; what is made of its report is tested in internal/gate")
		return
	}
	dir := t.TempDir()
	fake := func(body string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "gitleaks"), []byte("#!/bin/sh\n"+body), 0o755))
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	validate := func() (int, string, string) {
		return command(nil, t.TempDir(), "validate", "--deep", "--no-cache", "--chdir", repository(t), "catalog/e2b.yaml")
	}
	fake(`echo "[{\"RuleID\":\"generic-api-key\",\"File\":\"$2/catalog/e2b.yaml\",\"StartLine\":2,\"Secret\":\"unknown\"}]" > "$6"` + "\n")
	code, out, _ := validate()
	require.Equal(t, exitFindings, code)
	require.Contains(t, out, "catalog/e2b.yaml:3:9: error: gitleaks takes this for a secret: generic-api-key [SBX506]\n 3 | status: *******\n")
	fake("echo '[]' > \"$6\"\n")
	code, out, _ = validate()
	require.Equal(t, exitClean, code, out)
	fake("exit 0\n")
	code, _, stderr := validate()
	require.Equal(t, exitInternal, code)
	require.Equal(t, "sbxgen: the deep scan did not take place: gitleaks: it left no report\n", stderr)
}
