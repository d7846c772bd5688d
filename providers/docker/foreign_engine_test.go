package docker_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/internal/testengine"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/providers/docker"
	"github.com/agentworkforce/sbx/sandbox"
)

// address is an Engine's address that leads to the real engine, or, once
// swapped, to another one that knows nothing.
type address struct {
	host      string
	foreign   atomic.Bool
	afterAck  atomic.Bool // swap as soon as a removal has been accepted
	anonymous atomic.Bool // the other one does not say who it is
	changes   atomic.Int32
}

func newAddress(t *testing.T, e *testengine.Engine) *address {
	t.Helper()
	a := &address{}
	real := e.Host
	if real == "" {
		real = client.DefaultDockerHost
	}
	target, err := client.ParseHostURL(real)
	require.NoError(t, err)
	network := target.Scheme
	if network != "unix" {
		network = "tcp"
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: "engine"}) },
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			where := target.Host // of unix:///path it is the path
			return new(net.Dialer).DialContext(ctx, network, where)
		}},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.foreign.Load() {
			a.other(w, r)
			return
		}
		proxy.ServeHTTP(w, r)
		if r.Method == http.MethodDelete && a.afterAck.Load() {
			a.foreign.Store(true)
		}
	}))
	t.Cleanup(s.Close)
	a.host = "tcp://" + strings.TrimPrefix(s.URL, "http://")
	return a
}

// other answers as an engine that has no containers at all.
func (a *address) other(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Api-Version", "1.41")
	w.Header().Set("Content-Type", "application/json")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		a.changes.Add(1)
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/_ping"):
		w.WriteHeader(http.StatusOK)
	case strings.HasSuffix(r.URL.Path, "/info") && !a.anonymous.Load():
		fmt.Fprint(w, `{"ID":"another-engine"}`)
	case strings.HasSuffix(r.URL.Path, "/containers/json"):
		fmt.Fprint(w, `[]`)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"message":"No such container"}`)
	}
}

// openAt opens the provider at an address; runs of one state directory have one
// owner.
func openAt(t *testing.T, host, state string) *sandbox.Provider {
	t.Helper()
	p, err := sandbox.Open(t.Context(), docker.Driver(), sandbox.WithStateDir(state), sandbox.WithSetting("host", host),
		sandbox.WithSetting("network", "none"), sandbox.WithDeadlines(sandbox.Deadlines{Destroy: 3 * time.Second}),
		sandbox.WithEnviron(func(string) (string, bool) { return "", false }))
	require.NoError(t, err)
	return p
}

// unknown requires that nothing was taken for gone, in the answer and in the ledger.
func unknown(t *testing.T, p *sandbox.Provider, report sandbox.DestroyReport, err error, code port.Code) {
	t.Helper()
	hasCode(t, err, code)
	require.NotErrorIs(t, err, port.Is(port.CodeNotFound))
	require.False(t, report.VerifiedGone)
	require.Zero(t, report.GoneAt)
	text, readErr := os.ReadFile(p.LedgerPath())
	require.NoError(t, readErr)
	require.NotContains(t, string(text), `"verified-gone"`)
}

// An engine that is not the one a sandbox was made in says nothing about it:
// its "no such container" is not proof of absence.
func TestAnotherEngineIsNotGone(t *testing.T) {
	e := testengine.Require(t)
	for name, swap := range map[string]func(*address) port.Code{
		"before the destroy": func(a *address) port.Code {
			a.foreign.Store(true)
			return port.CodeOutcomeUnknown
		},
		"without an identity": func(a *address) port.Code {
			a.anonymous.Store(true)
			a.foreign.Store(true)
			return port.CodeUnavailable // nothing was asked of it
		},
		"between destroy and the look": func(a *address) port.Code {
			a.afterAck.Store(true)
			return port.CodeOutcomeUnknown
		},
		"in between and without an identity": func(a *address) port.Code {
			a.anonymous.Store(true)
			a.afterAck.Store(true)
			return port.CodeOutcomeUnknown
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAddress(t, e)
			p := openAt(t, a.host, t.TempDir())
			sb, err := p.Create(t.Context(), sandbox.WithImage(testengine.Image))
			require.NoError(t, err)
			// Whatever happens to this test, the real engine is cleaned up.
			t.Cleanup(func() {
				a.foreign.Store(false)
				a.afterAck.Store(false)
				report, err := sb.Destroy(context.WithoutCancel(t.Context()))
				require.NoError(t, err)
				require.True(t, report.VerifiedGone)
				require.NoError(t, p.Close())
			})
			code := swap(a)
			report, err := sb.Destroy(t.Context())
			unknown(t, p, report, err, code)
			require.Zero(t, a.changes.Load(), "the other engine was asked to change something")
			there := len(containersWith(t, e, sb.ID()))
			if a.afterAck.Load() {
				require.True(t, report.Acknowledged)
				require.Zero(t, there)
				return
			}
			require.False(t, report.Acknowledged)
			require.Equal(t, 1, there, "the sandbox lives")
		})
	}
}

// A second run with another DOCKER_HOST neither attaches nor reaps, and the
// sandbox stays owed.
func TestAnotherHostReapsNothing(t *testing.T) {
	e := testengine.Require(t)
	state := t.TempDir()
	a := newAddress(t, e)
	p := openAt(t, a.host, state)
	sb, err := p.Create(t.Context(), sandbox.WithImage(testengine.Image))
	require.NoError(t, err)
	require.NoError(t, p.Close()) // the run is over, and its scoped sandbox is owed a destroy

	other := newAddress(t, e)
	other.foreign.Store(true)
	q := openAt(t, other.host, state)
	_, err = q.Attach(t.Context(), sb.ID())
	require.Error(t, err)
	found, err := q.Reap(t.Context(), true)
	require.NoError(t, err)
	require.Len(t, found.Items, 1)
	require.Equal(t, sandbox.VerdictSkipForeignScope, found.Items[0].Verdict)
	require.False(t, found.Items[0].Acted)
	require.Nil(t, found.Items[0].Destroy)
	require.Zero(t, other.changes.Load())
	require.Len(t, containersWith(t, e, sb.ID()), 1)
	require.NoError(t, q.Close())

	again := openAt(t, a.host, state)
	found, err = again.Reap(t.Context(), true)
	require.NoError(t, err)
	require.Len(t, found.Items, 1)
	require.Equal(t, sandbox.VerdictReap, found.Items[0].Verdict)
	require.Empty(t, containersWith(t, e, sb.ID()))
	require.NoError(t, again.Close())
}

// containersWith looks without the adapter.
func containersWith(t *testing.T, e *testengine.Engine, id string) []string {
	t.Helper()
	got, err := e.Client().ContainerInspect(t.Context(), id, client.ContainerInspectOptions{})
	if err != nil {
		require.True(t, cerrdefs.IsNotFound(err), err)
		return nil
	}
	return []string{got.Container.ID}
}
