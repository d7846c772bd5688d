package main

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProcessesThatHoldTheDummy(t *testing.T) {
	dummy, err := newDummy()
	require.NoError(t, err)
	sleeper := func(args []string, env []string) *exec.Cmd {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = env
		require.NoError(t, cmd.Start())
		t.Cleanup(func() {
			require.NoError(t, cmd.Process.Kill())
			require.Error(t, cmd.Wait())
		})
		return cmd
	}
	clean := sleeper([]string{"sleep", "30"}, []string{"A=b"})
	require.Contains(t, descendants(os.Getpid()), clean.Process.Pid)
	sleeper([]string{"sh", "-c", "sleep 30; : " + dummy}, []string{"PATH=" + os.Getenv("PATH")})
	require.Eventually(t, func() bool {
		found, looked := lookAt(os.Getpid(), dummy, "")
		return len(found) == 1 && found[0] == "the arguments of sh" && len(looked) >= 2
	}, waitFor, tickFor)
	sleeper([]string{"sleep", "30"}, []string{"SECRET=" + dummy})
	require.Eventually(t, func() bool {
		found, _ := lookAt(os.Getpid(), dummy, "")
		return len(found) == 2
	}, waitFor, tickFor)
}

const (
	waitFor = 10 * time.Second
	tickFor = 20 * time.Millisecond
)
