package conformance

import (
	"context"
	"net/http"
	"time"

	"github.com/agentworkforce/sbx/conformance/faults"
	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/sandbox"
)

// between is a provider that talks to the vendor through a stand-in.
type between struct {
	*trial
	p     *sandbox.Provider
	table contract.Table // past the library
	proxy *faults.Proxy
	sb    *sandbox.Sandbox
}

// stand opens the provider through a stand-in.
func (t *trial) stand(ctx context.Context) (*between, error) {
	e := t.s.h.Endpoint
	if e.Through == nil {
		return nil, unknown(NotAttempted, "there is no endpoint of the vendor that a stand-in could take the place of")
	}
	b := &between{trial: t}
	var err error
	if b.proxy, err = faults.New(ctx, e.Network, e.Address); err != nil {
		return nil, err
	}
	t.cleanup(func(context.Context) error { return b.proxy.Close() })
	b.p, err = t.open(ctx, e.Through(b.proxy.Address()), sandbox.WithDeadlines(quick()),
		sandbox.WithTable(func(table contract.Table) contract.Table {
			b.table = table
			return table
		}))
	return b, err
}

// spoiled gives a check a sandbox behind a stand-in; the fault ends before the
// teardown begins.
func spoiled(fn func(context.Context, *between) error) func(context.Context, *trial) error {
	return func(ctx context.Context, t *trial) error {
		b, err := t.stand(ctx)
		if err != nil {
			return err
		}
		if b.sb, err = t.attempt(ctx, b.p, sandbox.SkipReady()); err != nil {
			return unknown(NoInstanceCreated, "%v", err)
		}
		t.cleanup(func(context.Context) error { b.proxy.Set(faults.Fault{}); return nil })
		if err := b.ready(ctx); err != nil {
			return unknown(NoInstanceCreated, "behind the stand-in it does not become usable: %v", err)
		}
		return fn(ctx, b)
	}
}

func (b *between) ready(ctx context.Context) error {
	return b.until(ctx, 30*time.Second, func() (bool, error) {
		res, err := b.table.Exec(ctx, b.sb.ID(), contract.Command{Script: "exit 0", Timeout: execLimit})
		return err == nil && res.ExitCode == 0, err
	})
}

// under applies a fault while call runs, and requires that it met a request.
func (b *between) under(f faults.Fault, call func() error) error {
	b.proxy.Set(f)
	defer b.proxy.Set(faults.Fault{})
	err := call()
	if b.proxy.Spoiled() == 0 {
		return unknown(NotAttempted, "no request of the call could be spoiled this way")
	}
	return err
}

func changing(method, _ string) bool { return method != http.MethodGet && method != http.MethodHead }

func reading(method, path string) bool { return !changing(method, path) }
