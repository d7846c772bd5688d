//go:build unix

package conformance_test

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/conformance/mutants"
	"github.com/agentworkforce/sbx/conformance/reference"
	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/sandbox"
)

// reaches are the operations that each check calls on the vendor in memory and on
// the one over HTTP. A fault of an operation can change no other check.
type reaches struct{ here, remote map[string][]string }

// observedReach runs everything on a vendor without a fault, and sees who calls what.
func observedReach(t *testing.T, h conformance.Harness) map[string][]string {
	t.Helper()
	var mu sync.Mutex
	seen := map[string]map[string]bool{}
	h.Options = append(h.Options, sandbox.WithTable(func(table contract.Table) contract.Table {
		v := reflect.ValueOf(&table).Elem()
		for i := range v.NumField() {
			f, op := v.Field(i), v.Type().Field(i).Name
			if f.Kind() != reflect.Func || f.IsNil() {
				continue
			}
			inner := reflect.ValueOf(f.Interface())
			f.Set(reflect.MakeFunc(inner.Type(), func(args []reflect.Value) []reflect.Value {
				ctx, _ := args[0].Interface().(context.Context)
				mu.Lock()
				id := conformance.CheckOf(ctx)
				if seen[id] == nil {
					seen[id] = map[string]bool{}
				}
				seen[id][op] = true
				mu.Unlock()
				return inner.Call(args)
			}))
		}
		return table
	}))
	report, err := conformance.Execute(t.Context(), h, conformance.RunOptions{Parallel: 12, StateDir: t.TempDir(), CheckTimeout: 2 * time.Minute})
	require.NoError(t, err)
	for _, c := range report.Checks {
		require.NotEqual(t, conformance.Failed, c.Verdict, "%s: %s", c.ID, c.Message)
	}
	out := map[string][]string{}
	for id, ops := range seen {
		out[id] = slices.Sorted(maps.Keys(ops))
	}
	return out
}

func newReaches(t *testing.T) reaches {
	return reaches{here: observedReach(t, harness(t, reference.Traits{})), remote: observedReach(t, remote(t, reference.Traits{}))}
}

// touched are the operations that a mutant puts something else in the place of.
func touched(t *testing.T, m mutants.Mutant) []string {
	t.Helper()
	v, err := reference.New(t.TempDir(), reference.Traits{})
	require.NoError(t, err)
	a, err := v.Driver().Open(t.Context(), nil)
	require.NoError(t, err)
	before := contract.Bind(a)
	after := m.Make()(before)
	was, is := reflect.ValueOf(before), reflect.ValueOf(after)
	var out []string
	for i := range was.NumField() {
		f := was.Field(i)
		if f.Kind() == reflect.Func && !f.IsNil() && (is.Field(i).IsNil() || f.Pointer() != is.Field(i).Pointer()) {
			out = append(out, was.Type().Field(i).Name)
		}
	}
	return out
}

// relevant are the checks that a mutant can change: all for one that changes a
// manifest or what a vendor can do.
func (r reaches) relevant(t *testing.T, m mutants.Mutant, among func(string) bool) []string {
	t.Helper()
	ops := touched(t, m)
	ids := slices.DeleteFunc(checkIDs(t), func(id string) bool { return !among(id) })
	if m.Manifest != nil || m.Create != nil || m.Contained || len(ops) == 0 {
		return ids
	}
	by := r.here
	if m.Remote {
		by = r.remote
	}
	return slices.DeleteFunc(ids, func(id string) bool {
		switch id {
		case "shape.manifest-matches", "cleanup.counts-balance", "cleanup.no-leftovers":
			return false // they look at what all the others did
		}
		return !slices.ContainsFunc(by[id], func(op string) bool { return slices.Contains(ops, op) })
	})
}
