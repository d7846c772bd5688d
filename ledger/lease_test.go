package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// childLease takes the lease ten times and, each time, reads a number and writes
// the next one: without the lease, two of them would lose counts.
func childLease(dirs Dirs) error {
	path := filepath.Join(dirs.Root, "count")
	for range 10 {
		held, err := Lease(context.Background(), dirs, "docker", "key")
		if err != nil {
			return err
		}
		n := 0
		text, err := readText(path)
		if err == nil {
			_, err = fmt.Sscan(text, &n)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if err := os.WriteFile(path, fmt.Append(nil, n+1), 0o600); err != nil {
			return err
		}
		if err := held.Release(); err != nil {
			return err
		}
	}
	return nil
}

func TestLeaseExcludesProcesses(t *testing.T) {
	dirs := Dirs{Root: t.TempDir()}
	var cmds []*exec.Cmd
	for range 4 {
		cmd := child(t, "lease", dirs)
		require.NoError(t, cmd.Start())
		cmds = append(cmds, cmd)
	}
	for _, cmd := range cmds {
		require.NoError(t, cmd.Wait())
	}
	text, err := readText(filepath.Join(dirs.Root, "count"))
	require.NoError(t, err)
	require.Equal(t, "40", text)
}

func TestLeaseWaitsAsLongAsItsContext(t *testing.T) {
	dirs := Dirs{Root: t.TempDir()}
	held, err := Lease(t.Context(), dirs, "a", "bc")
	require.NoError(t, err)
	other, err := Lease(t.Context(), dirs, "ab", "c")
	require.NoError(t, err, "another key is free")
	require.NoError(t, other.Release())

	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := Lease(ctx, dirs, "a", "bc")
		assert.ErrorIs(t, err, context.Canceled)
	})
	cancel()
	wg.Wait()

	got := make(chan *Held)
	go func() {
		next, err := Lease(context.Background(), dirs, "a", "bc")
		if err != nil {
			t.Error(err)
		}
		got <- next
	}()
	require.NoError(t, held.Release())
	require.NoError(t, held.Release())
	require.NoError(t, (<-got).Release())
}

func TestLeaseKeysAreInjective(t *testing.T) {
	seen := map[string][]string{}
	for _, key := range [][]string{nil, {""}, {"", ""}, {"a", "bc"}, {"ab", "c"}, {"abc"}, {"a\x00bc"}, {"a/bc"}, {"A", "bc"}} {
		h := keyHash(key)
		require.NotContains(t, seen, h, "%q", key)
		seen[h] = key
	}
}

func TestOwnerIsOneOverProcesses(t *testing.T) {
	for range 5 {
		dirs := Dirs{Root: t.TempDir()}
		var cmds []*exec.Cmd
		var outs []io.Reader
		for range 4 {
			cmd := child(t, "owner", dirs)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			cmds, outs = append(cmds, cmd), append(outs, out)
		}
		owners := map[string]bool{}
		for i, cmd := range cmds {
			b, err := io.ReadAll(outs[i])
			require.NoError(t, err)
			require.NoError(t, cmd.Wait())
			owners[string(b)] = true
		}
		require.Len(t, owners, 1)
		for owner := range owners {
			require.Regexp(t, `^[a-z0-9]{16}$`, owner)
		}
	}
}
