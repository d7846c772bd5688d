package sandbox_test

import (
	"context"
	"testing"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/stretchr/testify/require"
)

// Every candidate is opened in its own way and asked with its own request, and
// one that refuses hands over to the next.
func TestCreateAmongAsksEachInItsOwnWay(t *testing.T) {
	w := newWorld(t)
	asked := map[string]string{}
	candidate := func(id, image string, refuse bool) sandbox.Candidate {
		d := w.c.driver(supported()...)
		d.ID, d.Manifest.ID = id, id
		table := func(table contract.Table) contract.Table {
			create := table.Create
			table.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
				asked[id] = r.Image
				if refuse {
					return contract.Instance{}, &port.Error{Code: port.CodeQuotaExceeded, Outcome: port.OutcomeUnchanged}
				}
				return create(ctx, r)
			}
			return table
		}
		return sandbox.Candidate{Driver: d, Create: []sandbox.CreateOption{sandbox.WithImage(image)},
			Options: w.options(sandbox.WithTable(table))}
	}
	p, s, err := sandbox.CreateAmong(t.Context(), []sandbox.Candidate{candidate("one", "a", true),
		candidate("two", "b", false), candidate("three", "c", false)}, sandbox.Requirements{})
	require.NoError(t, err)
	require.Equal(t, "two", s.Provider())
	require.Equal(t, map[string]string{"one": "a", "two": "b"}, asked)
	_, err = s.Destroy(t.Context())
	require.NoError(t, err)
	require.NoError(t, p.Close())
	w.legal()
}
