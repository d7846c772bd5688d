package docker_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

func TestExec(t *testing.T) {
	w := open(t)
	id := w.create(func(r *contract.CreateRequest) { r.Env = map[string]string{"BASE": "from create", "BOTH": "create"} })
	ctx := t.Context()
	run := func(c contract.Command) (contract.ExecResult, error) { return w.Exec(ctx, id, c) }

	t.Run("streams apart", func(t *testing.T) {
		res, err := run(contract.Command{Script: "echo out; echo err >&2; exit 3"})
		require.NoError(t, err)
		require.EqualValues(t, 3, res.ExitCode)
		require.Equal(t, "out\n", string(res.Stdout))
		require.Equal(t, "err\n", string(res.Stderr))
		require.Equal(t, contract.StreamsSeparate, res.Streams)
		require.False(t, *res.Truncated)
		require.Positive(t, res.Duration)
	})
	t.Run("exit codes and signals", func(t *testing.T) {
		for code := range 256 {
			if code%17 != 0 && code < 120 {
				continue // 45 of the 256 values, all of the special ones among them
			}
			if code > 145 && code != 191 && code != 255 {
				continue
			}
			res, err := run(contract.Command{Script: fmt.Sprintf("exit %d", code)})
			require.NoError(t, err)
			require.EqualValues(t, code, res.ExitCode)
		}
		for name, number := range map[string]int64{"KILL": 9, "TERM": 15, "SEGV": 11} {
			res, err := run(contract.Command{Script: "kill -" + name + " $$"})
			require.NoError(t, err)
			require.EqualValues(t, 128+number, res.ExitCode)
		}
	})
	t.Run("a program that is not there", func(t *testing.T) {
		res, err := run(contract.Command{Argv: []string{"no-such-program"}})
		require.NoError(t, err)
		require.EqualValues(t, 127, res.ExitCode)
		res, err = run(contract.Command{Argv: []string{"/etc/passwd"}})
		require.NoError(t, err)
		require.EqualValues(t, 126, res.ExitCode)
	})
	t.Run("arguments arrive as given", func(t *testing.T) {
		args := []string{"", " two  spaces ", "$HOME `id` $(id)", "'\"\\", "új\nline", "-n", "*", "--"}
		res, err := run(contract.Command{Argv: append([]string{"printf", "<%s>"}, args...)})
		require.NoError(t, err)
		require.Equal(t, "<"+strings.Join(args, "><")+">", string(res.Stdout))
	})
	t.Run("environment", func(t *testing.T) {
		res, err := run(contract.Command{Script: `printf '%s|%s|%s' "$BASE" "$BOTH" "$OWN"`,
			Env: map[string]string{"BOTH": "command", "OWN": "a=b\n ü '"}})
		require.NoError(t, err)
		require.Equal(t, "from create|command|a=b\n ü '", string(res.Stdout))
		_, err = run(contract.Command{Script: ":", Env: map[string]string{"A B": "x"}})
		hasCode(t, err, port.CodeInvalidArgument)
		_, err = run(contract.Command{Script: ":", Env: map[string]string{"A": "x\x00"}})
		hasCode(t, err, port.CodeInvalidArgument)
	})
	t.Run("directory", func(t *testing.T) {
		w.output(id, "mkdir -p '/tmp/a b/-'")
		for dir, want := range map[string]string{"": "/", "/tmp": "/tmp", "/tmp/a b/-": "/tmp/a b/-", "etc": "/etc"} {
			res, err := run(contract.Command{Argv: []string{"pwd"}, Dir: dir})
			require.NoError(t, err)
			require.Equal(t, want+"\n", string(res.Stdout))
		}
		for _, dir := range []string{"/none", "/etc/passwd", "-"} {
			_, err := run(contract.Command{Script: "echo ran >/tmp/ran; exit 1", Dir: dir})
			hasCode(t, err, port.CodeWorkdirUnusable)
		}
		require.Equal(t, "no\n", w.output(id, "[ -e /tmp/ran ] && echo yes || echo no"))
		res, err := run(contract.Command{Script: "exit 125"})
		require.NoError(t, err)
		require.EqualValues(t, 125, res.ExitCode)
	})
	t.Run("standard input", func(t *testing.T) {
		all := make([]byte, 3<<20)
		for i := range all {
			all[i] = byte(i * 7)
		}
		res, err := run(contract.Command{Argv: []string{"cat"}, Stdin: all})
		require.NoError(t, err)
		require.True(t, bytes.Equal(all, res.Stdout))
		res, err = run(contract.Command{Argv: []string{"true"}, Stdin: all})
		require.NoError(t, err)
		require.Zero(t, res.ExitCode)
		res, err = run(contract.Command{Argv: []string{"cat"}})
		require.NoError(t, err)
		require.Empty(t, res.Stdout)
	})
	t.Run("much output", func(t *testing.T) {
		const size = 10 << 20
		res, err := run(contract.Command{Script: fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x; echo end >&2", size)})
		require.NoError(t, err)
		require.Len(t, res.Stdout, size)
		require.Equal(t, "end\n", string(res.Stderr))
		require.False(t, *res.Truncated)
		res, err = run(contract.Command{Script: "head -c 100000 /dev/zero; exit 4", OutputLimit: 1000})
		require.NoError(t, err)
		require.Len(t, res.Stdout, 1000)
		require.True(t, *res.Truncated)
		require.EqualValues(t, 4, res.ExitCode)
	})
	t.Run("closed streams do not end a command", func(t *testing.T) {
		res, err := run(contract.Command{Script: "exec >&- 2>&-; sleep 0.3; exit 9"})
		require.NoError(t, err)
		require.EqualValues(t, 9, res.ExitCode)
	})
	t.Run("refused before anything is sent", func(t *testing.T) {
		for _, c := range []contract.Command{{}, {Argv: []string{"a"}, Script: "b"}, {Argv: []string{""}}, {Argv: []string{"-x"}},
			{Script: ":", Timeout: -1}, {Script: ":", OutputLimit: -1}, {Script: "a\x00"}, {Script: ":", OpenStdin: true},
			{Script: strings.Repeat("x", 200<<10)}} {
			_, err := run(c)
			hasCode(t, err, port.CodeInvalidArgument)
		}
	})
	t.Run("sixteen at once", func(t *testing.T) {
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				res, err := w.Exec(ctx, id, contract.Command{Script: fmt.Sprintf("echo %d; echo e%d >&2; exit %d", i, i, i)})
				if err != nil || int(res.ExitCode) != i || string(res.Stdout) != fmt.Sprintln(i) || string(res.Stderr) != fmt.Sprintf("e%d\n", i) {
					t.Errorf("command %d: %+v %v", i, res, err)
				}
			})
		}
		wg.Wait()
	})
}

// family is a script whose children and grandchildren leave its session,
// its parent and its streams in every way that a shell knows.
const family = `sleep 991 &
setsid sleep 992 &
(setsid sh -c 'sleep 993 & sleep 994' >/dev/null 2>&1 &)
sh -c 'nohup sleep 995 >/dev/null 2>&1 &'
echo started
trap '' TERM INT HUP
sleep 996; sleep 997`

func (w *world) sleepers(id string) string {
	return w.output(id, "ps | grep 'sleep 99' | grep -v grep; true")
}

func TestExecEnds(t *testing.T) {
	w := open(t)
	id := w.create()
	w.output(id, "sleep 888 >/dev/null 2>&1 &") // a neighbour that must survive
	check := func(t *testing.T, res contract.ExecResult) {
		require.Equal(t, "started\n", string(res.Stdout))
		require.EqualValues(t, -1, res.ExitCode)
		require.Empty(t, w.sleepers(id))
		require.Contains(t, w.output(id, "ps"), "sleep 888")
	}
	t.Run("when its time is over", func(t *testing.T) {
		res, err := w.Exec(t.Context(), id, contract.Command{Script: family, Timeout: time.Second})
		hasCode(t, err, port.CodeTimeout)
		require.Equal(t, port.OutcomeDone, port.OutcomeOf(err))
		check(t, res)
		require.Less(t, res.Duration, 10*time.Second)
	})
	t.Run("when the context ends", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		res, err := w.Exec(ctx, id, contract.Command{Script: family})
		hasCode(t, err, port.CodeTimeout)
		check(t, res)
		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		res, err = w.Exec(ctx, id, contract.Command{Script: family})
		hasCode(t, err, port.CodeCanceled)
		check(t, res)
	})
	t.Run("but what it leaves behind by itself goes on", func(t *testing.T) {
		w.output(id, "sleep 998 >/dev/null 2>&1 &")
		require.Contains(t, w.sleepers(id), "sleep 998")
		w.output(id, "pkill -f 'sleep 998'; true")
	})
	t.Run("with the sandbox", func(t *testing.T) {
		other := w.create()
		type end struct {
			code int
			err  error
		}
		done := make(chan end, 1)
		p, err := w.Stream(t.Context(), other, contract.Command{Script: "echo up; sleep 100"})
		require.NoError(t, err)
		buf := make([]byte, 3)
		_, err = p.Stdout().Read(buf)
		require.NoError(t, err)
		go func() {
			code, err := p.Wait(context.Background())
			done <- end{code, err}
		}()
		w.destroy(other)
		// The engine may still know how it was killed, or not; it never ended well.
		if got := <-done; got.err == nil {
			require.Equal(t, 137, got.code)
		} else {
			hasCode(t, got.err, port.CodeExitUnknown)
		}
		require.NoError(t, p.Close())
	})
}

func TestExecNeedsARunningSandbox(t *testing.T) {
	w := open(t)
	id := w.create()
	ctx := t.Context()
	_, err := w.Suspend(ctx, id)
	require.NoError(t, err)
	_, err = w.Exec(ctx, id, contract.Command{Script: "touch /ran"})
	hasCode(t, err, port.CodeFailedPrecondition)
	_, err = w.Resume(ctx, id)
	require.NoError(t, err)
	_, err = w.Stop(ctx, id)
	require.NoError(t, err)
	_, err = w.Exec(ctx, id, contract.Command{Script: "touch /ran"})
	hasCode(t, err, port.CodeFailedPrecondition)
	_, err = w.Start(ctx, id)
	require.NoError(t, err)
	require.Equal(t, "no\n", w.output(id, "[ -e /ran ] && echo yes || echo no"))
	_, err = w.Exec(ctx, strings.Repeat("0", 64), contract.Command{Script: ":"})
	hasCode(t, err, port.CodeNotFound)
}
