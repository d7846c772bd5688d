package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentworkforce/sbx/internal/testengine"
	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"
)

// asProgram makes this test binary be sbx itself, so that processes can be ended
// and terminals joined without another build.
const asProgram = "SBX_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main() // exits
	}
	os.Exit(m.Run())
}

// needed fails the test when SBX_REQUIRE names what is missing, and skips it
// otherwise.
func needed(t *testing.T, name string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	require.False(t, slices.Contains(strings.Split(os.Getenv("SBX_REQUIRE"), ","), name), "SBX_REQUIRE names %s: %v", name, err)
	t.Skip(err)
}

// user is somebody at a machine: a state directory, a home, and an environment.
type user struct {
	t     *testing.T
	state string
	env   []string
}

// newUser has a local provider that works here: with bwrap where it is installed.
func newUser(t *testing.T) *user {
	t.Helper()
	u := &user{t: t, state: t.TempDir()}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); !strings.HasPrefix(name, "SBX_") && !strings.HasPrefix(name, "DOCKER_") &&
			name != "HOME" && name != "XDG_CONFIG_HOME" {
			u.env = append(u.env, kv)
		}
	}
	u.set(asProgram+"=1", "SBX_STATE_DIR="+u.state, "HOME="+t.TempDir())
	if _, err := exec.LookPath("bwrap"); err != nil {
		require.False(t, slices.Contains(strings.Split(os.Getenv("SBX_REQUIRE"), ","), "bwrap"), "SBX_REQUIRE names bwrap: %v", err)
		u.set("SBX_LOCAL_ISOLATION=none")
	}
	return u
}

func (u *user) set(kv ...string) { u.env = append(u.env, kv...) }

// engine makes docker, with an image, what this user uses by default.
func (u *user) engine(needs ...string) *testengine.Engine {
	u.t.Helper()
	e := testengine.Require(u.t, needs...)
	u.t.Cleanup(func() { u.sweep(e) })
	if e.Host != "" {
		u.set("DOCKER_HOST=" + e.Host)
	}
	config := u.t.TempDir()
	require.NoError(u.t, os.MkdirAll(filepath.Join(config, "sbx"), 0o700))
	require.NoError(u.t, os.WriteFile(filepath.Join(config, "sbx", "config.yaml"),
		[]byte("images:\n  docker: "+testengine.Image+"\n  gvisor: "+testengine.Image+"\n"), 0o600))
	u.set("XDG_CONFIG_HOME="+config, "SBX_PROVIDER=docker", "SBX_DOCKER_NETWORK=none")
	return e
}

// sweep removes what a test that failed halfway has left at the engine.
func (u *user) sweep(e *testengine.Engine) {
	raw, err := os.ReadFile(filepath.Join(u.state, "sbx", "owner"))
	if err != nil {
		return // it made nothing
	}
	ctx := context.Background() // the test's own has ended
	left, err := e.Client().ContainerList(ctx, client.ContainerListOptions{All: true,
		Filters: client.Filters{}.Add("label", "sbx.owner="+strings.TrimSpace(string(raw)))})
	require.NoError(u.t, err)
	for _, c := range left.Items {
		_, err := e.Client().ContainerRemove(ctx, c.ID, client.ContainerRemoveOptions{Force: true})
		require.NoError(u.t, err)
	}
}

func (u *user) command(args ...string) *exec.Cmd {
	u.t.Helper()
	self, err := os.Executable()
	require.NoError(u.t, err)
	cmd := exec.Command(self, args...)
	cmd.Env = u.env
	return cmd
}

// shim is a file named sbx that a script can call.
func (u *user) shim() string {
	u.t.Helper()
	self, err := os.Executable()
	require.NoError(u.t, err)
	path := filepath.Join(u.t.TempDir(), "sbx")
	require.NoError(u.t, os.WriteFile(path, []byte("#!/bin/sh\nexec "+self+" \"$@\"\n"), 0o700))
	return path
}

// ended is how a process ended.
type ended struct {
	out, err string
	code     int
}

func (u *user) sbx(args ...string) ended { return u.feeding("", args...) }

func (u *user) feeding(input string, args ...string) ended {
	u.t.Helper()
	cmd := u.command(args...)
	if input != "" {
		cmd.Stdin = strings.NewReader(input)
	}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if _, exited := err.(*exec.ExitError); !exited {
		require.NoError(u.t, err)
	}
	return ended{out.String(), errOut.String(), cmd.ProcessState.ExitCode()}
}

// must is sbx that has to succeed; it returns what was printed.
func (u *user) must(args ...string) string {
	u.t.Helper()
	r := u.sbx(args...)
	require.Equal(u.t, 0, r.code, "sbx %v: %s", args, r.err)
	return strings.TrimSpace(r.out)
}

// owner is the one this user's ledgers are kept for.
func (u *user) owner() string {
	u.t.Helper()
	raw, err := os.ReadFile(filepath.Join(u.state, "sbx", "owner"))
	require.NoError(u.t, err)
	return strings.TrimSpace(string(raw))
}

// folders are the sandboxes of the local provider.
func (u *user) folders() []string {
	u.t.Helper()
	found, err := filepath.Glob(filepath.Join(u.state, "sbx", "local", "*", "meta.json"))
	require.NoError(u.t, err)
	return found
}

// until waits for a condition; only a failing test waits long.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	require.Eventually(t, holds, 20*time.Second, 20*time.Millisecond, what)
}

func signals() []os.Signal {
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
}
