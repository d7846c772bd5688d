package docker_test

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/internal/testengine"
	"github.com/agentworkforce/sbx/port"
)

// shelf is a registry on the loopback with one image in it. While held is not
// nil, layers are served only after it was closed.
type shelf struct {
	image string
	mu    sync.Mutex
	held  chan struct{}
	asked chan struct{}
}

func (s *shelf) hold(c chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = c
}

func newShelf(t *testing.T, w *world) *shelf {
	t.Helper()
	s := &shelf{asked: make(chan struct{}, 100)}
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		held := s.held
		s.mu.Unlock()
		if held != nil && r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") {
			s.asked <- struct{}{}
			select {
			case <-held:
			case <-r.Context().Done():
				return
			}
		}
		inner.ServeHTTP(rw, r)
	}))
	t.Cleanup(server.Close)
	s.image = strings.TrimPrefix(server.URL, "http://") + "/sbx-test/pulled:1"
	tag, err := name.NewTag(s.image)
	require.NoError(t, err)
	layer, err := random.Layer(3<<20, "application/vnd.docker.image.rootfs.diff.tar.gzip")
	require.NoError(t, err)
	img, err := mutate.AppendLayers(busybox(t, w), layer)
	require.NoError(t, err)
	require.NoError(t, remote.Write(tag, img))
	t.Cleanup(func() { s.drop(t, w) })
	return s
}

// busybox is the test image out of the engine.
func busybox(t *testing.T, w *world) v1.Image {
	t.Helper()
	img, err := tarball.Image(func() (io.ReadCloser, error) {
		return w.engine.Client().ImageSave(context.Background(), []string{testengine.Image})
	}, nil)
	require.NoError(t, err)
	return img
}

func (s *shelf) drop(t *testing.T, w *world) {
	_, err := w.engine.Client().ImageRemove(context.Background(), s.image, client.ImageRemoveOptions{PruneChildren: true})
	if err != nil && s.here(t, w) {
		t.Errorf("remove the pulled image: %v", err)
	}
}

func (s *shelf) here(t *testing.T, w *world) bool {
	t.Helper()
	found, err := w.engine.Client().ImageList(context.Background(),
		client.ImageListOptions{Filters: client.Filters{}.Add("reference", s.image)})
	require.NoError(t, err)
	return len(found.Items) > 0
}

func TestPull(t *testing.T) {
	w := open(t)
	s := newShelf(t, w)
	r := w.request()
	r.Image, r.Pull = s.image, contract.PullPolicyNever
	_, err := w.Create(t.Context(), r)
	hasCode(t, err, port.CodeNotFound)
	require.False(t, s.here(t, w))

	r.Pull = contract.PullPolicyMissing
	r.Image = strings.Replace(s.image, "pulled", "absent", 1)
	_, err = w.Create(t.Context(), r)
	hasCode(t, err, port.CodeNotFound)

	create := func(policy contract.PullPolicy) (phases map[string]bool, layers int64) {
		r := w.request()
		r.Image, r.Pull = s.image, policy
		var mu sync.Mutex
		phases = map[string]bool{}
		ctx := port.WithProgress(t.Context(), func(p port.Progress) {
			mu.Lock()
			defer mu.Unlock()
			phases[p.Phase] = true
			layers = max(layers, p.Total)
		})
		inst, err := w.Create(ctx, r)
		require.NoError(t, err)
		require.Equal(t, contract.StateRunning, inst.State)
		w.destroy(inst.ID)
		mu.Lock()
		defer mu.Unlock()
		return phases, layers
	}
	phases, total := create("")
	require.Equal(t, map[string]bool{"pull": true, "create": true, "start": true}, phases)
	require.Greater(t, total, int64(1<<20))
	phases, _ = create(contract.PullPolicyMissing)
	require.NotContains(t, phases, "pull")
	phases, _ = create(contract.PullPolicyAlways)
	require.Contains(t, phases, "pull")
	require.Empty(t, w.engine.Containers(t, "sbx.owner="+w.owner))
}

func TestPullCancelled(t *testing.T) {
	w := open(t)
	s := newShelf(t, w)
	held := make(chan struct{})
	s.hold(held)
	defer close(held)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		r := w.request()
		r.Image, r.Pull = s.image, contract.PullPolicyMissing
		_, err := w.Create(ctx, r)
		done <- err
	}()
	<-s.asked
	cancel()
	select {
	case err := <-done:
		hasCode(t, err, port.CodeCanceled)
		require.Equal(t, port.OutcomeUnchanged, port.OutcomeOf(err))
	case <-time.After(20 * time.Second):
		t.Fatal("the pull went on")
	}
	require.False(t, s.here(t, w))
	require.Empty(t, w.engine.Containers(t, "sbx.owner="+w.owner))
}
