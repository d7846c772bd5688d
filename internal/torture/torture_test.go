package torture

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/generated/registry"
	"github.com/agentworkforce/sbx/internal/testengine"
	"github.com/agentworkforce/sbx/providers/docker"
	"github.com/agentworkforce/sbx/sandbox"
)

var (
	kills = flag.Int("n", 4, "how many runs are killed at a random moment")
	seed  = flag.Uint64("seed", 0, "seed of the random moments; 0 takes one and prints it")
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("SBX_TORTURE_STATE"); dir != "" {
		os.Exit(childMain(dir, os.Getenv("SBX_TORTURE_KILL_AT")))
	}
	os.Exit(m.Run())
}

// TestTorture is the promise: whatever moment a run is killed at, a reap
// leaves nothing of it, and nothing else is touched.
func TestTorture(t *testing.T) {
	engine := testengine.Require(t, "docker")
	w := newWorld(t, engine)
	boundaries, life := w.measure(t)
	t.Logf("a life passes %d boundaries in %s", boundaries, life.Round(time.Millisecond))

	var atBoundary []func()
	for k := range boundaries {
		atBoundary = append(atBoundary, func() { w.kill(t, k+1, 0) })
	}
	w.batches(t, atBoundary)

	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("seed %d", *seed)
	random := rand.New(rand.NewPCG(*seed, 0))
	var atRandom []func()
	for range *kills {
		after := time.Duration(random.Float64() * 1.2 * float64(life))
		atRandom = append(atRandom, func() { w.kill(t, 0, after) })
	}
	w.batches(t, atRandom)
	t.Logf("%d runs killed at a boundary, %d at a random moment, %d of them ended first; 0 of ours left, 0 foreign and 0 kept touched",
		boundaries, *kills, w.survived.Load())
}

// world is one owner's state directory beside things that are not its own.
type world struct {
	engine        *testengine.Engine
	dir           string
	foreign, kept []string // container IDs that must be untouched at the end
	survived      atomic.Int64
	ours          string // the label that everything of this owner carries
}

func newWorld(t *testing.T, engine *testengine.Engine) *world {
	w := &world{engine: engine, dir: t.TempDir()}
	ctx := context.Background()
	// A neighbour with an owner of its own, and a container nobody labelled.
	neighbour := w.open(t, t.TempDir())
	w.foreign = append(w.foreign, w.create(t, neighbour, sandbox.Kept()))
	plain, err := engine.Client().ContainerCreate(ctx, client.ContainerCreateOptions{
		Config: &container.Config{Image: testengine.Image, Cmd: []string{"true"}}})
	require.NoError(t, err)
	w.foreign = append(w.foreign, plain.ID)
	// A run of ours that ended well and means to keep its sandbox.
	ours := w.open(t, w.dir)
	w.kept = append(w.kept, w.create(t, ours, sandbox.Kept()))
	require.NoError(t, errors.Join(ours.Close(), neighbour.Close()))
	owner, err := os.ReadFile(filepath.Join(w.dir, "sbx", "owner"))
	require.NoError(t, err)
	w.ours = "sbx.owner=" + strings.TrimSpace(string(owner))
	require.Empty(t, engine.Images(t, w.ours))
	t.Cleanup(func() { w.remove(t, slices.Concat(w.foreign, w.kept)) })
	return w
}

func (w *world) open(t *testing.T, dir string) *sandbox.Provider {
	p, err := sandbox.Open(context.Background(), docker.Driver(), sandbox.WithStateDir(dir))
	require.NoError(t, err)
	return p
}

func (w *world) create(t *testing.T, p *sandbox.Provider, opts ...sandbox.CreateOption) string {
	sb, err := p.Create(context.Background(), append(opts, sandbox.WithImage(testengine.Image))...)
	require.NoError(t, err)
	return sb.ID()
}

func (w *world) remove(t *testing.T, ids []string) {
	for _, id := range ids {
		_, err := w.engine.Client().ContainerRemove(context.Background(), id, client.ContainerRemoveOptions{Force: true})
		require.NoError(t, err)
	}
}

// measure lives one life to its end and says how many boundaries it has.
func (w *world) measure(t *testing.T) (boundaries int, life time.Duration) {
	began := time.Now()
	out, err := w.child(0).Output()
	life = time.Since(began)
	require.NoError(t, err, string(stderrOf(err)))
	_, err = fmt.Sscan(string(out), &boundaries)
	require.NoError(t, err)
	require.Greater(t, boundaries, 10, "the decorated table was not called")
	return boundaries, life
}

func (w *world) child(killAt int) *exec.Cmd {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "SBX_TORTURE_STATE="+w.dir, fmt.Sprintf("SBX_TORTURE_KILL_AT=%d", killAt))
	return cmd
}

func stderrOf(err error) []byte {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.Stderr
	}
	return nil
}

// kill lives one life that ends at a boundary, or after a while.
func (w *world) kill(t *testing.T, boundary int, after time.Duration) {
	cmd := w.child(boundary)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Errorf("start: %v", err)
		return
	}
	if boundary == 0 {
		timer := time.AfterFunc(after, func() {
			if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Errorf("kill: %v", err)
			}
		})
		defer timer.Stop()
	}
	err := cmd.Wait()
	switch status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); {
	case err == nil && boundary == 0:
		w.survived.Add(1)
	case ok && status.Signaled() && status.Signal() == syscall.SIGKILL:
	default:
		t.Errorf("boundary %d, after %s: not killed: %v\n%s", boundary, after, err, stderr.String())
	}
}

// batches runs a few lives at a time and reaps after each batch.
func (w *world) batches(t *testing.T, lives []func()) {
	const width = 4
	for batch := range slices.Chunk(lives, width) {
		var wg sync.WaitGroup
		for _, life := range batch {
			wg.Go(life)
		}
		wg.Wait()
		w.reap(t)
		w.count(t)
		if t.Failed() {
			t.FailNow()
		}
	}
}

// reap acts until nothing is open. A create whose client was killed may still
// be under way in the engine, so an intent without a thing is rightly unknown
// until the longest create has had its time: the second look is made by a clock
// an hour ahead.
func (w *world) reap(t *testing.T) {
	later := func() time.Time { return time.Now().Add(time.Hour) }
	w.reapOnce(t, time.Now)
	for end := time.Now().Add(30 * time.Second); ; {
		report := w.reapOnce(t, later)
		if !report.Unresolved() && !report.Unverified() {
			return
		}
		if time.Now().After(end) {
			for _, item := range report.Items {
				t.Logf("%+v", item)
			}
			t.Fatal("the reaper leaves something open")
		}
	}
}

func (w *world) reapOnce(t *testing.T, now func() time.Time) sandbox.ReapReport {
	report, err := sandbox.Reap(context.Background(), sandbox.ReapOptions{Drivers: registry.Lookup, StateDir: w.dir,
		Apply: true, Now: now, Open: []sandbox.Option{sandbox.WithClock(now)}})
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	return report
}

// count looks at the engine itself: nothing of the victims is left, and
// everybody else is as before.
func (w *world) count(t *testing.T) {
	require.Empty(t, w.engine.Images(t, w.ours), "images of killed runs are left")
	require.Equal(t, w.kept, w.engine.Containers(t, w.ours), "of ours, only the kept one is left")
	all := w.engine.Containers(t)
	for _, id := range slices.Concat(w.foreign, w.kept) {
		require.True(t, slices.ContainsFunc(all, func(c string) bool { return strings.HasPrefix(c, id) }), "%s is gone", id)
	}
	for _, id := range append(slices.Clone(w.kept), w.foreign[0]) {
		got, err := w.engine.Client().ContainerInspect(context.Background(), id, client.ContainerInspectOptions{})
		require.NoError(t, err)
		require.True(t, got.Container.State.Running, "%s was stopped", id)
	}
}
