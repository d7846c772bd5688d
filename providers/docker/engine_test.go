package docker_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/internal/testengine"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/providers/docker"
)

// world is one test's adapter and the marks of everything it makes.
type world struct {
	*docker.Adapter
	t      *testing.T
	engine *testengine.Engine
	owner  string
}

// open gives an adapter without a network, which the engine sets up faster.
// When the test ends, nothing that carries its owner may be left.
func open(t *testing.T) *world {
	t.Helper()
	e := testengine.Require(t)
	a, err := docker.New(t.Context(), docker.Config{Host: e.Host, Network: "none"})
	require.NoError(t, err)
	w := &world{Adapter: a, t: t, engine: e, owner: "t" + word(t)}
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	return w
}

func word(t testing.TB) string {
	var b [8]byte
	_, err := rand.Read(b[:])
	require.NoError(t, err)
	return hex.EncodeToString(b[:])
}

func (w *world) tags() contract.Tags {
	return contract.Tags{Owner: w.owner, Run: "run1", Intent: word(w.t)}
}

func (w *world) request() contract.CreateRequest {
	return contract.CreateRequest{Image: testengine.Image, Pull: contract.PullPolicyNever, Tags: w.tags()}
}

// create makes a sandbox that is destroyed with the test, and looks that it is.
func (w *world) create(change ...func(*contract.CreateRequest)) string {
	w.t.Helper()
	r := w.request()
	for _, f := range change {
		f(&r)
	}
	inst, err := w.Create(w.t.Context(), r)
	if inst.ID != "" {
		w.t.Cleanup(func() { w.destroy(inst.ID) })
	}
	require.NoError(w.t, err)
	return inst.ID
}

func (w *world) destroy(id string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, err := w.Destroy(ctx, id)
	require.NoError(w.t, err)
	_, err = w.Inspect(ctx, id)
	require.ErrorIs(w.t, err, port.Is(port.CodeNotFound))
}

func (w *world) sh(id, script string) contract.ExecResult {
	w.t.Helper()
	res, err := w.Exec(w.t.Context(), id, contract.Command{Script: script})
	require.NoError(w.t, err)
	return res
}

// output is what a script prints; it must succeed.
func (w *world) output(id, script string) string {
	w.t.Helper()
	res := w.sh(id, script)
	require.Zero(w.t, res.ExitCode, "stderr: %s", res.Stderr)
	return string(res.Stdout)
}

func hasCode(t testing.TB, err error, code port.Code) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, code, port.CodeOf(err), "%v", err)
}
