// Package acme is a provider.
package acme

import (
	"context"
	"net/http"
)

// Adapter drives Acme.
type Adapter struct{}

func (a *Adapter) Inspect(ctx context.Context, id string) error {
	res, err := http.Get("https://api.acme.example/v1/" + id)
	if err != nil {
		return err
	}
	use(http.DefaultClient, context.TODO())
	return a.wait(context.Background(), res)
}
