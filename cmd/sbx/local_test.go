package main

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExecKeepsStreamsApartAndTheExitCode(t *testing.T) {
	u := newUser(t)
	id := u.must("new", "--provider", "local")
	require.Regexp(t, `^local:[a-z0-9]+$`, id)
	require.Equal(t, ended{"hi\n", "err\n", 7}, u.sbx("exec", id, "--", "sh", "-c", "echo hi; echo err >&2; exit 7"))
	require.Equal(t, ended{"given", "", 0}, u.feeding("given", "exec", id, "--", "cat"))
	require.Equal(t, ended{"", "", 0}, u.feeding("given", "exec", "-n", id, "--", "cat"))
	u.set("FROM_HERE=seen")
	require.Equal(t, ended{"seen said /tmp\n", "", 0},
		u.sbx("exec", "-e", "FROM_HERE", "-e", "OTHER=said", "-w", "/tmp", id, "--", "sh", "-c", "echo $FROM_HERE $OTHER $PWD"))

	r := u.sbx("exec", "--timeout", "100ms", id, "--", "sleep", "60")
	require.Equal(t, exitSbx, r.code)
	require.Contains(t, r.err, "[timeout, 1]")
	r = u.sbx("exec", "-w", "/does/not/exist", id, "--", "true")
	require.Equal(t, exitSbx, r.code)
	require.Contains(t, r.err, "[workdir_unusable, 1]")
	r = u.sbx("exec", "local:never", "--", "true")
	require.Equal(t, exitSbx, r.code)
	require.Contains(t, r.err, "[not_found, 5]")
	r = u.sbx("exec", id, "true")
	require.Equal(t, exitSbx, r.code)
	require.Contains(t, r.err, "[usage, 2]")

	r = u.sbx("exec", "--json", id, "--", "sh", "-c", `printf '\377'; echo e >&2; exit 3`)
	require.Equal(t, 3, r.code)
	var v execView
	require.NoError(t, json.Unmarshal([]byte(r.out), &v))
	require.Equal(t, 3, *v.ExitCode)
	require.Equal(t, []byte{0xff}, v.StdoutRaw)
	require.Equal(t, "e\n", v.Stderr)

	short := id[:len("local:")+6]
	require.Equal(t, id, strings.TrimSpace(u.must("rm", short)))
	require.Empty(t, u.folders())
	require.Equal(t, 5, u.sbx("info", id).code)
}

func TestRunLeavesNothing(t *testing.T) {
	u := newUser(t)
	require.Equal(t, ended{"hi\n", "", 4}, u.sbx("run", "--provider", "local", "--", "sh", "-c", "echo hi; exit 4"))
	require.Empty(t, u.folders())
	r := u.sbx("run", "--provider", "local", "--json", "--", "sh", "-c", "echo hi; exit 4")
	require.Equal(t, 4, r.code)
	var v runResult
	require.NoError(t, json.Unmarshal([]byte(r.out), &v))
	require.True(t, v.Destroy.VerifiedGone)
	require.Equal(t, "hi\n", v.Stdout)
	require.Empty(t, u.folders())
	u.must("ledger", "verify")
}

// An output nobody reads any more ends quietly, and still the sandbox is destroyed.
func TestAClosedPipeDoesNotSkipTheTeardown(t *testing.T) {
	u := newUser(t)
	cmd := u.command("run", "--provider", "local", "--", "sh", "-c", "while :; do echo line; done")
	r, w, err := os.Pipe()
	require.NoError(t, err)
	var told strings.Builder
	cmd.Stdout, cmd.Stderr = w, &told
	require.NoError(t, cmd.Start())
	require.NoError(t, w.Close())
	_, err = io.ReadFull(r, make([]byte, 100))
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.Error(t, cmd.Wait())
	require.Equal(t, exitPipe, cmd.ProcessState.ExitCode())
	require.Empty(t, told.String())
	require.Empty(t, u.folders())
}

// What sbx does with the signal of a closed pipe is its own affair: a command has
// the system's.
func TestACommandHasTheSignalOfAClosedPipe(t *testing.T) {
	u := newUser(t)
	r := u.sbx("run", "--provider", "local", "--", "sh", "-c", "kill -PIPE $$; echo survived")
	require.Equal(t, 141, r.code, r.err)
	require.Empty(t, r.out)
}

func TestWhatIsUnsupportedRefusesAndChangesNothing(t *testing.T) {
	u := newUser(t)
	id := u.must("new", "--provider", "local")
	ledgers := func() string {
		found, err := filepath.Glob(filepath.Join(u.state, "sbx", "ledger", "*", "*.jsonl"))
		require.NoError(t, err)
		var all strings.Builder
		for _, f := range found {
			raw, err := os.ReadFile(f)
			require.NoError(t, err)
			all.Write(raw)
		}
		return all.String()
	}
	before, info := ledgers(), u.must("info", "--json", id)
	for verb, args := range map[string][]string{"stop": {"stop", id}, "stop ": {"start", id}, "suspend": {"suspend", id}, "suspend ": {"resume", id},
		"restart": {"restart", id}, "snapshot": {"snapshot", id}, "snapshot ": {"snapshots", "--provider", "local"}, "fork": {"fork", id},
		"ports": {"ports", id, "80"}, "logs": {"logs", id}, "prompt": {"prompt", id, "hello"}, "lifetime": {"extend", id, "--ttl", "1h"},
		"lifetime ": {"new", "--provider", "local", "--idle", "1h"}, "exec.async": {"exec", "--detach", id, "--", "true"},
		"snapshot  ": {"new", "--from-snapshot", "local:x"}} {
		r := u.sbx(args...)
		capability := strings.TrimSpace(verb)
		require.Equal(t, 4, r.code, "%v: %s", args, r.err)
		require.Empty(t, r.out)
		require.Regexp(t, `sbx: local: [^\n]*unsupported \(`+capability+`: unsupported\): [^\n]+\nsbx: `+capability+` is supported by [a-z]`, r.err)
		require.Equal(t, 4, u.sbx(append([]string{"--json"}, args...)...).code)
	}
	require.Equal(t, before, ledgers())
	require.Equal(t, info, u.must("info", "--json", id))
	require.Len(t, u.folders(), 1)
}

func TestScpIsIdenticalBothWays(t *testing.T) {
	u := newUser(t)
	scpBothWays(t, u, u.must("new", "--provider", "local"))
}

// scpBothWays copies 200 MiB of noise and a tree with everything that a copy loses
// easily, and compares what comes back.
func scpBothWays(t *testing.T, u *user, id string) {
	t.Helper()
	dir := t.TempDir()
	noise := filepath.Join(dir, "noise")
	f, err := os.Create(noise)
	require.NoError(t, err)
	_, err = io.CopyN(f, rand.Reader, 200<<20)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, os.Chmod(noise, 0o640))
	u.must("scp", noise, id+":/tmp/noise")
	u.must("scp", id+":/tmp/noise", filepath.Join(dir, "back"))
	require.Equal(t, content(t, noise), content(t, filepath.Join(dir, "back")))

	tree := filepath.Join(dir, "tree")
	require.NoError(t, os.MkdirAll(filepath.Join(tree, "a", "b"), 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(tree, "empty"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(tree, "a", "run me"), []byte("x"), 0o600))
	require.NoError(t, os.Chmod(filepath.Join(tree, "a", "run me"), 0o751))
	require.NoError(t, os.WriteFile(filepath.Join(tree, "a", "b", "none\n"), nil, 0o444))
	for name, target := range map[string]string{"link": "a/run me", "a/up": "../empty", "absolute": "/etc/hostname", "dangling": "no such"} {
		require.NoError(t, os.Symlink(target, filepath.Join(tree, name)))
	}
	require.NoError(t, os.Chmod(filepath.Join(tree, "a", "b"), 0o555))
	require.NoError(t, os.Chmod(tree, 0o750))
	t.Cleanup(func() { makeWritable(t, dir) })
	u.must("scp", tree, id+":/tmp/")
	u.must("scp", id+":/tmp/tree", filepath.Join(dir, "first"))
	require.Equal(t, listing(t, tree), listing(t, filepath.Join(dir, "first")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "into"), 0o755))
	u.must("scp", id+":/tmp/tree", filepath.Join(dir, "into"))
	require.Equal(t, listing(t, tree), listing(t, filepath.Join(dir, "into", "tree")))

	require.Equal(t, 5, u.sbx("scp", id+":/tmp/missing", dir).code)
	require.Equal(t, 5, u.sbx("scp", filepath.Join(dir, "missing"), id+":/tmp/").code)
	require.Equal(t, exitUsage, u.sbx("scp", noise, tree).code)
	require.Equal(t, exitUsage, u.sbx("scp", id+":/a", id+":/b").code)
}

// content is a file's mode and bytes.
func content(t *testing.T, path string) string {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	return info.Mode().String() + string(raw)
}

// listing is a tree: paths, modes, link targets and bytes.
func listing(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	require.NoError(t, filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		require.NoError(t, err)
		line := strings.TrimPrefix(path, root) + " " + info.Mode().String()
		switch {
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(path)
			require.NoError(t, err)
			line += " -> " + target
		case info.Mode().IsRegular():
			raw, err := os.ReadFile(path)
			require.NoError(t, err)
			line += " " + string(raw)
		}
		out = append(out, line)
		return nil
	}))
	return out
}

func makeWritable(t *testing.T, root string) {
	require.NoError(t, filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.IsDir() {
			return os.Chmod(path, 0o755)
		}
		return err
	}))
}

// The sandbox is not trusted: nothing it sends lands outside the directory asked
// for.
func TestScpDoesNotFollowTheSandboxOut(t *testing.T) {
	u := newUser(t)
	id := u.must("new", "--provider", "local")
	outside := t.TempDir()
	u.must("exec", id, "--", "sh", "-c", "mkdir -p /tmp/evil && ln -s "+outside+" /tmp/evil/way")
	into := filepath.Join(t.TempDir(), "into")
	u.must("scp", id+":/tmp/evil", into)
	u.must("exec", id, "--", "sh", "-c", "rm /tmp/evil/way && mkdir /tmp/evil/way && echo got > /tmp/evil/way/file")
	r := u.sbx("scp", id+":/tmp/evil", filepath.Dir(into)+"/into/..")
	require.Equal(t, 0, r.code, r.err) // beside it
	r = u.sbx("scp", id+":/tmp/evil/.", into)
	require.NotEqual(t, 0, r.code)
	left, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Empty(t, left)
}
