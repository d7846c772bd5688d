package sandbox_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// An endpoint that answers "not found" to who it is must not make a sandbox
// read as gone, in no operation.
func TestScopeIsNeverNotFound(t *testing.T) {
	w := newWorld(t)
	lost := false
	p := w.open(sandbox.WithTable(func(t contract.Table) contract.Table {
		scope := t.Scope
		t.Scope = func(ctx context.Context) (string, error) {
			if lost {
				return "", notFound("Scope", "x")
			}
			return scope(ctx)
		}
		return t
	}))
	s, err := p.Create(t.Context())
	require.NoError(t, err)
	lost = true
	_, err = p.Scope(t.Context())
	code(t, err, port.CodeUnavailable)
	_, err = p.Attach(t.Context(), s.ID(), sandbox.Adopt())
	code(t, err, port.CodeUnavailable)
	report, err := s.Destroy(t.Context())
	e := code(t, err, port.CodeUnavailable)
	require.Equal(t, port.OutcomeUnchanged, e.Outcome)
	require.NotErrorIs(t, err, port.Is(port.CodeNotFound))
	require.False(t, report.Acknowledged || report.VerifiedGone)
	require.Zero(t, w.c.count("Destroy"))
	lost = false
	report, err = s.Destroy(t.Context())
	require.NoError(t, err)
	require.True(t, report.VerifiedGone)
}
