//go:build unix

package local

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// callerVariable makes the test binary a program that uses the adapter, so that
// tests can kill it.
const callerVariable = "SBX_LOCAL_TEST_CALLER"

func TestMain(m *testing.M) {
	if call := os.Getenv(callerVariable); call != "" {
		os.Exit(caller(call))
	}
	os.Exit(m.Run())
}

// caller does "state isolation id script" and prints the exit code; without id
// it makes sandboxes for as long as it lives.
func caller(call string) int {
	part := strings.SplitN(call, "|", 4)
	a, err := New(context.Background(), Config{StateDir: part[0], Isolation: part[1]})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if part[2] == "" {
		for range 500 {
			if _, err := a.Create(context.Background(), request()); err != nil {
				fmt.Println(err)
				return 1
			}
			fmt.Println("made")
		}
		return 0
	}
	res, err := a.Exec(context.Background(), part[2], contract.Command{Script: part[3]})
	fmt.Println(res.ExitCode, err)
	return 0
}

func startCaller(t *testing.T, a *Adapter, id, script string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd, out := exec.Command(os.Args[0]), &bytes.Buffer{}
	cmd.Env = append(os.Environ(), callerVariable+"="+strings.Join([]string{a.state.Root, a.isolation, id, script}, "|"))
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		if err := cmd.Process.Kill(); err != nil {
			require.ErrorIs(t, err, os.ErrProcessDone)
		}
	})
	return cmd, out
}

func request() contract.CreateRequest {
	return contract.CreateRequest{Tags: contract.Tags{Owner: "tester", Run: "run1", Intent: newID()}}
}

func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if slices.Contains(strings.Split(os.Getenv("SBX_REQUIRE"), ","), program) {
		t.Fatalf("%s is required and not installed", program)
	}
	t.Skipf("%s is not installed", program)
}

// each runs a test with every isolation, on a state directory of its own.
func each(t *testing.T, test func(t *testing.T, a *Adapter)) {
	for _, isolation := range []string{isolationBwrap, isolationNone} {
		t.Run(isolation, func(t *testing.T) { test(t, openAdapter(t, isolation)) })
	}
}

func openAdapter(t *testing.T, isolation string) *Adapter {
	t.Helper()
	if isolation == isolationBwrap {
		need(t, "bwrap")
	}
	a, err := New(t.Context(), Config{StateDir: t.TempDir(), Isolation: isolation})
	require.NoError(t, err)
	return a
}

// create makes a sandbox and proves at the end that it can be taken away.
func create(t *testing.T, a *Adapter) contract.Instance {
	t.Helper()
	in, err := a.Create(t.Context(), request())
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := a.Destroy(context.Background(), in.ID)
		require.NoError(t, err)
		_, err = a.Inspect(context.Background(), in.ID)
		require.ErrorIs(t, err, port.Is(port.CodeNotFound))
		require.NoDirExists(t, filepath.Join(a.dir, in.ID))
		require.NoDirExists(t, filepath.Join(a.dir, in.ID+deletingExt))
	})
	return in
}

func sh(t *testing.T, a *Adapter, id, script string) contract.ExecResult {
	t.Helper()
	res, err := a.Exec(t.Context(), id, contract.Command{Script: script, Timeout: time.Minute})
	require.NoError(t, err)
	return res
}

func requireCode(t *testing.T, want port.Code, err error) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, want, port.CodeOf(err), "%v", err)
}

// eventually polls the kernel, which tells strangers nothing.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	require.Eventually(t, is, 10*time.Second, 5*time.Millisecond, what)
}

func running(t *testing.T, id string) int {
	t.Helper()
	n, err := countMarked(sandboxMark(id))
	require.NoError(t, err)
	return n
}

func noneLeft(t *testing.T, id string) {
	t.Helper()
	require.Zero(t, running(t, id), "processes of the sandbox still run")
}

func pointer[T any](v T) *T { return &v }
