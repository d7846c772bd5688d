package docker_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/providers/docker"
)

// double is as much of an engine as the question who it is needs.
type double struct {
	id    atomic.Pointer[string]
	asked atomic.Int32
	state atomic.Pointer[string]
	hang  atomic.Bool // the next answer ends its connection
	fail  atomic.Bool // the next answer is a failure of the engine
}

func (d *double) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Api-Version", "1.41")
	rw.Header().Set("Content-Type", "application/json")
	if d.hang.Swap(false) {
		rw.Header().Set("Connection", "close")
	}
	if d.fail.Swap(false) {
		rw.WriteHeader(http.StatusInternalServerError)
		return
	}
	var err error
	switch {
	case strings.HasSuffix(r.URL.Path, "/_ping"):
	case strings.HasSuffix(r.URL.Path, "/info"):
		d.asked.Add(1)
		_, err = fmt.Fprintf(rw, `{"ID":%q}`, *d.id.Load())
	case r.Method == http.MethodDelete:
		rw.WriteHeader(http.StatusNoContent)
	case strings.HasSuffix(r.URL.Path, boxID+"/json"):
		_, err = fmt.Fprintf(rw, `{"Id":%q,"State":{"Status":%q},"HostConfig":{},
			"Config":{"Labels":{"sbx.provider":"docker","sbx.kind":"sandbox"}}}`, boxID, *d.state.Load())
	default:
		_, err = rw.Write([]byte("[]"))
	}
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

const boxID = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

func serve(t *testing.T, network string) (*double, *docker.Adapter) {
	d := &double{}
	d.be("first", "running")
	at := map[string]string{"unix": filepath.Join(t.TempDir(), "e.sock"), "tcp": "127.0.0.1:0"}[network]
	l, err := net.Listen(network, at)
	require.NoError(t, err)
	server := &http.Server{Handler: d}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		err := server.Close()
		if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		require.NoError(t, err)
	})
	a, err := docker.New(t.Context(), docker.Config{Host: network + "://" + l.Addr().String()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	return d, a
}

func (d *double) be(id, state string) { d.id.Store(&id); d.state.Store(&state) }

// Within one short life the engine is asked once, and always again where an
// earlier answer would prove nothing.
func TestScopeIsAskedAgainWhereItCounts(t *testing.T) {
	for name, tc := range map[string]struct {
		between func(t *testing.T, d *double, a *docker.Adapter)
		want    string
	}{
		"nothing": {func(*testing.T, *double, *docker.Adapter) {}, "first"},
		"reads": {func(t *testing.T, _ *double, a *docker.Adapter) {
			_, err := a.Inspect(t.Context(), boxID)
			require.NoError(t, err)
			_, err = a.List(t.Context(), contract.ListRequest{})
			require.NoError(t, err)
		}, "first"},
		"a removal": {func(t *testing.T, _ *double, a *docker.Adapter) {
			done, err := a.Destroy(t.Context(), boxID)
			require.NoError(t, err)
			require.Equal(t, port.DestroyAccepted, done)
		}, "second"},
		"a removal of a snapshot": {func(t *testing.T, _ *double, a *docker.Adapter) {
			_, err := a.DeleteSnapshot(t.Context(), "sha256:"+boxID)
			require.NoError(t, err)
		}, "second"},
		"one on its way out": {func(t *testing.T, d *double, a *docker.Adapter) {
			d.be("second", "removing")
			_, err := a.Inspect(t.Context(), boxID)
			require.NoError(t, err)
		}, "second"},
		"another connection": {func(t *testing.T, d *double, a *docker.Adapter) {
			d.hang.Store(true)
			for range 2 {
				_, err := a.List(t.Context(), contract.ListRequest{})
				require.NoError(t, err)
			}
		}, "second"},
		"a failure": {func(t *testing.T, d *double, a *docker.Adapter) {
			d.fail.Store(true)
			_, err := a.List(t.Context(), contract.ListRequest{})
			require.Equal(t, port.CodeUnavailable, port.CodeOf(err))
		}, "second"},
	} {
		t.Run(name, func(t *testing.T) {
			d, a := serve(t, "unix")
			scope, err := a.Scope(t.Context())
			require.NoError(t, err)
			require.Equal(t, "first", scope)
			_, err = a.Inspect(t.Context(), boxID) // a box that was looked at is removed without another look
			require.NoError(t, err)
			d.be("second", "running") // another engine takes its place
			tc.between(t, d, a)
			scope, err = a.Scope(t.Context())
			require.NoError(t, err)
			require.Equal(t, tc.want, scope)
			want := map[string]int32{"first": 1, "second": 2}[tc.want]
			require.Equal(t, want, d.asked.Load())
		})
	}
}

// Behind a network address each request may be led to another engine.
func TestScopeIsAskedEveryTimeOverANetwork(t *testing.T) {
	d, a := serve(t, "tcp")
	for _, want := range []string{"first", "second"} {
		d.be(want, "running")
		scope, err := a.Scope(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, scope)
	}
	require.Equal(t, int32(2), d.asked.Load())
}
