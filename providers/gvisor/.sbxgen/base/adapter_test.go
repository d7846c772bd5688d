package gvisor_test

import (
	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/providers/gvisor"
	"testing"
)

// harness says how this provider is tested: how it is opened here, what every sandbox is created
// with, and, where the vendor gives a way, how to count what exists without the adapter.
func harness(tb testing.TB) conformance.Harness {
	tb.Helper()
	return conformance.Harness{Driver: gvisor.Driver()}
}
