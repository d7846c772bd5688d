package local_test

import (
	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/providers/local"
	sandbox "github.com/agentworkforce/sbx/sandbox"
	"testing"
)

// harness says how this provider is tested: how it is opened here, what every sandbox is created
// with, and, where the vendor gives a way, how to count what exists without the adapter.
func harness(tb testing.TB) conformance.Harness {
	tb.Helper()
	return conformance.Harness{
		Create: []sandbox.CreateOption{sandbox.WithImage("host")},
		Driver: local.Driver(),
		// Sandboxes are on this machine's own network.
		Witness: conformance.Witness{Address: "127.0.0.1"},
	}
}
