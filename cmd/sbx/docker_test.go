package main

import (
	"bufio"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agentworkforce/sbx/internal/testengine"
	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"
)

// started runs sbx with a command that says when it runs, and returns it running.
func started(t *testing.T, u *user, args ...string) (wait func() (int, string), signal func(os.Signal)) {
	t.Helper()
	cmd := u.command(args...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var errOut strings.Builder
	cmd.Stderr = &errOut
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err, errOut.String())
	require.Equal(t, "running\n", line)
	return func() (int, string) {
		require.Error(t, cmd.Wait())
		return cmd.ProcessState.ExitCode(), errOut.String()
	}, func(s os.Signal) { require.NoError(t, cmd.Process.Signal(s)) }
}

const longCommand = "echo running; sleep 600"

// However run ends, nothing is left: the engine itself is asked.
func TestRunEndedBySignalsLeavesNothing(t *testing.T) {
	u := newUser(t)
	e := u.engine()
	mine := func() []string { return e.Containers(t, "sbx.owner="+u.owner()) }
	for _, s := range signals() {
		wait, signal := started(t, u, "run", "--", "sh", "-c", longCommand)
		require.Len(t, mine(), 1)
		signal(s)
		code, said := wait()
		require.Equal(t, exitSbx, code)
		require.Contains(t, said, "canceled")
		require.Contains(t, said, s.String())
		require.Empty(t, mine(), s)
	}
	wait, signal := started(t, u, "run", "--", "sh", "-c", longCommand)
	signal(syscall.SIGKILL)
	code, _ := wait()
	require.Equal(t, -1, code)
	require.Len(t, mine(), 1)
	require.Contains(t, u.must("reap"), "dry run")
	require.Len(t, mine(), 1)
	require.Contains(t, u.must("reap", "--apply"), "verified-gone")
	require.Empty(t, mine())
	u.must("ledger", "verify")
}

// A signal ends the command of exec, and with it all that it started; the sandbox
// is not exec's and stays.
func TestExecEndedBySignalsEndsTheCommand(t *testing.T) {
	u := newUser(t)
	u.engine()
	id := u.must("new")
	for _, s := range signals() {
		wait, signal := started(t, u, "exec", id, "--", "sh", "-c", "sleep 600 & "+longCommand)
		signal(s)
		code, said := wait()
		require.Equal(t, exitSbx, code)
		require.Contains(t, said, "canceled")
		require.NotContains(t, u.must("exec", id, "--", "ps"), "sleep 600")
	}
	u.must("rm", id)
}

// The second signal does not wait for the teardown; the ledger knows what is owed.
func TestSecondSignalExitsAtOnce(t *testing.T) {
	u := newUser(t)
	e := u.engine()
	wait, signal := started(t, u, "run", "--", "sh", "-c", longCommand)
	id := e.Containers(t, "sbx.owner="+u.owner())[0]
	_, err := e.Client().ContainerPause(t.Context(), id, client.ContainerPauseOptions{})
	require.NoError(t, err) // nothing in it can be ended now, so the teardown takes its time
	signal(syscall.SIGTERM)
	signal(syscall.SIGINT) // another one: two of a kind may arrive as one
	code, _ := wait()
	require.Contains(t, []int{128 + int(syscall.SIGINT), 128 + int(syscall.SIGTERM)}, code)
	_, err = e.Client().ContainerUnpause(t.Context(), id, client.ContainerUnpauseOptions{})
	require.NoError(t, err)
	require.Contains(t, u.must("reap", "--apply"), "verified-gone")
	require.Empty(t, e.Containers(t, "sbx.owner="+u.owner()))
}

// What new makes is kept: another process that reaps does not touch it.
func TestNewSurvivesAReaper(t *testing.T) {
	u := newUser(t)
	e := u.engine()
	id := u.must("new")
	require.Contains(t, u.must("reap", "--apply"), "skip-kept")
	require.Len(t, e.Containers(t, "sbx.owner="+u.owner()), 1)
	require.Equal(t, ended{"yes\n", "", 0}, u.sbx("exec", id, "--", "echo", "yes"))

	r := u.sbx("new", "--ttl", "1ms")
	require.Equal(t, 0, r.code)
	require.Contains(t, r.err, "docker ends nothing by time")
	until(t, "its time passes", func() bool { return strings.Contains(u.must("reap"), "  reap: ") })
	require.Contains(t, u.must("reap", "--apply"), "verified-gone")
	require.Len(t, e.Containers(t, "sbx.owner="+u.owner()), 1)

	require.Equal(t, id, u.must("rm", id))
	require.Empty(t, e.Containers(t, "sbx.owner="+u.owner()))
}

func TestEnsureIsOneSandbox(t *testing.T) {
	u := newUser(t)
	e := u.engine()
	ids := make([]string, 4)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() { ids[i] = u.must("new", "--for", "the key") })
	}
	wg.Wait()
	for _, id := range ids {
		require.Equal(t, ids[0], id)
	}
	require.Len(t, e.Containers(t, "sbx.owner="+u.owner()), 1)
	u.must("rm", ids[0])
}

// concurrent is how many run at once: 20, or 200 with SBX_TEST_LONG.
func concurrent() int {
	if os.Getenv("SBX_TEST_LONG") != "" {
		return 200
	}
	return 20
}

func TestManyRunsAtOnce(t *testing.T) {
	u := newUser(t)
	e := u.engine()
	u.must("run", "--", "true") // makes the owner
	n := concurrent()
	results := make([]ended, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { results[i] = u.sbx("run", "--", "sh", "-c", "echo "+strconv.Itoa(i)) })
	}
	wg.Wait()
	for i, r := range results {
		require.Equal(t, ended{strconv.Itoa(i) + "\n", "", 0}, r)
	}
	require.Empty(t, e.Containers(t, "sbx.owner="+u.owner()))
	var verified []verifyView
	require.NoError(t, json.Unmarshal([]byte(u.must("ledger", "verify", "--json")), &verified))
	require.Len(t, verified, n+1)
	for _, v := range verified {
		require.True(t, *v.OK && *v.Balanced && v.Ended, "%+v", v)
		require.Equal(t, 1, v.Counts.VerifiedGone)
	}
	require.Contains(t, u.must("reap"), "nothing is owed")
}

func TestVerbsOnAnEngine(t *testing.T) {
	u := newUser(t)
	e := u.engine()
	u.set("SBX_DOCKER_NETWORK=") // ports need one
	id := u.must("new", "--label", "a=b", "--port", "80", "--name", "sbx-verbs-"+strconv.FormatInt(time.Now().UnixNano(), 36))
	scpBothWays(t, u, id)
	require.Regexp(t, `^http://127\.0\.0\.1:\d+$`, u.must("ports", id, "80"))
	require.Equal(t, 1, u.sbx("ports", id, "81").code)
	require.Contains(t, u.must("list", "--label", "a=b"), id)
	require.NotContains(t, u.must("list", "--label", "a=c"), id)
	for _, step := range [][2]string{{"stop", "stopped"}, {"start", "running"}, {"suspend", "suspended"}, {"resume", "running"}, {"restart", "running"}} {
		require.Equal(t, step[1], u.must(step[0], id[:len("docker:")+12]))
	}
	snapshot := u.must("snapshot", id)
	require.Contains(t, u.must("snapshots"), snapshot)
	copied := u.must("new", "--from-snapshot", snapshot)
	require.Equal(t, "209715200", u.must("exec", copied, "--", "sh", "-c", "wc -c </tmp/noise"))
	forks := strings.Fields(u.must("fork", "-n", "2", id))
	require.Len(t, forks, 2)
	require.Contains(t, u.must("reap", "--apply"), "skip-kept")
	u.must(append([]string{"rm", id, copied}, forks...)...)
	u.must("snapshots", "rm", snapshot)
	require.Equal(t, map[string]int{"sandbox": 0, "snapshot": 0}, countedBy(t, e, u))
}

func countedBy(t *testing.T, e *testengine.Engine, u *user) map[string]int {
	t.Helper()
	n, err := e.Count(t.Context(), "sbx.owner="+u.owner())
	require.NoError(t, err)
	return n
}

// Somebody else's sandbox is not stopped or destroyed before it is adopted.
func TestForeignSandboxes(t *testing.T) {
	u := newUser(t)
	e := u.engine()
	id := u.must("new")
	other := newUser(t)
	other.engine()
	r := other.sbx("rm", id)
	require.Equal(t, 8, r.code, r.err)
	require.Equal(t, 8, other.sbx("stop", id).code)
	require.Equal(t, ended{"ok\n", "", 0}, other.sbx("exec", id, "--", "echo", "ok"))
	require.NotContains(t, other.must("list"), id)
	require.Contains(t, other.must("list", "--all"), id)
	require.Equal(t, id, other.must("adopt", id))
	require.Contains(t, other.must("list"), id)
	other.must("rm", id)
	require.Empty(t, e.Containers(t, "sbx.owner="+u.owner()))
}
