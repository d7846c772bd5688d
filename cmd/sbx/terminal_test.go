package main

import (
	"io"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// A terminal that nobody has told its size, as in CI, is one of 80 by 24.
func TestATerminalWithoutASize(t *testing.T) {
	u := newUser(t)
	id := u.must("new", "--provider", "local")
	ours, theirs, err := pty.Open()
	needed(t, "pty", err)
	cmd := u.command("exec", "-t", id, "--", "stty", "size")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	require.NoError(t, cmd.Start())
	require.NoError(t, theirs.Close())
	shown := make(chan string, 1)
	go func() {
		raw, _ := io.ReadAll(ours) // ends in EIO
		shown <- string(raw)
	}()
	err = cmd.Wait()
	text := <-shown
	require.NoError(t, err, text)
	require.Contains(t, text, "24 80")
	require.NoError(t, ours.Close())
	u.must("rm", id)
}

// Nobody is connected to anything where there is no terminal.
func TestSSHWithoutATerminalSaysOnlyThat(t *testing.T) {
	u := newUser(t)
	id := u.must("new", "--provider", "local")
	r := u.sbx("ssh", id)
	require.Equal(t, exitSbx, r.code)
	require.Contains(t, r.err, "a terminal is needed")
	require.NotContains(t, r.err, "connected")
	u.must("rm", id)
}
