package wire_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
	"github.com/stretchr/testify/require"
)

// shell finds a real POSIX shell. SBX_REQUIRE=sh turns its absence into a failure.
func shell(t testing.TB) string {
	t.Helper()
	const sh = "/bin/sh"
	if _, err := os.Stat(sh); err != nil {
		if slices.Contains(strings.Split(os.Getenv("SBX_REQUIRE"), ","), "sh") {
			t.Fatalf("required and missing: %v", err)
		}
		t.Skipf("no %s here", sh)
	}
	return sh
}

func run(t testing.TB, dir, script string) (stdout, stderr string, exit int) {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(t.Context(), shell(t), "-c", script)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errOut
	err := cmd.Run()
	if ee, ok := errors.AsType[*exec.ExitError](err); ok {
		return out.String(), errOut.String(), ee.ExitCode()
	}
	require.NoError(t, err)
	return out.String(), errOut.String(), 0
}

func wrap(t testing.TB, s wire.WrapSpec) (text, marker string) {
	t.Helper()
	m, err := wire.NewMarker()
	require.NoError(t, err)
	s.Marker = m
	text, err = wire.WrapCommand(s)
	require.NoError(t, err)
	return text, m
}

func TestWrapRunsInDirWithEnv(t *testing.T) {
	base := t.TempDir()
	t.Setenv("CDPATH", "/")
	t.Setenv("OLDPWD", "/")
	for _, dir := range []string{"plain", "tmp", "-", "--", "it's; a $(dir) `x`", "-P", "a\nb"} {
		require.NoError(t, os.Mkdir(filepath.Join(base, dir), 0o755))
		text, _ := wrap(t, wire.WrapSpec{Script: "pwd; printf '%s' \"$A\" >&2; exit 7", Dir: dir, Env: map[string]string{"A": "it's $x\n`y`", "CDPATH": "/"}})
		out, errOut, code := run(t, base, text)
		require.Equal(t, 7, code)
		require.Equal(t, "it's $x\n`y`", errOut)
		require.True(t, strings.HasSuffix(out, "/"+dir+"\n"), out)
	}
}

func TestUnusableWorkdirIsNotTheCommandsExit(t *testing.T) {
	base := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(base, "file"), nil, 0o600))
	for _, dir := range []string{"missing", "file", "/no/such", "~"} {
		for _, script := range []string{"touch ran", "false; touch ran", "false & touch ran", "true || touch ran\ntouch ran"} {
			text, m := wrap(t, wire.WrapSpec{Script: script, Dir: dir})
			out, errOut, code := run(t, base, text)
			require.Equal(t, wire.WorkdirExit, code)
			require.True(t, wire.ParseWorkdirFailure(code, []byte(errOut), m), errOut)
			require.True(t, wire.ParseWorkdirFailure(code, []byte(out+errOut), m))
			require.NoFileExists(t, filepath.Join(base, "ran"))
		}
		probe, err := wire.WorkdirProbe(dir)
		require.NoError(t, err)
		_, _, code := run(t, base, probe)
		require.Equal(t, wire.WorkdirExit, code)
	}
	probe, err := wire.WorkdirProbe(base)
	require.NoError(t, err)
	_, _, code := run(t, "", probe)
	require.Zero(t, code)

	text, m := wrap(t, wire.WrapSpec{Script: "echo sbx_workdir_unusable_00 >&2; exit 191", Dir: base})
	_, errOut, code := run(t, "", text)
	require.Equal(t, 191, code)
	require.False(t, wire.ParseWorkdirFailure(code, []byte(errOut), m), "a command's own 191 is its own")
	require.False(t, wire.ParseWorkdirFailure(1, []byte(m), m))
	require.False(t, wire.ParseWorkdirFailure(191, []byte(m+"\nmore"), m))
	require.False(t, wire.ParseWorkdirFailure(191, nil, ""))
}

func TestWrapKeepsExitCodes(t *testing.T) {
	for _, tc := range []struct {
		spec wire.WrapSpec
		code int
	}{
		{wire.WrapSpec{Argv: []string{"true"}}, 0},
		{wire.WrapSpec{Argv: []string{"sh", "-c", "exit 3"}}, 3},
		{wire.WrapSpec{Argv: []string{"no-such-program"}}, 127},
		{wire.WrapSpec{Argv: []string{"/"}}, 126},
		{wire.WrapSpec{Script: "}; exit 5"}, 2},
		{wire.WrapSpec{Script: "set -e\nfalse\nexit 9"}, 1},
		{wire.WrapSpec{Script: "exit 5 # comment"}, 5},
	} {
		tc.spec.Dir = "/"
		text, m := wrap(t, tc.spec)
		_, errOut, code := run(t, "", text)
		require.Equal(t, tc.code, code, text)
		require.False(t, wire.ParseWorkdirFailure(code, []byte(errOut), m))
	}
}

func TestWrapRefusesWithoutShowingValues(t *testing.T) {
	const value = "hunter2-value"
	for name, s := range map[string]wire.WrapSpec{
		"nothing":     {},
		"both":        {Argv: []string{"a"}, Script: "b"},
		"env name":    {Script: "a", Env: map[string]string{"A=" + value: "x"}},
		"env empty":   {Script: "a", Env: map[string]string{"": value}},
		"env digit":   {Script: "a", Env: map[string]string{"1A": value}},
		"read-only":   {Script: "a", Env: map[string]string{"UID": value}},
		"NUL value":   {Script: "a", Env: map[string]string{"A": value + "\x00"}},
		"NUL arg":     {Argv: []string{"a", value + "\x00"}},
		"NUL script":  {Script: value + "\x00"},
		"NUL dir":     {Script: "a", Dir: "/\x00", Marker: "m"},
		"no marker":   {Script: "a", Dir: "/"},
		"bad marker":  {Script: "a", Dir: "/", Marker: "$(x)"},
		"option argv": {Argv: []string{"-a"}},
		"empty argv":  {Argv: []string{""}},
	} {
		_, err := wire.WrapCommand(s)
		require.Equal(t, port.CodeInvalidArgument, port.CodeOf(err), name)
		require.NotContains(t, err.Error(), value)
	}
	for _, good := range []string{"A", "_", "a1_B"} {
		require.NoError(t, wire.CheckEnvName(good))
	}
	for _, bad := range []string{"", "1", "a-b", "é", "A B", "A\n"} {
		require.Error(t, wire.CheckEnvName(bad))
	}
}

func FuzzQuote(f *testing.F) {
	sh := shell(f)
	for _, s := range []string{"", "'", "''", `\`, "$(id)", "`id`", "a\nb", "-n", "!x", "\xff", "*", "~", "é"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if strings.ContainsRune(a+b, 0) {
			return
		}
		out, err := exec.CommandContext(t.Context(), sh, "-c", "printf '%s\\n.' "+wire.QuoteArgs([]string{a, b})).Output()
		if err != nil || string(out) != a+"\n."+b+"\n." {
			t.Fatalf("%q %q came out as %q, %v", a, b, out, err)
		}
	})
}

func TestCappedBuffer(t *testing.T) {
	b := wire.NewCappedBuffer(5)
	for _, s := range []string{"abc", "", "def", "ghi"} {
		n, err := b.Write([]byte(s))
		require.NoError(t, err)
		require.Equal(t, len(s), n)
		require.Equal(t, b.Total() > 5, b.Truncated())
	}
	require.Equal(t, "abcde", string(b.Bytes()))
	require.EqualValues(t, 9, b.Total())
	var zero wire.CappedBuffer
	_, err := zero.Write([]byte("x"))
	require.NoError(t, err)
	require.Equal(t, "x", string(zero.Bytes()))
	require.False(t, zero.Truncated())

	capped := wire.NewCappedBuffer(14)
	w := redactor(t, dummy).Writer(capped)
	_, err = w.Write([]byte("abc " + dummy))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.Equal(t, "abc [redacted]", string(capped.Bytes()))
}
