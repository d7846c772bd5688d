package gvisor_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/internal/testengine"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/providers/docker"
	"github.com/agentworkforce/sbx/providers/gvisor"
)

func tags(t *testing.T, owner string) contract.Tags {
	var b [8]byte
	_, err := rand.Read(b[:])
	require.NoError(t, err)
	return contract.Tags{Owner: owner, Run: "r", Intent: hex.EncodeToString(b[:])}
}

func TestWhatIsOffered(t *testing.T) {
	a, err := gvisor.New(t.Context(), gvisor.Config{})
	require.NoError(t, err)
	table := contract.Bind(a)
	for _, c := range contract.Capabilities() {
		want := c != contract.CapabilityPorts && c != contract.CapabilityLabels && c.Implementable()
		require.Equal(t, want, table.Has(c), c)
	}
}

func TestSandbox(t *testing.T) {
	e := testengine.Require(t, "runsc")
	ctx := t.Context()
	a, err := gvisor.New(ctx, gvisor.Config{Host: e.Host})
	require.NoError(t, err)
	owner := "g" + tags(t, "").Intent
	request := contract.CreateRequest{Image: testengine.Image, Pull: contract.PullPolicyNever, Tags: tags(t, owner)}
	made, err := a.Create(ctx, request)
	require.NoError(t, err)
	id := made.ID
	destroy := func(id string) {
		_, err := a.Destroy(context.Background(), id)
		require.NoError(t, err)
	}
	t.Cleanup(func() { destroy(id) })
	require.Equal(t, contract.IsolationUserKernel, made.Isolation)
	run := func(id, script string) string {
		t.Helper()
		res, err := a.Exec(ctx, id, contract.Command{Script: script})
		require.NoError(t, err)
		require.Zero(t, res.ExitCode, "%s", res.Stderr)
		return string(res.Stdout)
	}
	// gVisor answered, not the host's kernel.
	require.Equal(t, "4.4.0\n", run(id, "uname -r"))

	// The docker adapter on the same engine does not see it.
	d, err := docker.New(ctx, docker.Config{Host: e.Host})
	require.NoError(t, err)
	_, err = d.Inspect(ctx, id)
	require.ErrorIs(t, err, port.Is(port.CodeNotFound))
	list, err := a.List(ctx, contract.ListRequest{Tags: &contract.Tags{Owner: owner}})
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, contract.IsolationUserKernel, list[0].Isolation)

	// Files are seen by processes, and the other way round.
	content := bytes.Repeat([]byte{0, 1, 255}, 1<<20)
	for _, path := range []string{"/data/file", "/tmp/file"} {
		require.NoError(t, a.WriteFile(ctx, id, path, 0o640, port.WriteStream{Reader: bytes.NewReader(content), Size: int64(len(content))}))
		require.Equal(t, "640 3145728\n", run(id, "stat -c '%a %s' "+path))
		s, err := a.ReadFile(ctx, id, path)
		require.NoError(t, err)
		got, err := io.ReadAll(s)
		require.NoError(t, err)
		require.NoError(t, s.Close())
		require.True(t, bytes.Equal(content, got))
	}
	infos, err := a.ReadDir(ctx, id, "/data")
	require.NoError(t, err)
	require.Len(t, infos, 1)

	// A command's end takes its children along.
	_, err = a.Exec(ctx, id, contract.Command{Script: "setsid sleep 991 & sleep 992", Timeout: time.Second})
	require.ErrorIs(t, err, port.Is(port.CodeTimeout))
	require.NotContains(t, run(id, "ps"), "sleep 99")
	_, err = a.Exec(ctx, id, contract.Command{Script: ":", Dir: "/none"})
	require.ErrorIs(t, err, port.Is(port.CodeWorkdirUnusable))

	for _, step := range []func(context.Context, string) (contract.Instance, error){a.Suspend, a.Resume, a.Stop, a.Start} {
		_, err := step(ctx, id)
		require.NoError(t, err)
	}
	require.Equal(t, "640\n", run(id, "stat -c %a /data/file"))
	// What the manifest says is lost (hazards tmp-lost-on-stop, cache-left-out-of-capture).
	require.Equal(t, "0\n", run(id, "ls /tmp | wc -l"), "a stop keeps /tmp here; the manifest says that it is lost")
	run(id, "echo again > /tmp/file")

	request.Tags = tags(t, owner)
	fork, err := a.Fork(ctx, id, contract.ForkRequest{Keeps: contract.KeepsDisk, Tags: request.Tags})
	require.NoError(t, err)
	t.Cleanup(func() { destroy(fork.Instance.ID) })
	require.Equal(t, contract.IsolationUserKernel, fork.Instance.Isolation)
	require.True(t, strings.HasPrefix(run(fork.Instance.ID, "stat -c '%a %n' /data/file; uname -r"), "640 /data/file\n4.4.0"))
	require.Equal(t, "0\n", run(fork.Instance.ID, "ls /tmp | wc -l"), "a fork has /tmp here; the manifest says that it has not")
	destroy(fork.Instance.ID)
	destroy(id)
	require.Empty(t, e.Containers(t, "sbx.owner="+owner))
	require.Empty(t, e.Images(t, "sbx.owner="+owner))
}
