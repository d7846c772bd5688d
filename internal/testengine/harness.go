package testengine

import (
	"context"
	"crypto/rand"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/moby/moby/client"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/sandbox"
)

// ownerVariable hands the owner to the processes that the suite starts to be
// killed: they call Harness again and must be the same owner.
const ownerVariable = "SBX_TESTENGINE_OWNER"

// Harness is the conformance harness of a provider that runs on an engine. Where
// there is none the checks that need it are unknown, unless SBX_REQUIRE names
// what is missing: then the test fails. What exists is counted by the engine
// itself, for an owner that only this run has, so that runs side by side do not
// count each other.
func Harness(tb testing.TB, driver sandbox.Driver, needs ...string) conformance.Harness {
	tb.Helper()
	owner := os.Getenv(ownerVariable)
	if owner == "" {
		owner = strings.ToLower("t" + rand.Text()[:15])
		tb.Setenv(ownerVariable, owner)
	}
	h := conformance.Harness{Driver: driver,
		Options: []sandbox.Option{sandbox.WithOwner(owner)},
		Create:  []sandbox.CreateOption{sandbox.WithImage(Image)}}
	e, err := Find(tb.Context(), needs...)
	if err != nil {
		RequireNamed(tb, err)
		h.Preflight = func(context.Context) error { return err }
		return h
	}
	tb.Cleanup(func() {
		if err := e.cli.Close(); err != nil {
			tb.Errorf("close the engine client: %v", err)
		}
	})
	h.Witness.Address = e.gateway(tb.Context())
	if path, ok := strings.CutPrefix(e.cli.DaemonHost(), "unix://"); ok {
		h.Endpoint = conformance.Endpoint{Network: "unix", Address: path,
			Through: func(address string) sandbox.Option { return sandbox.WithSetting("host", address) }}
	}
	h.Count = func(ctx context.Context) (map[string]int, error) { return e.Count(ctx, "sbx.owner="+owner) }
	return h
}

// gateway is this machine's address on the engine's default network, which is
// what a container on it reaches; empty when the engine is elsewhere or has none.
func (e *Engine) gateway(ctx context.Context) string {
	found, err := e.cli.NetworkInspect(ctx, "bridge", client.NetworkInspectOptions{})
	if err != nil {
		return ""
	}
	here, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	for _, config := range found.Network.IPAM.Config {
		for _, a := range here {
			if own, err := netip.ParsePrefix(a.String()); err == nil && config.Subnet.Contains(own.Addr()) {
				return own.Addr().String()
			}
		}
	}
	return ""
}
