package docker_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"context"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/internal/testengine"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/providers/docker"
)

// BenchmarkLife compares one sandbox's life, verified gone at its end, through
// the adapter and through bare HTTP on the engine's socket, turn by turn in
// one run. It reports the medians and their ratio.
func BenchmarkLife(b *testing.B) {
	e := testengine.Require(b)
	if e.Host != "" && !strings.HasPrefix(e.Host, "unix://") {
		b.Skip("the bare path speaks to a unix socket")
	}
	a, err := docker.New(b.Context(), docker.Config{Host: e.Host, Network: "none"})
	require.NoError(b, err)
	raw := newBare(strings.TrimPrefix(e.Host, "unix://"))
	bareLife(b, raw)
	adapterLife(b, a)
	var bare, ours [][]time.Duration
	b.ResetTimer()
	for b.Loop() {
		bare = append(bare, bareLife(b, raw))
		ours = append(ours, adapterLife(b, a))
	}
	total := 0.0
	for i, step := range []string{"create+start", "exec", "destroy+gone", "total"} {
		x, y := median(bare, i), median(ours, i)
		b.ReportMetric(x, step+"-bare-ms")
		b.ReportMetric(y, step+"-ms")
		total = y / x
	}
	b.ReportMetric(total, "ratio")
	b.ReportMetric(0, "ns/op")
}

func median(runs [][]time.Duration, i int) float64 {
	var all []time.Duration
	for _, r := range runs {
		all = append(all, r[i])
	}
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds()) / 1000
}

// stopwatch returns the time of each step and, last, of all of them.
func stopwatch(steps ...func()) []time.Duration {
	var out []time.Duration
	begin := time.Now()
	for _, step := range steps {
		at := time.Now()
		step()
		out = append(out, time.Since(at))
	}
	return append(out, time.Since(begin))
}

func adapterLife(b *testing.B, a *docker.Adapter) []time.Duration {
	ctx := b.Context()
	var id string
	return stopwatch(func() {
		made, err := a.Create(ctx, contract.CreateRequest{Image: testengine.Image, Tags: contract.Tags{Owner: "bench"}})
		require.NoError(b, err)
		id = made.ID
	}, func() {
		res, err := a.Exec(ctx, id, contract.Command{Argv: []string{"echo", "hi"}})
		require.NoError(b, err)
		require.Equal(b, "hi\n", string(res.Stdout))
	}, func() {
		_, err := a.Destroy(ctx, id)
		require.NoError(b, err)
		_, err = a.Inspect(ctx, id)
		require.ErrorIs(b, err, port.Is(port.CodeNotFound))
	})
}

// bare is HTTP on a unix socket.
type bare struct{ http *http.Client }

func newBare(socket string) bare {
	if socket == "" {
		socket = "/var/run/docker.sock"
	}
	return bare{&http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}}
}

func (c bare) call(b *testing.B, method, path string, in, out any) int {
	body, err := json.Marshal(in)
	require.NoError(b, err)
	req, err := http.NewRequestWithContext(b.Context(), method, "http://engine/v1.41"+path, bytes.NewReader(body))
	require.NoError(b, err)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	require.NoError(b, err)
	answer, err := io.ReadAll(resp.Body)
	require.NoError(b, err)
	require.NoError(b, resp.Body.Close())
	if out != nil {
		require.NoError(b, json.Unmarshal(answer, out), "%s", answer)
	}
	return resp.StatusCode
}

func bareLife(b *testing.B, c bare) []time.Duration {
	var made, run struct{ ID string }
	return stopwatch(func() {
		c.call(b, "POST", "/containers/create", map[string]any{"Image": testengine.Image,
			"Entrypoint": []string{"sleep", "3600"}, "HostConfig": map[string]any{"NetworkMode": "none"}}, &made)
		require.Equal(b, 204, c.call(b, "POST", "/containers/"+made.ID+"/start", nil, nil))
	}, func() {
		c.call(b, "POST", "/containers/"+made.ID+"/exec", map[string]any{"AttachStdout": true, "AttachStderr": true,
			"Cmd": []string{"echo", "hi"}}, &run)
		require.Equal(b, 200, c.call(b, "POST", "/exec/"+run.ID+"/start", map[string]any{}, nil))
		var end struct{ ExitCode *int }
		c.call(b, "GET", "/exec/"+run.ID+"/json", nil, &end)
		require.Zero(b, *end.ExitCode)
	}, func() {
		require.Equal(b, 204, c.call(b, "DELETE", fmt.Sprintf("/containers/%s?force=1&v=1", made.ID), nil, nil))
		require.Equal(b, 404, c.call(b, "GET", "/containers/"+made.ID+"/json", nil, nil))
	})
}
