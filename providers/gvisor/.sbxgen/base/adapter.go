// Package gvisor drives gVisor sandboxes. Describe the vendor in
// provider.yaml, write the methods below, then run `sbxgen checklist gvisor`
// to see what is left.
package gvisor

import (
	"context"
	"github.com/agentworkforce/sbx/providers/docker"
)

// Adapter is Docker's adapter with what is different about gVisor. Methods written here replace
// its own.
type Adapter struct {
	*docker.Adapter
}

// New makes an adapter from resolved settings. It reads no environment.
func New(ctx context.Context, cfg Config) (*Adapter, error) {
	base, err := docker.New(ctx, docker.Config{
		APIVersion: cfg.APIVersion,
		CertPath:   cfg.CertPath,
		Host:       cfg.Host,
		Runtime:    cfg.Runtime,
		TLSVerify:  cfg.TLSVerify,
	})
	if err != nil {
		return nil, err
	}
	return &Adapter{Adapter: base}, nil
}
