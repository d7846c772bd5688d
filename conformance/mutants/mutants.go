// Package mutants holds faults of adapters, each one small and realistic and named
// after where its kind was seen, as decorators of the contract's Table. The
// conformance suite is tested with them: each has to be caught by the check that
// claims the rule it breaks.
package mutants

import (
	"context"
	"slices"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// Mutant is one fault.
type Mutant struct {
	Name string
	// Seen says where this kind of fault was met, or why it is likely.
	Seen string
	// Kills is the ID of the check that has to fail.
	Kills string
	// Contained mutants need a vendor that enforces egress policies.
	Contained bool
	// Remote mutants are of the adapter of the vendor's HTTP interface.
	Remote bool
	// Make returns a fresh decorator; what it remembers belongs to one run.
	Make func() func(contract.Table) contract.Table
	// Create is what every sandbox is created with besides.
	Create []sandbox.CreateOption
	// Manifest, when set, changes what the provider claims.
	Manifest func(*contract.Manifest)
}

// All returns every mutant, by family.
func All() []Mutant {
	return slices.Concat(lifeMutants(), createMutants(), execMutants(), listMutants(), fileMutants(), liveMutants(), stateMutants(), copyMutants(), extentMutants(), truthMutants(), secretMutants(), habitMutants(), wrapperMutants(), remoteMutants())
}

// plain is a fault that remembers nothing.
func plain(fn func(contract.Table) contract.Table) func() func(contract.Table) contract.Table {
	return func() func(contract.Table) contract.Table { return fn }
}

// onExec is a fault of Exec that remembers nothing.
func onExec(fn func(next func(context.Context, string, contract.Command) (contract.ExecResult, error), ctx context.Context,
	id string, c contract.Command) (contract.ExecResult, error)) func() func(contract.Table) contract.Table {
	return plain(func(t contract.Table) contract.Table {
		next := t.Exec
		t.Exec = func(ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
			return fn(next, ctx, id, c)
		}
		return t
	})
}

// onResult changes what a command gave.
func onResult(fn func(c contract.Command, res *contract.ExecResult)) func() func(contract.Table) contract.Table {
	return onExec(func(next func(context.Context, string, contract.Command) (contract.ExecResult, error), ctx context.Context,
		id string, c contract.Command) (contract.ExecResult, error) {
		res, err := next(ctx, id, c)
		if err == nil {
			fn(c, &res)
		}
		return res, err
	})
}

// onCommand changes what is run.
func onCommand(fn func(c *contract.Command)) func() func(contract.Table) contract.Table {
	return onExec(func(next func(context.Context, string, contract.Command) (contract.ExecResult, error), ctx context.Context,
		id string, c contract.Command) (contract.ExecResult, error) {
		fn(&c)
		return next(ctx, id, c)
	})
}

// onInspect changes what a look-up shows.
func onInspect(fn func(i *contract.Instance, err error) error) func() func(contract.Table) contract.Table {
	return plain(func(t contract.Table) contract.Table {
		next := t.Inspect
		t.Inspect = func(ctx context.Context, id string) (contract.Instance, error) {
			i, err := next(ctx, id)
			err = fn(&i, err)
			return i, err
		}
		return t
	})
}

// onCreate changes what is asked for.
func onCreate(fn func(r *contract.CreateRequest)) func() func(contract.Table) contract.Table {
	return plain(func(t contract.Table) contract.Table {
		next := t.Create
		t.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			fn(&r)
			return next(ctx, r)
		}
		return t
	})
}

// onList changes a listing.
func onList(fn func(r contract.ListRequest, all []contract.Instance, err error) ([]contract.Instance, error)) func() func(contract.Table) contract.Table {
	return plain(func(t contract.Table) contract.Table {
		next := t.List
		t.List = func(ctx context.Context, r contract.ListRequest) ([]contract.Instance, error) {
			all, err := next(ctx, r)
			return fn(r, all, err)
		}
		return t
	})
}

func absent(err error) bool { return port.CodeOf(err) == port.CodeNotFound }

func notFound(op, id string) error {
	return &port.Error{Code: port.CodeNotFound, Op: op, ID: id, Outcome: port.OutcomeUnchanged}
}
