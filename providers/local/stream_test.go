//go:build unix

package local

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

func TestStreamIsLive(t *testing.T) {
	each(t, func(t *testing.T, a *Adapter) {
		in := create(t, a)
		p, err := a.Stream(t.Context(), in.ID, contract.Command{OpenStdin: true,
			Script: `while read l; do echo "got $l"; echo "err $l" >&2; done; exit 6`})
		require.NoError(t, err)
		out, errOut := bufio.NewReader(p.Stdout()), bufio.NewReader(p.Stderr())
		for _, word := range []string{"one", "two"} {
			_, err = io.WriteString(p.Stdin(), word+"\n")
			require.NoError(t, err)
			line, err := out.ReadString('\n')
			require.NoError(t, err)
			require.Equal(t, "got "+word+"\n", line)
			line, err = errOut.ReadString('\n')
			require.NoError(t, err)
			require.Equal(t, "err "+word+"\n", line)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err = p.Wait(ctx)
		requireCode(t, port.CodeTimeout, err)
		require.NoError(t, p.Stdin().Close())
		rest, err := io.ReadAll(out)
		require.NoError(t, err)
		require.Empty(t, rest)
		for range 2 {
			code, err := p.Wait(t.Context())
			require.NoError(t, err)
			require.Equal(t, 6, code)
		}
		require.NoError(t, p.Kill(t.Context()))
		require.NoError(t, p.Close())
		require.NoError(t, p.Close())
		code, err := p.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, 6, code, "a late kill changes nothing")
	})
}

func TestStreamKillEndsChildren(t *testing.T) {
	each(t, func(t *testing.T, a *Adapter) {
		in := create(t, a)
		ctx, cancel := context.WithCancel(t.Context())
		p, err := a.Stream(ctx, in.ID, contract.Command{Script: "setsid sleep 300 & echo up; sleep 301", Stdin: []byte("x")})
		require.NoError(t, err)
		require.Nil(t, p.Stdin())
		_, err = bufio.NewReader(p.Stdout()).ReadString('\n')
		require.NoError(t, err)
		cancel() // ends the call, not the command
		require.Positive(t, running(t, in.ID))
		require.NoError(t, p.Kill(t.Context()))
		noneLeft(t, in.ID)
		code, err := p.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, 137, code)
		require.NoError(t, p.Close())

		q, err := a.Stream(t.Context(), in.ID, contract.Command{Script: "sleep 300", Timeout: 50 * time.Millisecond})
		require.NoError(t, err)
		_, err = q.Wait(t.Context())
		requireCode(t, port.CodeTimeout, err)
		require.NoError(t, q.Close())

		r, err := a.Stream(t.Context(), in.ID, contract.Command{Script: "yes"}) // never read
		require.NoError(t, err)
		require.NoError(t, r.Close())
		noneLeft(t, in.ID)

		s, err := a.Stream(t.Context(), in.ID, contract.Command{Argv: []string{"no-such-program"}})
		require.NoError(t, err)
		code, err = s.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, 127, code)
		require.NoError(t, s.Close())
	})
}

func TestTerminal(t *testing.T) {
	each(t, func(t *testing.T, a *Adapter) {
		in := create(t, a)
		p, err := a.OpenPTY(t.Context(), in.ID, contract.PTYRequest{Cols: 91, Rows: 33,
			Command: contract.Command{Script: `test -t 0 && test -t 1 && echo "tty $TERM"; stty size
trap 'echo interrupted' INT; echo ready; read x; stty size; echo "read $x"; : < /dev/tty && echo own; exit 9`}})
		require.NoError(t, err)
		r := bufio.NewReader(p)
		expect := func(want string) {
			t.Helper()
			for {
				line, err := r.ReadString('\n')
				require.NoError(t, err, "waiting for %q", want)
				if strings.TrimSpace(line) == want {
					return
				}
			}
		}
		expect("tty xterm-256color")
		expect("33 91")
		expect("ready")
		require.NoError(t, p.Resize(t.Context(), 120, 40))
		requireCode(t, port.CodeInvalidArgument, p.Resize(t.Context(), 0, 40))
		_, err = p.Write([]byte("word\n"))
		require.NoError(t, err)
		expect("40 120")
		expect("read word")
		expect("own")
		_, err = io.ReadAll(r)
		require.NoError(t, err)
		code, err := p.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, 9, code)
		require.NoError(t, p.Close())
		require.NoError(t, p.Close())
	})
}

func TestTerminalInterruptAndClose(t *testing.T) {
	each(t, func(t *testing.T, a *Adapter) {
		in := create(t, a)
		p, err := a.OpenPTY(t.Context(), in.ID, contract.PTYRequest{Cols: 80, Rows: 24,
			Command: contract.Command{Script: `trap 'echo interrupted; exit 5' INT; echo ready; while :; do sleep 0.05; done`}})
		require.NoError(t, err)
		r := bufio.NewReader(p)
		_, err = r.ReadString('\n')
		require.NoError(t, err)
		_, err = p.Write([]byte{3})
		require.NoError(t, err)
		rest, err := io.ReadAll(r)
		require.NoError(t, err)
		require.Contains(t, string(rest), "interrupted")
		code, err := p.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, 5, code)
		require.NoError(t, p.Close())

		p, err = a.OpenPTY(t.Context(), in.ID, contract.PTYRequest{Cols: 80, Rows: 24,
			Command: contract.Command{Script: "setsid sleep 300 & cat"}})
		require.NoError(t, err)
		blocked := make(chan error, 1)
		go func() { _, err := io.Copy(io.Discard, p); blocked <- err }()
		require.NoError(t, p.Close())
		<-blocked
		noneLeft(t, in.ID)
		for _, r := range []contract.PTYRequest{{Command: contract.Command{Script: "true"}},
			{Cols: 1, Rows: 70000, Command: contract.Command{Script: "true"}},
			{Cols: 80, Rows: 24, Command: contract.Command{Script: "true", Stdin: []byte("x")}}} {
			_, err = a.OpenPTY(t.Context(), in.ID, r)
			requireCode(t, port.CodeInvalidArgument, err)
		}
	})
}
