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

// What the ledger says was made in another account is not "not found" in this one.
func TestAttachUnderAnotherAccountIsUnknown(t *testing.T) {
	w := newWorld(t)
	s, err := w.open().Create(t.Context())
	require.NoError(t, err)
	w.c.scope = "account-2"
	p := w.open(table(func(tb *contract.Table) {
		tb.Inspect = func(_ context.Context, id string) (contract.Instance, error) {
			return contract.Instance{}, notFound("Inspect", id)
		}
	}))
	_, err = p.Attach(t.Context(), s.ID())
	e := code(t, err, port.CodeOutcomeUnknown)
	require.Equal(t, port.OutcomeUnchanged, e.Outcome)
	_, err = p.Attach(t.Context(), "box-none")
	code(t, err, port.CodeNotFound)

	w.c.scope = "account-1"
	_, err = s.Destroy(t.Context())
	require.NoError(t, err)
	_, err = p.Attach(t.Context(), s.ID())
	code(t, err, port.CodeNotFound)
}
