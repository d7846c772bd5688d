//go:build unix

package conformance_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/conformance/faults"
	"github.com/agentworkforce/sbx/conformance/reference"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// harness is that of the reference vendor in memory.
func harness(t testing.TB, traits reference.Traits) conformance.Harness {
	t.Helper()
	v, err := reference.New(t.TempDir(), traits)
	require.NoError(t, err)
	return conformance.Harness{Driver: v.Driver(), Count: v.Count, Page: reference.Page,
		Witness: conformance.Witness{Address: "127.0.0.1", Name: "localhost"},
		Options: []sandbox.Option{sandbox.WithSecret("token", port.NewSecret(reference.Token))}}
}

// remote is that of the same vendor over HTTP, with an endpoint in which faults
// can be put.
func remote(t testing.TB, traits reference.Traits) conformance.Harness {
	t.Helper()
	v, err := reference.New(t.TempDir(), traits)
	require.NoError(t, err)
	s, err := v.Serve(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	const limit = `{"error":{"code":"quota_exceeded","message":"all sandboxes of the account are in use"}}`
	return conformance.Harness{Driver: v.RemoteDriver(s.Address()), Count: v.Count, Page: reference.Page,
		Witness: conformance.Witness{Address: "127.0.0.1", Name: "localhost"},
		Options: []sandbox.Option{sandbox.WithSecret("token", port.NewSecret(reference.Token))},
		Endpoint: conformance.Endpoint{Network: "tcp", Address: s.Address(),
			Through: func(address string) sandbox.Option { return sandbox.WithSetting("host", address) },
			Limits: []faults.Fault{{Status: http.StatusForbidden, Body: limit}, {Status: http.StatusTooManyRequests, Body: limit},
				{Status: http.StatusBadGateway, Body: limit}},
			Transfer: func(_, path string) bool { return strings.HasSuffix(path, "/Transfer") }, Absent: reference.ColdImage}}
}
