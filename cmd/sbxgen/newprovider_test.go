package main

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/internal/forms/formtest"
)

// acmeFlags answer every question.
func acmeFlags() []string {
	return []string{"acme", "--name", "Acme", "--summary", "Small virtual machines: fast, cheap.",
		"--homepage", "https://acme.example/sandboxes", "--kind", "native", "--credential-env", "ACME_API_KEY",
		"--capability", "files,stop", "--capability", "snapshot"}
}

// command runs one command line in this process and returns its exit code and
// what it printed.
func command(in io.Reader, state string, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(context.Background(), args, streams{in: in, out: &out, err: &err, getenv: environ(state)})
	return code, out.String(), err.String()
}

func environ(state string) func(string) string {
	return func(name string) string {
		switch name {
		case "SBX_STATE_DIR":
			return state
		case "TERM":
			return "xterm"
		}
		return ""
	}
}

// makeIn makes the provider in a new module below a fresh folder, which has the
// same path relative to the module for every way of answering.
func makeIn(t *testing.T, in io.Reader, args ...string) map[string]string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "acme")
	code, out, stderr := command(in, t.TempDir(), append([]string{"new", "provider", "--module", "example.com/acme", "--dir", dir}, args...)...)
	require.Equal(t, exitClean, code, stderr)
	require.Contains(t, out, "Two files are yours to write:\n  provider.yaml ")
	return files(t, dir)
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		out[rel] = string(b)
		return err
	}))
	return out
}

func TestEveryWayOfAnsweringGivesTheSameTree(t *testing.T) {
	want := makeIn(t, nil, acmeFlags()...)
	require.Contains(t, want, "adapter.go")
	require.NotContains(t, want["provider.yaml"], "support: supported")

	whole := filepath.Join(t.TempDir(), "whole.yaml")
	require.NoError(t, os.WriteFile(whole, []byte(want["provider.yaml"]), 0o600))
	require.Equal(t, want, makeIn(t, nil, "--from", whole), "a whole manifest")
	require.Equal(t, want, makeIn(t, strings.NewReader(want["provider.yaml"]), "--from", "-"), "standard input")

	part := "kind: native\n"
	part = "id: acme\nname: Acme\nhomepage: https://acme.example/sandboxes\nadapter: {" + strings.TrimSpace(part) + "}\n"
	rest := []string{"--from", "-", "--summary", "Small virtual machines: fast, cheap.", "--credential-env", "ACME_API_KEY", "--capability", "files,stop,snapshot"}
	require.Equal(t, want, makeIn(t, strings.NewReader(part), rest...), "a part of it, and flags")
	asJSON := `{"id": "acme", "name": "Acme", "homepage": "https://acme.example/sandboxes", "adapter": {"kind": "native"}}`
	require.Equal(t, want, makeIn(t, strings.NewReader(asJSON), rest...), "JSON")
	require.Equal(t, want, inTerminal(t), "a terminal")
}

// inTerminal answers everything by hand, with a mistake on the way.
func inTerminal(t *testing.T) map[string]string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "acme")
	p := formtest.Sit(t)
	done := session(p, t.TempDir(), "--module", "example.com/acme", "--dir", dir)
	p.Sees("Short name of the provider")
	p.Types("Acme", formtest.Enter)
	p.Sees("form it must have")
	p.Types(formtest.Clear, "acme", formtest.Enter)
	p.Sees("What is it called?")
	p.Types("Acme", formtest.Enter)
	p.Sees("in one sentence?")
	p.Types("Small virtual machines: fast, cheap.", formtest.Enter)
	p.Sees("Where is its homepage?")
	p.Types("https://acme.example/sandboxes", formtest.Enter)
	p.Sees("How is it driven?")
	p.Types(formtest.Enter)
	p.Sees("build on another provider")
	p.Types(formtest.Enter)
	p.Sees("holds the API key?")
	p.Types("ACME_API_KEY", formtest.Enter)
	p.Sees("Which of these will the adapter have?")
	p.Types(formtest.Down, formtest.Down, "x", formtest.Down, formtest.Down, formtest.Down, formtest.Down, "x", formtest.Down, formtest.Down, "x", formtest.Enter)
	p.Sees("What now?")
	p.Types(formtest.Enter)
	require.Equal(t, exitClean, <-done)
	p.Sees("sbxgen checklist acme")
	return files(t, dir)
}

func session(p *formtest.Person, state string, args ...string) <-chan int {
	done := make(chan int, 1)
	go func() {
		done <- run(context.Background(), append([]string{"new", "provider"}, args...),
			streams{in: p.TTY, out: p.TTY, err: p.TTY, getenv: environ(state)})
	}()
	return done
}

func TestLeavingAndResuming(t *testing.T) {
	state, dir := t.TempDir(), filepath.Join(t.TempDir(), "acme")
	p := formtest.Sit(t)
	done := session(p, state, "--module", "example.com/acme", "--dir", dir, "acme")
	p.Sees("What is it called?")
	p.Types("Acme", formtest.Enter)
	p.Sees("in one sentence?")
	p.Types("Small", formtest.CtrlC)
	p.Sees("sbxgen new provider --resume --module example.com/acme --dir ")
	require.Equal(t, exitUsage, <-done)
	require.NoDirExists(t, dir, "nothing is left behind")
	kept := filepath.Join(state, "sbx", "new-provider.yaml")
	b, err := os.ReadFile(kept)
	require.NoError(t, err)
	require.Equal(t, "id: acme\nname: Acme\n", string(b), "an answer that would be refused is not kept")
	info, err := os.Stat(kept)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())

	args := append([]string{"new", "provider", "--resume", "--module", "example.com/acme", "--dir", dir}, acmeFlags()[3:]...)
	code, _, stderr := command(nil, state, args...)
	require.Equal(t, exitClean, code, stderr)
	require.NoFileExists(t, kept)
	require.Equal(t, makeIn(t, nil, acmeFlags()...), files(t, dir))
}

// A session that goes on asks what it had not asked yet, also when nothing that is
// required is missing any more.
func TestResumingInATerminal(t *testing.T) {
	state, dir := t.TempDir(), filepath.Join(t.TempDir(), "acme")
	p := formtest.Sit(t)
	place := []string{"--module", "example.com/acme", "--dir", dir}
	done := session(p, state, append(place, acmeFlags()[:7]...)...)
	p.Sees("How is it driven?")
	p.Types(formtest.Enter)
	p.Sees("build on another provider")
	p.Types("nosuch", formtest.Enter)
	p.Sees("there is no such provider here")
	p.Types(formtest.CtrlC)
	p.Sees("--resume")
	require.Equal(t, exitUsage, <-done)

	done = session(p, state, append(place, "--resume")...)
	p.Sees("Short name of the provider")
	p.Types(formtest.Enter)
	p.Sees("What is it called?")
	p.Types(formtest.Enter)
	p.Sees("in one sentence?")
	p.Types(formtest.Enter)
	p.Sees("Where is its homepage?")
	p.Types(formtest.Enter)
	p.Sees("How is it driven?")
	p.Types(formtest.Enter)
	p.Sees("build on another provider")
	p.Types(formtest.Enter)
	p.Sees("holds the API key?")
	p.Types(formtest.Enter)
	p.Sees("Which of these will the adapter have?")
	p.Types(formtest.Enter)
	p.Sees("What now?")
	p.Types(formtest.Enter)
	require.Equal(t, exitClean, <-done)
	require.NoFileExists(t, filepath.Join(state, "sbx", "new-provider.yaml"))
	require.Equal(t, makeIn(t, nil, acmeFlags()[:9]...), files(t, dir))
}

func TestStandardInputThatNeverEnds(t *testing.T) {
	in, out := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan int, 1)
	var stderr bytes.Buffer
	go func() {
		done <- run(ctx, []string{"new", "provider", "acme", "--from", "-", "--module", "example.com/acme", "--dir", filepath.Join(t.TempDir(), "acme")},
			streams{in: in, out: io.Discard, err: &stderr, getenv: environ(t.TempDir())})
	}()
	_, err := io.WriteString(out, "id: acme\n") // it is being read
	require.NoError(t, err)
	cancel()
	require.NotEqual(t, exitClean, <-done)
	require.Contains(t, stderr.String(), "interrupted; run it again")
	require.NoError(t, out.Close())
}

func TestNoTerminalNoQuestion(t *testing.T) {
	dir, state := filepath.Join(t.TempDir(), "acme"), t.TempDir()
	for name, in := range map[string]io.Reader{"no input": nil, "answers nobody asked for": strings.NewReader("acme\nAcme\n\n\n")} {
		code, out, stderr := command(in, state, "new", "provider", "acme", "--module", "example.com/acme", "--dir", dir, "--kind", "native")
		require.Equal(t, exitUsage, code, name)
		require.Empty(t, out, name)
		require.Equal(t, "sbxgen: not answered: name, summary, homepage\nThere is no terminal to ask in, so nothing was made. "+
			"Give --name, --summary, --homepage, or --from FILE (- for standard input) with a manifest, whole or in part.\n", stderr, name)
		require.NoDirExists(t, dir, name)
		require.Empty(t, files(t, state), name)
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	parent := t.TempDir()
	args := append([]string{"new", "provider", "--dry-run", "--module", "example.com/acme", "--dir", filepath.Join(parent, "a", "acme")}, acmeFlags()...)
	code, out, stderr := command(nil, t.TempDir(), args...)
	require.Equal(t, exitClean, code, stderr)
	require.Contains(t, out, "  provider.yaml\n")
	require.Contains(t, out, "+id: acme\n")
	require.True(t, strings.HasSuffix(out, "nothing was written\n"))
	require.Empty(t, files(t, parent))
	require.NoDirExists(t, filepath.Join(parent, "a"))
}
