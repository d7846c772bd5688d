package hooktest

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// checkout is this tree.
func checkout(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(dir, ".pre-commit-hooks.yaml"))
	return dir
}

// need skips without the program, or fails when SBX_REQUIRE names it.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			if slices.Contains(strings.Split(os.Getenv("SBX_REQUIRE"), ","), program) {
				t.Fatalf("SBX_REQUIRE names %q: %v", program, err)
			}
			t.Skip(err)
		}
	}
}

// result is how a command ended.
type result struct {
	out, err string
	code     int
}

// project is a repository that somebody else keeps a provider in.
type project struct {
	t   *testing.T
	dir string
	env []string
}

// newProject scaffolds a provider in a module of its own, which builds with
// this checkout, and commits it.
func newProject(t *testing.T) *project {
	t.Helper()
	p := &project{t: t, dir: filepath.Join(t.TempDir(), "acme"), env: environment(t)}
	here := checkout(t)
	bin := filepath.Join(t.TempDir(), "sbxgen")
	r := p.in(here, "go", "build", "-o", bin, "./cmd/sbxgen")
	require.Zero(t, r.code, r.err)
	r = p.in(here, bin, "new", "provider", "acme", "--name", "Acme", "--summary", "Small virtual machines.",
		"--homepage", "https://acme.example/sandboxes", "--kind", "native", "--credential-env", "ACME_API_KEY",
		"--capability", "files", "--module", "example.com/acme", "--dir", p.dir)
	require.Zero(t, r.code, r.err)
	p.ok("git", "init", "-q")
	p.commit()
	return p
}

// environment is this process's, without what would reach the tools by
// accident, and with a Go command that stays on this machine.
func environment(t *testing.T) []string {
	t.Helper()
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "SBX") && !strings.HasPrefix(name, "GITHUB_") && !strings.HasPrefix(name, "PRE_COMMIT") {
			env = append(env, kv)
		}
	}
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	require.NoError(t, err)
	return append(env, "GOMODCACHE="+strings.TrimSpace(string(cache)), "GOPROXY=off", "GOTOOLCHAIN=local",
		"GOFLAGS=-mod=readonly -buildvcs=false", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"PRE_COMMIT_HOME="+t.TempDir(), "XDG_CACHE_HOME="+t.TempDir())
}

// in runs a command in a folder.
func (p *project) in(dir, name string, args ...string) result {
	p.t.Helper()
	c := exec.Command(name, args...)
	c.Dir, c.Env = dir, p.env
	var stdout, stderr strings.Builder
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	if _, exited := err.(*exec.ExitError); !exited {
		require.NoError(p.t, err)
	}
	return result{stdout.String(), stderr.String(), c.ProcessState.ExitCode()}
}

func (p *project) ok(name string, args ...string) string {
	p.t.Helper()
	r := p.in(p.dir, name, args...)
	require.Zero(p.t, r.code, "%s %v: %s%s", name, args, r.out, r.err)
	return strings.TrimSpace(r.out)
}

func (p *project) commit() {
	p.t.Helper()
	p.ok("git", "add", "-A")
	p.ok("git", "commit", "-q", "--no-verify", "-m", "acme: change")
}

// change appends text to a file, which it makes when there is none, and returns
// the number of the text's first line.
func (p *project) change(name, text string) int {
	p.t.Helper()
	file := filepath.Join(p.dir, name)
	body, err := os.ReadFile(file)
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(p.t, err)
	}
	require.NoError(p.t, os.WriteFile(file, append(body, text...), 0o600))
	return strings.Count(string(body), "\n") + 1
}
