// Package gvisor runs sandboxes as containers of a Docker Engine whose runtime
// is gVisor's runsc: a kernel of their own in user space. It is the docker
// adapter with another runtime and without a network, so that it works where
// runsc cannot have one; what needs a network is not offered.
package gvisor

import (
	"context"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/providers/docker"
)

// base has what is passed on. The interfaces are named one by one, because
// embedding the docker adapter would also pass on its ports.
type base interface {
	contract.Adapter
	contract.Lister
	contract.FileReadWriter
	contract.FileManager
	contract.Streamer
	contract.PTYOpener
	contract.Stopper
	contract.Suspender
	contract.Snapshotter
	contract.Forker
	contract.LogReader
	contract.MetricsReader
	contract.Restarter
	Close() error
}

// Adapter drives one Docker Engine with the runtime runsc. It sees its own
// sandboxes only, not those of the docker provider on the same engine.
type Adapter struct{ base }

// New returns an adapter for the engine that cfg names. It makes no network
// call. A configuration that can never work is CodeInvalidArgument.
func New(ctx context.Context, cfg Config) (*Adapter, error) {
	runtime := cfg.Runtime
	if runtime == "" {
		runtime = "runsc"
	}
	d, err := docker.NewVariant(ctx, docker.Config{Host: cfg.Host, TLSVerify: cfg.TLSVerify,
		CertPath: cfg.CertPath, APIVersion: cfg.APIVersion},
		docker.Variant{ProviderID: "gvisor", Runtime: runtime, Network: "none", Isolation: contract.IsolationUserKernel})
	if err != nil {
		return nil, err
	}
	return &Adapter{base: d}, nil
}

// Create is the docker adapter's, but refuses every egress policy: a sandbox has no
// network, so nothing enforces one. It reaches nothing without a policy.
func (a *Adapter) Create(ctx context.Context, request contract.CreateRequest) (contract.Instance, error) {
	if request.Egress != nil {
		return contract.Instance{}, &port.Error{Code: port.CodeUnsupported, Op: "Create", Provider: "gvisor",
			Outcome: port.OutcomeUnchanged, Reason: "a sandbox has no network here, and no policy changes that"}
	}
	return a.base.Create(ctx, request)
}
