package docker_test

import (
	"testing"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/internal/testengine"
	"github.com/agentworkforce/sbx/providers/docker"
)

// harness runs the suite against the engine that answers here, with a small
// image made on the spot, and counts at the engine itself.
func harness(tb testing.TB) conformance.Harness {
	tb.Helper()
	return testengine.Harness(tb, docker.Driver(), "docker")
}
