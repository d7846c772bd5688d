package docker

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/moby/moby/client"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// Variant is what another provider changes when it builds on this adapter.
type Variant struct {
	// ProviderID marks everything the adapter creates and names it in errors.
	// One engine can serve several variants: each sees only its own sandboxes.
	ProviderID string
	// Runtime and Network are used where Config leaves them empty.
	Runtime string
	Network string
	// Isolation is what Runtime gives; empty lets the adapter judge by the
	// runtime's name.
	Isolation contract.Isolation
}

// Adapter drives one Docker Engine. It is stateless and keyed by container ID,
// and safe for concurrent use. It reads no environment and starts no goroutine
// that outlives a command.
type Adapter struct {
	cfg     Config
	variant Variant
	cli     *client.Client
	raw     rawClient

	negotiated atomic.Bool
	engine     atomic.Pointer[identity]
	// known holds, by container ID, the image that a fork made for it, "" for
	// none, of containers whose labels were read. An ID and its labels never
	// change at the engine, so this saves round trips and can be neither stale
	// nor wrong; it says nothing of existence.
	known sync.Map
}

// New returns an adapter for the engine that cfg names. It makes no network
// call. A configuration that can never work is CodeInvalidArgument.
func New(ctx context.Context, cfg Config) (*Adapter, error) {
	return NewVariant(ctx, cfg, Variant{ProviderID: "docker"})
}

// NewVariant is New for a provider that is this one with another runtime.
func NewVariant(_ context.Context, cfg Config, variant Variant) (*Adapter, error) {
	if cfg.Runtime == "" {
		cfg.Runtime = variant.Runtime
	}
	if cfg.Network == "" {
		cfg.Network = variant.Network
	}
	cli, raw, err := connect(cfg)
	if err != nil {
		return nil, &port.Error{Code: port.CodeInvalidArgument, Op: "Open", Provider: variant.ProviderID,
			Outcome: port.OutcomeUnchanged, Reason: "the engine's address or certificates cannot be used", Err: err}
	}
	return &Adapter{cfg: cfg, variant: variant, cli: cli, raw: raw}, nil
}

// Close releases idle connections.
func (a *Adapter) Close() error {
	a.raw.http.CloseIdleConnections()
	return a.cli.Close()
}
