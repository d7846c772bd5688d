// Package acme is a provider.
package acme

import (
	"context"
	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// Adapter drives Acme.
type Adapter struct{}

// Stop stops.
func (a *Adapter) Stop(ctx context.Context, id contract.ID) error {
	return port.NotImplemented("Stop")
}

// OpenPTY is not claimed.
func (a *Adapter) OpenPTY(ctx context.Context) error { return port.NotImplemented("OpenPTY") }
