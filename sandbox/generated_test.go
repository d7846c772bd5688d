package sandbox_test

import (
	"reflect"
	"testing"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/stretchr/testify/require"
)

// TestEveryOperationHasItsMethodAndRefuses calls every operation of the
// vocabulary through a provider that has the core only.
func TestEveryOperationHasItsMethodAndRefuses(t *testing.T) {
	w := newWorld(t)
	p := w.openDriver(w.c.driver())
	s, err := p.Create(t.Context())
	require.NoError(t, err)
	before := len(w.c.calls)
	table := reflect.TypeFor[contract.Table]()
	checked := 0
	for _, op := range contract.Operations() {
		if op.Capability == "" {
			continue
		}
		field, ok := table.FieldByName(op.Name)
		require.True(t, ok)
		onSandbox, onProvider := reflect.ValueOf(s).MethodByName(op.Name), reflect.ValueOf(p).MethodByName(op.Name)
		require.NotEqual(t, onSandbox.IsValid(), onProvider.IsValid(), "%s is a method of one of the two", op.Name)
		method, drop := onProvider, 0
		if onSandbox.IsValid() {
			method, drop = onSandbox, 1 // the ID
		}
		require.Equal(t, field.Type.NumIn()-drop, method.Type().NumIn(), op.Name)
		args := []reflect.Value{reflect.ValueOf(t.Context())}
		for i := 1; i < method.Type().NumIn(); i++ {
			args = append(args, reflect.Zero(method.Type().In(i)))
		}
		out := method.Call(args)
		callErr, _ := out[len(out)-1].Interface().(error)
		e := code(t, callErr, port.CodeUnsupported)
		require.Equal(t, string(op.Capability), e.Capability)
		require.Equal(t, port.OutcomeUnchanged, e.Outcome)
		require.Equal(t, op.Name, e.Op)
		checked++
	}
	require.Greater(t, checked, 20)
	require.Len(t, w.c.calls, before, "nothing was called")
}
