package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// newFrom runs new provider --from, and fails when it does not come back.
func newFrom(t *testing.T, from string) (code int, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	done := make(chan int, 1)
	go func() {
		done <- run(context.Background(), append([]string{"new", "provider", "--from", from, "--module", "example.com/acme", "--dir",
			filepath.Join(t.TempDir(), "acme")}, acmeFlags()...), streams{in: strings.NewReader(""), out: &out, err: &errOut, getenv: environ(t.TempDir())})
	}()
	select {
	case code = <-done:
	case <-time.After(20 * time.Second):
		require.Fail(t, "it waits", from)
	}
	return code, errOut.String()
}

func TestAnswersComeFromRegularFiles(t *testing.T) {
	folder := t.TempDir()
	for _, name := range append(oddFiles(t, folder), folder) {
		code, stderr := newFrom(t, name)
		require.Equal(t, exitUsage, code, name)
		require.Contains(t, stderr, "--from", name)
		require.Contains(t, stderr, "not a regular file", name)
	}
	code, stderr := newFrom(t, filepath.Join(folder, "none"))
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "--from")
}

// Lines are those that were read, also of standard input, which has no name.
func TestAnswersAreShownAsRead(t *testing.T) {
	key := dummyKeys()[0]
	code, _, stderr := command(strings.NewReader("nmae: Acme\n"+key+": [\n"), t.TempDir(), append([]string{"new", "provider", "--from", "-",
		"--module", "example.com/acme", "--dir", filepath.Join(t.TempDir(), "acme")}, acmeFlags()...)...)
	require.Equal(t, exitFindings, code, stderr)
	requireHidden(t, key, stderr)
	code, _, stderr = command(strings.NewReader("nmae: Acme\n"), t.TempDir(), append([]string{"new", "provider", "--from", "-",
		"--module", "example.com/acme", "--dir", filepath.Join(t.TempDir(), "acme")}, acmeFlags()...)...)
	require.Equal(t, exitFindings, code, stderr)
	require.Contains(t, stderr, " 1 | nmae: Acme\n")
}

func TestSourceReaderIsBounded(t *testing.T) {
	root := t.TempDir()
	read := sourceReader(root)
	for _, name := range oddFiles(t, root) {
		require.Nil(t, read(name), name)
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "long"), nil, 0o644))
	require.NoError(t, os.Truncate(filepath.Join(root, "long"), maxSource+1))
	require.Nil(t, read("long"))
	require.NoError(t, os.WriteFile(filepath.Join(root, "short"), []byte("a\n"), 0o644))
	require.Equal(t, "a\n", string(read("short")))
}

// A mistyped folder does not stand for the project around it, and a variable
// without a value not for the default.
func TestFlagsThatSayNothingAreRefused(t *testing.T) {
	dir := acmeModule(t)
	file := filepath.Join(dir, "go.mod")
	for _, c := range []struct {
		flag string
		args []string
	}{
		{"--chdir", []string{"--chdir", filepath.Join(dir, "no", "such")}},
		{"--chdir", []string{"--chdir", file}},
		{"--chdir", []string{"--chdir", ""}},
		{"--chdir", []string{"--chdir="}},
	} {
		for _, verb := range [][]string{{"generate"}, {"generate", "--check"}, {"validate"}, {"status"}, {"checklist"}, {"evidence", "verify", "x"},
			{"evidence", "key", "x", "--owner", "x"}, append([]string{"new", "provider"}, acmeFlags()...)} {
			code, out, stderr := command(nil, t.TempDir(), append(verb, c.args...)...)
			require.Equal(t, exitUsage, code, "%s %s: %s", verb, c.args, out+stderr)
			require.Contains(t, stderr, c.flag, "%s %s", verb, c.args)
		}
	}
	for _, verb := range [][]string{{"validate"}, {"status"}, {"evidence", "verify", "x"}} {
		code, _, stderr := command(nil, t.TempDir(), append(verb, "--as-of", "", "--chdir", dir)...)
		require.Equal(t, exitUsage, code, verb)
		require.Contains(t, stderr, "--as-of", verb)
	}
	code, _, stderr := command(nil, t.TempDir(), "validate", "", "--chdir", dir)
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "PATH")
}
