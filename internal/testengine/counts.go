package testengine

import (
	"context"
	"slices"
	"testing"

	"github.com/moby/moby/client"
)

// Client is a client of the engine of its own, for what a test has to do
// behind the adapter's back.
func (e *Engine) Client() *client.Client { return e.cli }

// Containers are the IDs of all containers, in every state, that carry all
// these labels ("key=value"), sorted.
func (e *Engine) Containers(t testing.TB, labels ...string) []string {
	t.Helper()
	found, err := e.cli.ContainerList(t.Context(), client.ContainerListOptions{All: true, Filters: filters(labels)})
	if err != nil {
		t.Fatalf("count containers: %v", err)
	}
	ids := make([]string, 0, len(found.Items))
	for _, c := range found.Items {
		ids = append(ids, c.ID)
	}
	slices.Sort(ids)
	return ids
}

// Images are the IDs of all images, intermediate ones too, that carry all
// these labels, sorted.
func (e *Engine) Images(t testing.TB, labels ...string) []string {
	t.Helper()
	found, err := e.cli.ImageList(t.Context(), client.ImageListOptions{All: true, Filters: filters(labels)})
	if err != nil {
		t.Fatalf("count images: %v", err)
	}
	ids := make([]string, 0, len(found.Items))
	for _, i := range found.Items {
		ids = append(ids, i.ID)
	}
	slices.Sort(ids)
	return ids
}

func filters(labels []string) client.Filters {
	if len(labels) == 0 {
		return nil
	}
	return client.Filters{}.Add("label", labels...)
}

// Count counts, by kind, what carries these labels: containers are sandboxes,
// images are snapshots. It asks the engine, not an adapter.
func (e *Engine) Count(ctx context.Context, labels ...string) (map[string]int, error) {
	containers, err := e.cli.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: filters(labels)})
	if err != nil {
		return nil, err
	}
	images, err := e.cli.ImageList(ctx, client.ImageListOptions{All: true, Filters: filters(labels)})
	if err != nil {
		return nil, err
	}
	return map[string]int{"sandbox": len(containers.Items), "snapshot": len(images.Items)}, nil
}
