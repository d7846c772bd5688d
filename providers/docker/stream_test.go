package docker_test

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

func TestStream(t *testing.T) {
	w := open(t)
	id := w.create()
	ctx := t.Context()

	t.Run("talks while it runs", func(t *testing.T) {
		p, err := w.Stream(ctx, id, contract.Command{OpenStdin: true, Stdin: []byte("first\n"),
			Script: `while read -r line; do echo "got $line"; echo "err $line" >&2; done; exit 7`})
		require.NoError(t, err)
		out, errs := bufio.NewScanner(p.Stdout()), bufio.NewScanner(p.Stderr())
		for _, word := range []string{"first", "second", "third"} {
			if word != "first" {
				_, err := io.WriteString(p.Stdin(), word+"\n")
				require.NoError(t, err)
			}
			require.True(t, out.Scan())
			require.Equal(t, "got "+word, out.Text())
			require.True(t, errs.Scan())
			require.Equal(t, "err "+word, errs.Text())
		}
		require.NoError(t, p.Stdin().Close())
		for range 2 {
			code, err := p.Wait(ctx)
			require.NoError(t, err)
			require.Equal(t, 7, code)
		}
		require.False(t, out.Scan())
		require.NoError(t, p.Close())
		require.NoError(t, p.Close())
	})
	t.Run("one stream unread", func(t *testing.T) {
		p, err := w.Stream(ctx, id, contract.Command{Script: "head -c 2000000 /dev/zero >&2; echo done"})
		require.NoError(t, err)
		require.Nil(t, p.Stdin())
		all, err := io.ReadAll(p.Stdout())
		require.NoError(t, err)
		require.Equal(t, "done\n", string(all))
		all, err = io.ReadAll(p.Stderr())
		require.NoError(t, err)
		require.Len(t, all, 2000000)
		require.NoError(t, p.Close())
	})
	t.Run("kill and close end everything", func(t *testing.T) {
		for _, end := range []func(port.Process) error{
			func(p port.Process) error { return p.Kill(ctx) },
			func(p port.Process) error { return p.Close() },
		} {
			p, err := w.Stream(ctx, id, contract.Command{Script: family})
			require.NoError(t, err)
			_, err = p.Stdout().Read(make([]byte, 8))
			require.NoError(t, err)
			require.NoError(t, end(p))
			require.Empty(t, w.sleepers(id))
			code, err := p.Wait(ctx)
			require.NoError(t, err)
			require.Equal(t, 137, code)
			require.NoError(t, p.Close())
		}
	})
	t.Run("its own time, not the caller's", func(t *testing.T) {
		short, cancel := context.WithCancel(ctx)
		p, err := w.Stream(short, id, contract.Command{Script: "sleep 0.3; echo late"})
		require.NoError(t, err)
		cancel()
		all, err := io.ReadAll(p.Stdout())
		require.NoError(t, err)
		require.Equal(t, "late\n", string(all))
		require.NoError(t, p.Close())
		p, err = w.Stream(ctx, id, contract.Command{Script: family, Timeout: 500 * time.Millisecond})
		require.NoError(t, err)
		_, err = p.Wait(ctx)
		hasCode(t, err, port.CodeTimeout)
		require.Empty(t, w.sleepers(id))
		require.NoError(t, p.Close())
	})
	t.Run("directory", func(t *testing.T) {
		p, err := w.Stream(ctx, id, contract.Command{Script: "echo ran", Dir: "/none"})
		require.NoError(t, err)
		_, err = p.Wait(ctx)
		hasCode(t, err, port.CodeWorkdirUnusable)
		require.NoError(t, p.Close())
	})
}

func TestPTY(t *testing.T) {
	w := open(t)
	id := w.create()
	ctx := t.Context()
	p, err := w.OpenPTY(ctx, id, contract.PTYRequest{Cols: 91, Rows: 33, Command: contract.Command{Dir: "/tmp",
		Script: `stty size; echo "$TERM"; pwd; [ -t 0 ] && echo tty; read -r x; stty size; exit 5`}})
	require.NoError(t, err)
	r := bufio.NewScanner(p)
	for _, want := range []string{"33 91", "xterm-256color", "/tmp", "tty"} {
		require.True(t, r.Scan())
		require.Equal(t, want, strings.TrimSpace(r.Text()))
	}
	require.NoError(t, p.Resize(ctx, 120, 40))
	_, err = io.WriteString(p, "go\n")
	require.NoError(t, err)
	var rest []string
	for r.Scan() {
		rest = append(rest, strings.TrimSpace(r.Text()))
	}
	require.Equal(t, []string{"go", "40 120"}, rest)
	code, err := p.Wait(ctx)
	require.NoError(t, err)
	require.Equal(t, 5, code)
	require.NoError(t, p.Close())

	p, err = w.OpenPTY(ctx, id, contract.PTYRequest{Cols: 80, Rows: 24, Command: contract.Command{Script: family}})
	require.NoError(t, err)
	_, err = bufio.NewReader(p).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, p.Close())
	require.Empty(t, w.sleepers(id))

	_, err = w.OpenPTY(ctx, id, contract.PTYRequest{Cols: 80, Rows: 24, Command: contract.Command{Script: ":", Dir: "/none"}})
	hasCode(t, err, port.CodeWorkdirUnusable)
	_, err = w.OpenPTY(ctx, id, contract.PTYRequest{Rows: 24, Command: contract.Command{Script: ":"}})
	hasCode(t, err, port.CodeInvalidArgument)
}
