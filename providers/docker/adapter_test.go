package docker_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/internal/testengine"
	"github.com/agentworkforce/sbx/providers/docker"
)

// harness runs the suite against the engine that answers here, with a small
// image made on the spot, and counts at the engine itself.
func harness(tb testing.TB) conformance.Harness {
	tb.Helper()
	h := testengine.Harness(tb, docker.Driver(), "docker")
	h.Endpoint.Transfer, h.Endpoint.Absent = pulls, absent
	return h
}

// absent is an image of a registry that nobody answers for.
const absent = "127.0.0.1:1/sbx-absent:1"

// pulls reports whether a request has the engine transfer an image.
func pulls(method, path string) bool {
	return method == http.MethodPost && strings.HasSuffix(path, "/images/create")
}
