// Package acme is a provider.
package acme

import (
	"cmp"
	"context"
	"github.com/agentworkforce/sbx/generated/contract"
	"time"
)

// Adapter drives Acme.
type Adapter struct{}

func (a *Adapter) Create(ctx context.Context, req contract.CreateRequest) error {
	if req.Image == "" {
		req.Image = "alpine"
	}
	region := cmp.Or(req.Region, "eu")
	req.Lifetime = 10 * time.Minute
	return use(region)
}
