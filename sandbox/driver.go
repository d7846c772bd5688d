package sandbox

import (
	"context"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// Error is the one error type of the library; see port.Error.
type Error = port.Error

// Driver makes one provider available. It is generated per provider and holds
// no state.
type Driver struct {
	ID       string
	Manifest contract.Manifest
	// Open makes the adapter from resolved settings. It makes no vendor call
	// unless it has to, and reads no environment.
	Open func(ctx context.Context, s port.Settings) (contract.Adapter, error)
}
