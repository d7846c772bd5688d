package docker_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/internal/testengine"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/providers/docker"
)

func TestCreateInspectDestroy(t *testing.T) {
	w := open(t)
	ctx := t.Context()
	cpus, mem := 0.5, int64(64)
	r := w.request()
	r.Name, r.Labels = "sbx-test-"+word(t), map[string]string{"team": "a=b\n\"$x\"", "empty": ""}
	r.Resources = &contract.Resources{CPUs: &cpus, MemoryMiB: &mem}
	until := time.UnixMilli(4e12).UTC()
	r.Tags.ReapAfter = &until
	before := time.Now().Add(-2 * time.Second)
	made, err := w.Create(ctx, r)
	require.NoError(t, err)
	t.Cleanup(func() { w.destroy(made.ID) })
	inst, err := w.Inspect(ctx, made.ID)
	require.NoError(t, err)
	require.Equal(t, made, inst)
	require.Equal(t, contract.StateRunning, inst.State)
	require.Equal(t, "running", inst.NativeState)
	require.Equal(t, r.Name, inst.Name)
	require.Equal(t, r.Labels, inst.Labels)
	require.Equal(t, r.Tags, *inst.Tags)
	require.Equal(t, testengine.Image, inst.Image)
	require.Equal(t, contract.IsolationContainer, inst.Isolation)
	require.Equal(t, contract.FreshnessLive, inst.Freshness)
	require.Equal(t, *r.Resources, *inst.Resources)
	require.WithinRange(t, *inst.CreatedAt, before, time.Now().Add(2*time.Second))
	require.Len(t, inst.Phases, 2)
	require.Nil(t, inst.ExitCode)

	_, err = w.Inspect(ctx, r.Name) // a name is no identity
	hasCode(t, err, port.CodeNotFound)
	_, err = w.Inspect(ctx, made.ID[:12])
	hasCode(t, err, port.CodeNotFound)
	out, err := w.Destroy(ctx, r.Name)
	require.NoError(t, err)
	require.Equal(t, port.DestroyAlreadyAbsent, out)
	other := w.request()
	other.Name = r.Name
	_, err = w.Create(ctx, other)
	hasCode(t, err, port.CodeAlreadyExists)
	again, err := w.Create(ctx, r) // the same intent: its answer was lost
	require.NoError(t, err)
	require.Equal(t, made.ID, again.ID)

	out, err = w.Destroy(ctx, made.ID)
	require.NoError(t, err)
	require.Equal(t, port.DestroyAccepted, out)
	out, err = w.Destroy(ctx, made.ID)
	require.NoError(t, err)
	require.Equal(t, port.DestroyAlreadyAbsent, out)
	require.Empty(t, w.engine.Containers(t, "sbx.owner="+w.owner))
}

func TestCreateRefusesWithoutATrace(t *testing.T) {
	w := open(t)
	disk, zero, hour := int64(1), 0.0, time.Hour
	for name, c := range map[string]struct {
		code   port.Code
		change func(*contract.CreateRequest)
	}{
		"no image":          {port.CodeInvalidArgument, func(r *contract.CreateRequest) { r.Image = "" }},
		"two sources":       {port.CodeInvalidArgument, func(r *contract.CreateRequest) { r.FromSnapshot = "x" }},
		"no such image":     {port.CodeNotFound, func(r *contract.CreateRequest) { r.Image = "sbx-test/none:1" }},
		"bad image":         {port.CodeInvalidArgument, func(r *contract.CreateRequest) { r.Image = "UPPER CASE" }},
		"no such snapshot":  {port.CodeNotFound, func(r *contract.CreateRequest) { r.Image, r.FromSnapshot = "", "sha256:"+strings.Repeat("0", 64) }},
		"image as snapshot": {port.CodeNotFound, func(r *contract.CreateRequest) { r.Image, r.FromSnapshot = "", testengine.Image }},
		"deny all":          {port.CodeUnsupported, func(r *contract.CreateRequest) { r.Egress = &contract.EgressPolicy{Mode: contract.EgressModeDenyAll} }},
		"allow list":        {port.CodeUnsupported, func(r *contract.CreateRequest) { r.Egress = &contract.EgressPolicy{Mode: contract.EgressModeAllowList} }},
		"secrets":           {port.CodeUnsupported, func(r *contract.CreateRequest) { r.Secrets = []contract.BrokeredSecret{{}} }},
		"mounts":            {port.CodeUnsupported, func(r *contract.CreateRequest) { r.Mounts = []contract.Mount{{}} }},
		"lifetime":          {port.CodeUnsupported, func(r *contract.CreateRequest) { r.Lifetime = &hour }},
		"idle":              {port.CodeUnsupported, func(r *contract.CreateRequest) { r.IdleTimeout = &hour }},
		"class":             {port.CodeUnsupported, func(r *contract.CreateRequest) { r.Class = "big" }},
		"region":            {port.CodeUnsupported, func(r *contract.CreateRequest) { r.Region = "eu" }},
		"disk":              {port.CodeUnsupported, func(r *contract.CreateRequest) { r.Resources = &contract.Resources{DiskMiB: &disk} }},
		"no cpu":            {port.CodeInvalidArgument, func(r *contract.CreateRequest) { r.Resources = &contract.Resources{CPUs: &zero} }},
		"tiny memory":       {port.CodeInvalidArgument, func(r *contract.CreateRequest) { r.Resources = &contract.Resources{MemoryMiB: &disk} }},
		"our label":         {port.CodeInvalidArgument, func(r *contract.CreateRequest) { r.Labels = map[string]string{"sbx.owner": "me"} }},
		"no owner":          {port.CodeInvalidArgument, func(r *contract.CreateRequest) { r.Tags.Owner = "" }},
		"bad variable":      {port.CodeInvalidArgument, func(r *contract.CreateRequest) { r.Env = map[string]string{"A=B": "x"} }},
		"ports, no network": {port.CodeUnsupported, func(r *contract.CreateRequest) { r.Ports = []int64{80} }},
		"pull policy":       {port.CodeInvalidArgument, func(r *contract.CreateRequest) { r.Pull = "sometimes" }},
	} {
		t.Run(name, func(t *testing.T) {
			r := w.request()
			c.change(&r)
			inst, err := w.Create(t.Context(), r)
			hasCode(t, err, c.code)
			require.Empty(t, inst.ID)
			require.Equal(t, port.OutcomeUnchanged, port.OutcomeOf(err))
		})
	}
	require.Empty(t, w.engine.Containers(t, "sbx.owner="+w.owner))
}

func TestCreateHalfway(t *testing.T) {
	w := open(t)
	e := w.engine
	a, err := docker.New(t.Context(), docker.Config{Host: e.Host, Network: "sbx-no-such-network"})
	require.NoError(t, err)
	inst, err := a.Create(t.Context(), w.request())
	require.Error(t, err)
	if inst.ID != "" { // engines differ in when they look for the network
		require.Equal(t, port.OutcomeDone, port.OutcomeOf(err))
		out, err := a.Destroy(t.Context(), inst.ID)
		require.NoError(t, err)
		require.Equal(t, port.DestroyAccepted, out)
	}
	require.Empty(t, e.Containers(t, "sbx.owner="+w.owner))
}

func TestForeignContainersAreLeftAlone(t *testing.T) {
	w := open(t)
	ctx := t.Context()
	cli := w.engine.Client()
	for _, labels := range []map[string]string{nil, {"sbx.provider": "other", "sbx.kind": "sandbox", "sbx.owner": w.owner}} {
		made, err := cli.ContainerCreate(ctx, client.ContainerCreateOptions{
			Config:     &container.Config{Image: testengine.Image, Cmd: []string{"sleep", "1000"}, Labels: labels},
			HostConfig: &container.HostConfig{NetworkMode: "none"}})
		require.NoError(t, err)
		t.Cleanup(func() {
			_, err := cli.ContainerRemove(context.Background(), made.ID, client.ContainerRemoveOptions{Force: true})
			require.NoError(t, err)
		})
		_, err = cli.ContainerStart(ctx, made.ID, client.ContainerStartOptions{})
		require.NoError(t, err)
		out, err := w.Destroy(ctx, made.ID)
		require.NoError(t, err)
		require.Equal(t, port.DestroyAlreadyAbsent, out)
		_, err = w.Inspect(ctx, made.ID)
		hasCode(t, err, port.CodeNotFound)
		_, err = w.Exec(ctx, made.ID, contract.Command{Script: ":"})
		hasCode(t, err, port.CodeNotFound)
		_, err = w.Stop(ctx, made.ID)
		hasCode(t, err, port.CodeNotFound)
		_, err = w.Fork(ctx, made.ID, contract.ForkRequest{Keeps: contract.KeepsDisk, Tags: w.tags()})
		hasCode(t, err, port.CodeNotFound)
		all, err := w.List(ctx, contract.ListRequest{})
		require.NoError(t, err)
		for _, inst := range all {
			require.NotEqual(t, made.ID, inst.ID)
		}
		now, err := cli.ContainerInspect(ctx, made.ID, client.ContainerInspectOptions{})
		require.NoError(t, err)
		require.True(t, now.Container.State.Running)
	}
}

func TestList(t *testing.T) {
	w := open(t)
	ctx := t.Context()
	x := w.create(func(r *contract.CreateRequest) { r.Labels = map[string]string{"k": "x", "all": "1"} })
	y := w.create(func(r *contract.CreateRequest) { r.Labels = map[string]string{"k": "y", "all": "1"} })
	_, err := w.Stop(ctx, y)
	require.NoError(t, err)
	mine := &contract.Tags{Owner: w.owner}
	ids := func(r contract.ListRequest) (ids []string) {
		all, err := w.List(ctx, r)
		require.NoError(t, err)
		for _, i := range all {
			ids = append(ids, i.ID)
			require.Equal(t, contract.FreshnessLive, i.Freshness)
			require.Equal(t, w.owner, i.Tags.Owner)
		}
		return ids
	}
	require.ElementsMatch(t, []string{x, y}, ids(contract.ListRequest{Tags: mine}))
	require.Equal(t, []string{y}, ids(contract.ListRequest{Tags: mine, Labels: map[string]string{"k": "y", "all": "1"}}))
	require.Equal(t, []string{x}, ids(contract.ListRequest{Tags: mine, States: []contract.State{contract.StateRunning}}))
	require.Empty(t, ids(contract.ListRequest{Tags: mine, Labels: map[string]string{"k": "z"}}))
	require.Empty(t, ids(contract.ListRequest{Tags: &contract.Tags{Owner: w.owner, Run: "other"}}))
}

func TestStopSuspendRestart(t *testing.T) {
	w := open(t)
	ctx := t.Context()
	id := w.create()
	w.output(id, "echo kept >/kept; (n=0; while :; do n=$((n + 1)); echo $n >/t; mv /t /tick; sleep 0.02; done) >/dev/null 2>&1 &")
	step := func(f func(context.Context, string) (contract.Instance, error), want contract.State) contract.Instance {
		t.Helper()
		inst, err := f(ctx, id)
		require.NoError(t, err)
		require.Equal(t, want, inst.State)
		return inst
	}
	step(w.Suspend, contract.StateSuspended)
	step(w.Suspend, contract.StateSuspended)
	_, err := w.Stop(ctx, id)
	hasCode(t, err, port.CodeFailedPrecondition)
	_, err = w.Start(ctx, id)
	hasCode(t, err, port.CodeFailedPrecondition)
	step(w.Resume, contract.StateRunning)
	step(w.Resume, contract.StateRunning)
	tick := w.output(id, "cat /tick; sleep 0.2; cat /tick")
	a, b, _ := strings.Cut(strings.TrimSpace(tick), "\n")
	require.NotEqual(t, a, b, "the process did not survive the suspension")

	began := time.Now()
	inst := step(w.Stop, contract.StateStopped)
	require.Less(t, time.Since(began), 5*time.Second)
	require.NotNil(t, inst.ExitCode)
	step(w.Stop, contract.StateStopped)
	for _, f := range []func(context.Context, string) (contract.Instance, error){w.Suspend, w.Resume, w.Restart} {
		_, err := f(ctx, id)
		hasCode(t, err, port.CodeFailedPrecondition)
	}
	step(w.Start, contract.StateRunning)
	step(w.Start, contract.StateRunning)
	step(w.Restart, contract.StateRunning)
	require.Equal(t, "kept\n", w.output(id, "cat /kept"))
	step(w.Suspend, contract.StateSuspended)
	out, err := w.Destroy(ctx, id)
	require.NoError(t, err)
	require.Equal(t, port.DestroyAccepted, out)
	_, err = w.Start(ctx, id)
	hasCode(t, err, port.CodeNotFound)
}

func TestPortsLogsMetrics(t *testing.T) {
	w := open(t)
	e := w.engine
	a, err := docker.New(t.Context(), docker.Config{Host: e.Host})
	require.NoError(t, err)
	w.Adapter = a
	id := w.create(func(r *contract.CreateRequest) { r.Ports = []int64{8080, 9090} })
	ctx := t.Context()
	w.output(id, "mkdir /www && echo served >/www/index.html && httpd -p 8080 -h /www")
	access, err := w.PortURL(ctx, id, 8080)
	require.NoError(t, err)
	require.Equal(t, contract.PortAudienceHost, access.Audience)
	require.True(t, strings.HasPrefix(access.URL, "http://127.0.0.1:"))
	resp, err := http.Get(access.URL)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, 200, resp.StatusCode)
	_, err = w.PortURL(ctx, id, 81)
	hasCode(t, err, port.CodeFailedPrecondition)

	began := time.Now()
	w.output(id, "for i in 1 2 3; do echo line $i >/proc/1/fd/1; done")
	follow, err := w.Logs(ctx, id, contract.LogsRequest{Follow: true, Since: &began})
	require.NoError(t, err)
	lines := bufio.NewScanner(follow)
	for _, want := range []string{"line 1", "line 2", "line 3", "problem"} {
		if want == "problem" {
			w.output(id, "echo problem >/proc/1/fd/2")
		}
		require.True(t, lines.Scan())
		require.Equal(t, want, lines.Text())
	}
	require.NoError(t, follow.Close())
	two, none := int64(2), int64(0)
	for _, c := range []struct {
		req  contract.LogsRequest
		want string
	}{
		{contract.LogsRequest{}, "line 1\nline 2\nline 3\nproblem\n"},
		{contract.LogsRequest{Tail: &two}, "line 3\nproblem\n"},
		{contract.LogsRequest{Tail: &none}, ""},
	} {
		logs, err := w.Logs(ctx, id, c.req)
		require.NoError(t, err)
		all, err := io.ReadAll(logs)
		require.NoError(t, err)
		require.Equal(t, c.want, string(all))
		require.NoError(t, logs.Close())
	}

	m, err := w.Metrics(ctx, id)
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), m.At, time.Minute)
	require.Positive(t, *m.CPUTotal)
	require.Positive(t, *m.MemoryBytes)
	require.GreaterOrEqual(t, *m.Processes, int64(2))
	require.Positive(t, *m.NetworkReceivedBytes)
	require.Nil(t, m.CPUPercent)
	_, err = w.Stop(ctx, id)
	require.NoError(t, err)
	_, err = w.Metrics(ctx, id)
	hasCode(t, err, port.CodeFailedPrecondition)
	_, err = w.PortURL(ctx, id, 8080)
	hasCode(t, err, port.CodeFailedPrecondition)
}
