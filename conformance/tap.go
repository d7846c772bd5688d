package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// trialKey finds the trial under whose context an operation was called.
type trialKey struct{}

// tap counts, per check, the operations that reach the adapter, and turns a
// panic of the adapter into an error: it may happen in a goroutine of the library.
type tap struct {
	mu      sync.Mutex
	made    []madeThing
	orphans []string // panics outside any check
}

// madeThing is something that an adapter said it made.
type madeThing struct {
	kind contract.ResourceKind
	id   string
}

// wrap is a decorator for sandbox.WithTable.
func (r *tap) wrap(t contract.Table) contract.Table {
	v := reflect.ValueOf(&t).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		if f.Kind() != reflect.Func || f.IsNil() {
			continue
		}
		f.Set(r.wrapOne(v.Type().Field(i).Name, f))
	}
	return r.watch(t)
}

func (r *tap) wrapOne(op string, f reflect.Value) reflect.Value {
	inner := reflect.ValueOf(f.Interface())
	ft := inner.Type()
	return reflect.MakeFunc(ft, func(args []reflect.Value) (out []reflect.Value) {
		ctx, _ := args[0].Interface().(context.Context)
		t, _ := ctx.Value(trialKey{}).(*trial)
		if t != nil {
			t.count(op, args)
		}
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			err := &panicError{op: op, value: p, stack: string(debug.Stack())}
			r.panicked(t, err)
			out = make([]reflect.Value, ft.NumOut())
			for i := range out {
				out[i] = reflect.Zero(ft.Out(i))
			}
			out[len(out)-1] = reflect.ValueOf(&[]error{err}[0]).Elem()
		}()
		return inner.Call(args)
	})
}

func (r *tap) panicked(t *trial, err *panicError) {
	if t != nil {
		t.panicked(err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.orphans = append(r.orphans, err.Error())
}

// watch remembers what the adapter made.
func (r *tap) watch(t contract.Table) contract.Table {
	if create := t.Create; create != nil {
		t.Create = func(ctx context.Context, request contract.CreateRequest) (contract.Instance, error) {
			i, err := create(ctx, request)
			r.add(ctx, contract.ResourceKindSandbox, i.ID)
			return i, err
		}
	}
	if fork := t.Fork; fork != nil {
		t.Fork = func(ctx context.Context, id string, request contract.ForkRequest) (contract.ForkResult, error) {
			res, err := fork(ctx, id, request)
			r.add(ctx, contract.ResourceKindSandbox, res.Instance.ID)
			for _, i := range res.Intermediates {
				r.add(ctx, i.Kind, i.ID)
			}
			return res, err
		}
	}
	if capture := t.CreateSnapshot; capture != nil {
		t.CreateSnapshot = func(ctx context.Context, id string, request contract.SnapshotRequest) (contract.Snapshot, error) {
			s, err := capture(ctx, id, request)
			r.add(ctx, contract.ResourceKindSnapshot, s.ID)
			return s, err
		}
	}
	return t
}

func (r *tap) add(ctx context.Context, kind contract.ResourceKind, id string) {
	if id == "" {
		return
	}
	if t, ok := ctx.Value(trialKey{}).(*trial); ok {
		t.mu.Lock()
		t.made = append(t.made, id)
		t.mu.Unlock()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.made = append(r.made, madeThing{kind, id})
}

// everMade returns what the adapter said it made, in order.
func (r *tap) everMade() []madeThing {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.made)
}

// panicError is a panic in an adapter's operation.
type panicError struct {
	op    string
	value any
	stack string
}

func (e *panicError) Error() string { return fmt.Sprintf("panic in %s: %v", e.op, e.value) }

// isAbsent reports whether err says that there is no such thing.
func isAbsent(err error) bool { return port.CodeOf(err) == port.CodeNotFound }

// joinErrors is errors.Join that leaves a single error as it is, so that its
// type still says what it is.
func joinErrors(errs ...error) error {
	errs = slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	return errors.Join(errs...)
}

// clearOperation takes one operation out of a Table.
func clearOperation(t *contract.Table, op string) {
	if f := reflect.ValueOf(t).Elem().FieldByName(op); f.IsValid() {
		f.SetZero()
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
