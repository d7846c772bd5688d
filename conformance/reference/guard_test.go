//go:build unix

package reference_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/conformance/reference"
	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

const holder = "SBX_REFERENCE_HOLDER"

// TestMain is also the process that is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv(holder); dir != "" {
		fmt.Println(hold(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// hold leaves a process behind in a sandbox, says which, and waits in another command.
func hold(dir string) error {
	v, err := reference.New(dir, reference.Traits{})
	if err != nil {
		return err
	}
	ctx := context.Background()
	a, err := v.Driver().Open(ctx, port.Settings{"token": {Value: port.NewSecret(reference.Token)}})
	if err != nil {
		return err
	}
	i, err := a.Create(ctx, contract.CreateRequest{Image: reference.Image})
	if err != nil {
		return err
	}
	res, err := a.Exec(ctx, i.ID, contract.Command{Script: "sleep 300 > /dev/null 2>&1 & echo $!", Timeout: time.Minute})
	if err != nil {
		return err
	}
	fmt.Println("left", strings.TrimSpace(string(res.Stdout)))
	_, err = a.Exec(ctx, i.ID, contract.Command{Script: "sleep 300", Timeout: 5 * time.Minute})
	return err
}

// TestNothingOutlivesAKilledProcess: what commands left behind ends with the
// process that the vendor is in, although nobody had time to end it.
func TestNothingOutlivesAKilledProcess(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holder+"="+t.TempDir())
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(line), "left "))
	require.NoError(t, err, line)
	require.NoError(t, syscall.Kill(pid, 0))
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	require.Eventually(t, func() bool { return !runs(pid) }, 10*time.Second, 20*time.Millisecond, "process %d is still there", pid)
}

// runs is false for a process that has ended and that nobody has waited for yet.
func runs(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}
