//go:build unix

package local

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

func TestExecResults(t *testing.T) {
	each(t, func(t *testing.T, a *Adapter) {
		in := create(t, a)
		require.Empty(t, sh(t, a, in.ID, "ls -A").Stdout, "a new home is empty")
		for _, c := range []struct {
			name     string
			cmd      contract.Command
			code     int64
			out, err string
		}{
			{name: "streams apart", cmd: contract.Command{Script: "echo o; echo e >&2; exit 3"}, code: 3, out: "o\n", err: "e\n"},
			{name: "exit 1", cmd: contract.Command{Argv: []string{"false"}}, code: 1},
			{name: "kill", cmd: contract.Command{Script: "kill -KILL $$"}, code: 137},
			{name: "term", cmd: contract.Command{Script: "kill -TERM $$"}, code: 143},
			{name: "argv", cmd: contract.Command{Argv: []string{"printf", "%s|", "a b", "", "$HOME", "'\"", "é\n"}}, out: "a b||$HOME|'\"|é\n|"},
			{name: "stdin", cmd: contract.Command{Argv: []string{"cat"}, Stdin: []byte("a\x00b\xff")}, out: "a\x00b\xff"},
			{name: "no stdin", cmd: contract.Command{Argv: []string{"cat"}}},
			{name: "unread stdin", cmd: contract.Command{Argv: []string{"true"}, Stdin: make([]byte, 1<<20)}},
			{name: "env", cmd: contract.Command{Script: `printf %s "$A"`, Env: map[string]string{"A": "x y\n'$(z)"}}, out: "x y\n'$(z)"},
			{name: "relative dir", cmd: contract.Command{Script: `cd "$OLDPWD" 2>/dev/null; pwd`, Dir: "."}, out: in.WorkDir + "\n"},
			{name: "host dir", cmd: contract.Command{Argv: []string{"pwd"}, Dir: "/usr"}, out: "/usr\n"},
			{name: "dash", cmd: contract.Command{Argv: []string{"printf", "--", "--"}}, out: "--"},
		} {
			t.Run(c.name, func(t *testing.T) {
				res, err := a.Exec(t.Context(), in.ID, c.cmd)
				require.NoError(t, err)
				require.Equal(t, c.code, res.ExitCode)
				require.Equal(t, c.out, string(res.Stdout))
				require.Equal(t, c.err, string(res.Stderr))
				require.Equal(t, contract.StreamsSeparate, res.Streams)
				require.False(t, *res.Truncated)
				require.Positive(t, res.Duration)
			})
		}
	})
}

func TestExecRefusals(t *testing.T) {
	each(t, func(t *testing.T, a *Adapter) {
		in := create(t, a)
		for name, c := range map[string]contract.Command{
			"nothing": {}, "both": {Argv: []string{"true"}, Script: "true"}, "no name": {Argv: []string{""}}, "hyphen": {Argv: []string{"-c"}},
			"nul": {Argv: []string{"echo", "a\x00"}}, "timeout": {Script: "true", Timeout: -1},
			"limit": {Script: "true", OutputLimit: -1}, "open stdin": {Script: "true", OpenStdin: true},
			"env": {Script: "true", Env: map[string]string{"1A": "v"}}, "mark": {Script: "true", Env: map[string]string{runVariable: "v"}},
			"too long": {Argv: []string{"echo", strings.Repeat("x", 4<<20)}},
		} {
			_, err := a.Exec(t.Context(), in.ID, c)
			require.Error(t, err, name)
			require.Equal(t, port.CodeInvalidArgument, port.CodeOf(err), "%s: %v", name, err)
		}
		sh(t, a, in.ID, "echo x > file; mkdir sub; printf '#!/nonexistent/shell\n' > bad; chmod +x bad")
		for _, dir := range []string{"absent", "file", "/nonexistent"} {
			res, err := a.Exec(t.Context(), in.ID, contract.Command{Script: "touch /tmp/ran; exit 1", Dir: dir})
			requireCode(t, port.CodeWorkdirUnusable, err)
			require.Equal(t, contract.ExecResult{}, res)
		}
		for argv, code := range map[string]int64{"no-such-program": 127, "export": 127, "./absent": 127, "./file": 126, "./sub": 126} {
			res, err := a.Exec(t.Context(), in.ID, contract.Command{Argv: []string{argv}})
			require.NoError(t, err, argv)
			require.Equal(t, code, res.ExitCode, argv)
			require.NotEmpty(t, res.Stderr)
		}
		res, err := a.Exec(t.Context(), in.ID, contract.Command{Argv: []string{"./bad"}})
		require.NoError(t, err)
		require.EqualValues(t, 127, res.ExitCode, "its interpreter is absent")
		sh(t, a, in.ID, "echo 'echo \"plain $1\"' > plain; chmod +x plain")
		res, err = a.Exec(t.Context(), in.ID, contract.Command{Argv: []string{"./plain", "x y"}})
		require.NoError(t, err)
		require.Equal(t, "plain x y\n", string(res.Stdout), "as execvp does")
	})
}

func TestOutputLimits(t *testing.T) {
	each(t, func(t *testing.T, a *Adapter) {
		in := create(t, a)
		res := sh(t, a, in.ID, "head -c 10485760 /dev/zero")
		require.Len(t, res.Stdout, 10<<20)
		require.False(t, *res.Truncated)
		res = sh(t, a, in.ID, "head -c 10485761 /dev/zero; exit 5")
		require.Len(t, res.Stdout, 10<<20)
		require.True(t, *res.Truncated)
		require.EqualValues(t, 5, res.ExitCode)
		res, err := a.Exec(t.Context(), in.ID, contract.Command{Script: "echo 12345 >&2", OutputLimit: 3})
		require.NoError(t, err)
		require.Equal(t, "123", string(res.Stderr))
		require.True(t, *res.Truncated)
	})
}

func TestEnvironmentIsNotTheCallers(t *testing.T) {
	t.Setenv("SBX_TEST_CREDENTIAL", "dummy-secret-value")
	each(t, func(t *testing.T, a *Adapter) {
		in := create(t, a)
		out := string(sh(t, a, in.ID, "env; cat /proc/self/environ").Stdout)
		require.NotContains(t, out, "dummy-secret-value")
		// Values never show in anybody's arguments.
		res, err := a.Exec(t.Context(), in.ID, contract.Command{Env: map[string]string{"TOKEN": "dummy-token-value"},
			Script: "cat /proc/[0-9]*/cmdline"})
		require.NoError(t, err)
		require.NotContains(t, string(res.Stdout), "dummy-token-value")
	})
}

func TestTimeoutAndCancelEndEverything(t *testing.T) {
	const script = `sleep 300 & setsid sleep 301 & (setsid sh -c 'sleep 302 & sleep 303' &) ; trap '' TERM INT HUP; echo up; sleep 304`
	each(t, func(t *testing.T, a *Adapter) {
		in := create(t, a)
		began := time.Now()
		_, err := a.Exec(t.Context(), in.ID, contract.Command{Script: script, Timeout: 300 * time.Millisecond})
		requireCode(t, port.CodeTimeout, err)
		require.Less(t, time.Since(began), 8*time.Second)
		noneLeft(t, in.ID)
		for name, code := range map[string]port.Code{"cancel": port.CodeCanceled, "deadline": port.CodeTimeout} {
			ctx, cancel := context.WithCancel(t.Context())
			if name == "deadline" {
				ctx, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond)
			}
			done := make(chan error, 1)
			go func() {
				_, err := a.Exec(ctx, in.ID, contract.Command{Script: script})
				done <- err
			}()
			if name == "cancel" {
				eventually(t, "it runs", func() bool { return running(t, in.ID) > 3 })
				cancel()
			}
			requireCode(t, code, <-done)
			noneLeft(t, in.ID)
			cancel()
		}
		_, err = a.Exec(canceled(t), in.ID, contract.Command{Script: "touch ran"})
		requireCode(t, port.CodeCanceled, err)
		require.Empty(t, sh(t, a, in.ID, "ls").Stdout)
	})
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestNothingOutlivesItsCommand(t *testing.T) {
	each(t, func(t *testing.T, a *Adapter) {
		in := create(t, a)
		for _, script := range []string{
			"sleep 300 & exit 4",
			"setsid sleep 300 >/dev/null 2>&1 & exit 4",
			"(setsid sh -c 'sleep 300 & setsid sleep 301 & wait' &) & sleep 0.1; exit 4",
			"nohup sh -c 'trap \"\" HUP TERM; while :; do sleep 1; done' & exit 4",
		} {
			began := time.Now()
			res := sh(t, a, in.ID, script)
			require.EqualValues(t, 4, res.ExitCode)
			require.Less(t, time.Since(began), 8*time.Second)
			noneLeft(t, in.ID)
		}
	})
}

// Without isolation a process can shed everything it could be found by. That is
// a hazard of this provider; that the command still ends, and says what it does
// not know, is not.
func TestProcessThatHides(t *testing.T) {
	each(t, func(t *testing.T, a *Adapter) {
		in := create(t, a)
		res := sh(t, a, in.ID, "env -i setsid sh -c 'echo $$ > hidden; exec sleep 300' & until [ -s hidden ]; do :; done; cat hidden; exit 4")
		require.EqualValues(t, 4, res.ExitCode)
		if a.isolation == isolationBwrap {
			require.False(t, *res.Truncated)
			return
		}
		require.Nil(t, res.Truncated, "its output was still open")
		pid, err := strconv.Atoi(strings.TrimSpace(string(res.Stdout)))
		require.NoError(t, err)
		require.NoError(t, unix.Kill(pid, unix.SIGKILL))
	})
}

func TestCommandsDoNotEndEachOther(t *testing.T) {
	each(t, func(t *testing.T, a *Adapter) {
		in := create(t, a)
		p, err := a.Stream(t.Context(), in.ID, contract.Command{Argv: []string{"cat"}, OpenStdin: true})
		require.NoError(t, err)
		sh(t, a, in.ID, "setsid sleep 300 & exit 0")
		_, err = a.Exec(t.Context(), in.ID, contract.Command{Script: "sleep 300", Timeout: 50 * time.Millisecond})
		requireCode(t, port.CodeTimeout, err)
		require.NoError(t, p.Stdin().Close())
		code, err := p.Wait(t.Context())
		require.NoError(t, err)
		require.Zero(t, code)
		require.NoError(t, p.Close())
	})
}

func TestSixteenAtOnce(t *testing.T) {
	each(t, func(t *testing.T, a *Adapter) {
		in := create(t, a)
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				res, err := a.Exec(t.Context(), in.ID, contract.Command{
					Script: fmt.Sprintf("head -c 100000 /dev/zero | tr '\\0' '%x' ; exit %d", i, i)})
				if err != nil || res.ExitCode != int64(i) || !bytes.Equal(res.Stdout, bytes.Repeat(fmt.Appendf(nil, "%x", i), 100000)) {
					t.Errorf("command %d: %d %v", i, res.ExitCode, err)
				}
			})
		}
		wg.Wait()
	})
}

func TestDestroyEndsRunningCommands(t *testing.T) {
	each(t, func(t *testing.T, a *Adapter) {
		in := create(t, a)
		done := make(chan error, 1)
		go func() {
			_, err := a.Exec(context.Background(), in.ID, contract.Command{Script: "setsid sleep 300 & sleep 301"})
			done <- err
		}()
		eventually(t, "it runs", func() bool { return running(t, in.ID) >= 3 })
		_, err := a.Destroy(t.Context(), in.ID)
		require.NoError(t, err)
		requireCode(t, port.CodeExitUnknown, <-done)
		noneLeft(t, in.ID)
	})
}

func TestDestroyAgainstStartingCommands(t *testing.T) {
	each(t, func(t *testing.T, a *Adapter) {
		for range 5 {
			in := create(t, a)
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					for {
						_, err := a.Exec(t.Context(), in.ID, contract.Command{Script: "setsid sleep 300 & sleep 0.01", Dir: "/"})
						if err != nil {
							return
						}
					}
				})
			}
			eventually(t, "they run", func() bool { return running(t, in.ID) >= 3 })
			_, err := a.Destroy(t.Context(), in.ID)
			require.NoError(t, err)
			noneLeft(t, in.ID)
			wg.Wait()
			noneLeft(t, in.ID)
		}
	})
}

func TestKilledCallerTakesItsCommandAlong(t *testing.T) {
	each(t, func(t *testing.T, a *Adapter) {
		in := create(t, a)
		script := "exec sleep 300" // without isolation only the command itself is sure to end
		if a.isolation == isolationBwrap {
			script = "setsid sleep 300 & sleep 301"
		}
		cmd, _ := startCaller(t, a, in.ID, script)
		eventually(t, "it runs", func() bool { return running(t, in.ID) > 0 })
		if a.isolation == isolationBwrap {
			eventually(t, "all of it runs", func() bool { return running(t, in.ID) >= 4 })
		}
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait())
		eventually(t, "it ends", func() bool { return running(t, in.ID) == 0 })
	})
}

func TestDestroyFindsWhatAKilledCallerLeft(t *testing.T) {
	a := openAdapter(t, isolationNone)
	in := create(t, a)
	cmd, _ := startCaller(t, a, in.ID, "setsid sleep 300 & sleep 301")
	eventually(t, "it runs", func() bool { return running(t, in.ID) >= 3 })
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	// The folder alone being gone is not enough.
	require.NoError(t, os.RemoveAll(filepath.Join(a.dir, in.ID)))
	require.Positive(t, running(t, in.ID))
	got, err := a.Inspect(t.Context(), in.ID)
	require.NoError(t, err)
	require.Equal(t, contract.StateFailed, got.State)
	out, err := a.Destroy(t.Context(), in.ID)
	require.NoError(t, err)
	require.Equal(t, port.DestroyAccepted, out)
	noneLeft(t, in.ID)
}

func TestBwrapWall(t *testing.T) {
	need(t, "bwrap")
	state, err := os.MkdirTemp("/var/tmp", "sbx-local-*") // where a sandbox could see it
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(state)) })
	a, err := New(t.Context(), Config{StateDir: state})
	require.NoError(t, err)
	in, other := create(t, a), create(t, a)
	for _, script := range []string{"touch /etc/x", "touch /x", "touch /usr/x", "mknod n b 8 0", "mount -t tmpfs none /mnt",
		"mount -o remount,rw /usr", "ls " + filepath.Join(a.dir, other.ID), "ls -A " + a.state.Path() + " | grep .",
		"touch " + a.state.Path("x"), "kill -0 " + fmt.Sprint(os.Getpid()), "hostname nope"} {
		require.NotZero(t, sh(t, a, in.ID, script).ExitCode, script)
	}
	require.Equal(t, "/sandbox\n/tmp\n", string(sh(t, a, in.ID, "pwd; echo $TMPDIR; echo x > /tmp/kept").Stdout))
	require.Equal(t, "x\n", string(sh(t, a, in.ID, "cat /tmp/kept").Stdout))
	require.NotZero(t, sh(t, a, other.ID, "cat /tmp/kept").ExitCode)
	for _, fd := range strings.Fields(string(sh(t, a, in.ID, "ls /proc/self/fd").Stdout)) {
		n, err := strconv.Atoi(fd)
		require.NoError(t, err)
		require.True(t, n <= 3 || inherited(n), "handle %d of ours is inside", n) // 3 is what ls reads
	}
}

// inherited reports whether this process hands the file to every child it
// starts: nothing that Go opens, only what it was started with.
func inherited(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	return err == nil && flags&unix.FD_CLOEXEC == 0
}
