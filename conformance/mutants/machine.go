package mutants

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
)

// Kind is what a machine-made mutant does to its operation.
type Kind string

// The kinds.
const (
	// Swallowed: an error is dropped, whatever came with it is the answer.
	Swallowed Kind = "error swallowed"
	// Dropped: the answer is empty; where there is nothing but an error to
	// answer, nothing is done.
	Dropped Kind = "result dropped"
	// Stale: the first success for the same arguments is the answer for ever,
	// and nothing is asked or done again.
	Stale Kind = "stale"
	// Duplicated: everything is done twice, the second answer counts.
	Duplicated Kind = "duplicated"
	// Delayed: a context that ends soon is waited out, and only then, and all the
	// same, it is done.
	Delayed Kind = "delayed past deadline"
)

// Kinds returns every kind.
func Kinds() []Kind { return []Kind{Swallowed, Dropped, Stale, Duplicated, Delayed} }

// Machine returns one mutant of each kind for each operation of the contract.
func Machine() []Mutant {
	var out []Mutant
	for _, op := range contract.Operations() {
		for _, kind := range Kinds() {
			out = append(out, Mutant{Name: op.Name + ": " + string(kind), Seen: "made by machine",
				Make: func() func(contract.Table) contract.Table { return replaced(op.Name, kind) }})
		}
	}
	return out
}

// replaced puts a faulty function in the place of one operation.
func replaced(op string, kind Kind) func(contract.Table) contract.Table {
	m := &memory{answers: map[string][]reflect.Value{}}
	return func(t contract.Table) contract.Table {
		f := reflect.ValueOf(&t).Elem().FieldByName(op)
		if !f.IsValid() || f.IsNil() {
			return t
		}
		next := reflect.ValueOf(f.Interface())
		ft := next.Type()
		f.Set(reflect.MakeFunc(ft, func(args []reflect.Value) []reflect.Value {
			switch kind {
			case Swallowed:
				return withoutError(next.Call(args))
			case Dropped:
				return dropped(ft, next, args)
			case Stale:
				return m.first(next, args)
			case Duplicated:
				next.Call(args)
				return next.Call(args)
			}
			return afterwards(next, args)
		}))
		return t
	}
}

func withoutError(out []reflect.Value) []reflect.Value {
	last := len(out) - 1
	out[last] = reflect.Zero(out[last].Type())
	return out
}

func dropped(ft reflect.Type, next reflect.Value, args []reflect.Value) []reflect.Value {
	if ft.NumOut() == 1 {
		return []reflect.Value{reflect.Zero(ft.Out(0))}
	}
	out := next.Call(args)
	for i := range len(out) - 1 {
		out[i] = reflect.Zero(out[i].Type())
	}
	return out
}

// memory keeps the first success by arguments.
type memory struct {
	mu      sync.Mutex
	answers map[string][]reflect.Value
}

func (m *memory) first(next reflect.Value, args []reflect.Value) []reflect.Value {
	var key strings.Builder
	for _, a := range args[1:] {
		if a.Kind() == reflect.Struct && a.Type().Name() == "WriteStream" {
			continue // the content: the path is what is remembered
		}
		if r, ok := a.Interface().(contract.CreateRequest); ok {
			fmt.Fprintf(&key, "|%s %s", r.Image, r.Name)
			continue
		}
		fmt.Fprintf(&key, "|%+v", a.Interface())
	}
	m.mu.Lock()
	have, ok := m.answers[key.String()]
	m.mu.Unlock()
	if ok {
		return have
	}
	out := next.Call(args)
	if out[len(out)-1].IsNil() {
		m.mu.Lock()
		m.answers[key.String()] = out
		m.mu.Unlock()
	}
	return out
}

const (
	soon     = 6 * time.Second // a context that ends within is waited out
	overtime = 6 * time.Second // by this much
)

func afterwards(next reflect.Value, args []reflect.Value) []reflect.Value {
	ctx, _ := args[0].Interface().(context.Context)
	ends, has := ctx.Deadline()
	if left := time.Until(ends); has && left < soon || ctx.Err() != nil {
		timer := time.NewTimer(max(0, left) + overtime)
		defer timer.Stop()
		<-timer.C
		args = append([]reflect.Value{reflect.ValueOf(context.WithoutCancel(ctx))}, args[1:]...)
	}
	return next.Call(args)
}
