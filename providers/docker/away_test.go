package docker_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/providers/docker"
)

func TestEngineAway(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	closed := free.Addr().String()
	require.NoError(t, free.Close())
	for _, host := range []string{"unix://" + filepath.Join(dir, "none.sock"), "tcp://" + closed} {
		a, err := docker.New(ctx, docker.Config{Host: host})
		require.NoError(t, err)
		_, err = a.Scope(ctx)
		hasCode(t, err, port.CodeUnavailable)
		_, err = a.List(ctx, contract.ListRequest{})
		hasCode(t, err, port.CodeUnavailable)
		_, err = a.Create(ctx, contract.CreateRequest{Image: "x", Tags: contract.Tags{Owner: "o"}})
		hasCode(t, err, port.CodeUnavailable)
		require.Equal(t, port.OutcomeUnchanged, port.OutcomeOf(err))
		_, err = a.Destroy(ctx, strings.Repeat("a", 64))
		hasCode(t, err, port.CodeUnavailable)
	}
	for _, cfg := range []docker.Config{{Host: "nonsense"}, {Host: "ssh://me@there"}, {TLSVerify: true}, {CertPath: dir},
		{TLSVerify: true, CertPath: dir}, {APIVersion: "x"}} {
		_, err := docker.New(ctx, cfg)
		hasCode(t, err, port.CodeInvalidArgument)
	}
}

// An engine that dies in the middle of a change leaves its outcome open.
func TestEngineDies(t *testing.T) {
	sock := filepath.Join(t.TempDir(), "e.sock")
	l, err := net.Listen("unix", sock)
	require.NoError(t, err)
	id := strings.Repeat("a", 64)
	served := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Api-Version", "1.41")
		rw.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/_ping"):
		case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, id+"/json"):
			fmt.Fprintf(rw, `{"Id":%q,"State":{"Status":"running","Running":true},"HostConfig":{},
				"Config":{"Labels":{"sbx.provider":"docker","sbx.kind":"sandbox"}}}`, id)
		case r.Method == http.MethodGet:
			rw.WriteHeader(http.StatusInternalServerError)
		default:
			panic(http.ErrAbortHandler)
		}
	})}
	go func() {
		if err := served.Serve(l); err != nil && err != http.ErrServerClosed {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	t.Cleanup(func() { require.NoError(t, served.Close()) })
	a, err := docker.New(t.Context(), docker.Config{Host: "unix://" + sock})
	require.NoError(t, err)
	ctx := t.Context()
	inst, err := a.Create(ctx, contract.CreateRequest{Image: "x", Tags: contract.Tags{Owner: "o"}})
	hasCode(t, err, port.CodeOutcomeUnknown)
	require.Empty(t, inst.ID)
	_, err = a.Destroy(ctx, id)
	hasCode(t, err, port.CodeOutcomeUnknown)
	_, err = a.Stop(ctx, id)
	hasCode(t, err, port.CodeOutcomeUnknown)
	_, err = a.List(ctx, contract.ListRequest{})
	hasCode(t, err, port.CodeUnavailable)
	_, err = a.ListSnapshots(ctx)
	hasCode(t, err, port.CodeUnavailable)
	_, err = a.Exec(ctx, id, contract.Command{Script: ":"})
	require.Error(t, err)
}

func TestScope(t *testing.T) {
	w := open(t)
	info, err := w.engine.Client().Info(t.Context(), client.InfoOptions{})
	require.NoError(t, err)
	scope, err := w.Scope(t.Context())
	require.NoError(t, err)
	require.Equal(t, info.Info.ID, scope)
	require.NotEmpty(t, scope)
}
