package mutants

import (
	"context"
	"slices"
	"sync"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// listMutants break listings and labels.
func listMutants() []Mutant {
	type rows = []contract.Instance
	return []Mutant{
		{Name: "list on error is empty", Seen: "catch { return [] }", Kills: "must-not-fire.failing-list", Make: plain(func(t contract.Table) contract.Table {
			t.List = func(context.Context, contract.ListRequest) ([]contract.Instance, error) { return nil, nil }
			return t
		})},
		{Name: "list that was cancelled is empty", Seen: "an aborted request read as no rows", Kills: "list.error-is-not-empty",
			Make: onList(func(_ contract.ListRequest, all rows, err error) (rows, error) { return all, nil })},
		{Name: "list is empty", Seen: "a method that was never written", Kills: "list.contains-created",
			Make: onList(func(_ contract.ListRequest, _ rows, err error) (rows, error) { return nil, err })},
		{Name: "list has one page", Seen: "a page cap of the vendor", Kills: "list.contains-created",
			Make: onList(func(_ contract.ListRequest, all rows, err error) (rows, error) { return all[:min(len(all), 2)], err })},
		{Name: "list repeats a page", Seen: "a cursor that comes back", Kills: "list.contains-created",
			Make: onList(func(_ contract.ListRequest, all rows, err error) (rows, error) { return slices.Concat(all, all), err })},
		{Name: "list keeps what is gone", Seen: "a listing that lags for ever", Kills: "list.absent-after-destroy", Make: staleList},
		{Name: "list hides stopped ones", Seen: "a default filter on running", Kills: "honesty.list-shows-every-state",
			Make: onList(func(r contract.ListRequest, all rows, err error) (rows, error) {
				return slices.DeleteFunc(all, func(i contract.Instance) bool {
					return i.State == contract.StateStopped && len(r.States) == 0
				}), err
			})},
		{Name: "list says running for all", Seen: "a list whose rows have no state", Kills: "honesty.list-shows-every-state",
			Make: onList(func(_ contract.ListRequest, all rows, err error) (rows, error) {
				for i := range all {
					all[i].State = contract.StateRunning
				}
				return all, err
			})},
		{Name: "label filter ignored", Seen: "a query parameter the vendor does not know", Kills: "labels.filter-rechecked",
			Make: plain(func(t contract.Table) contract.Table {
				next := t.List
				t.List = func(ctx context.Context, r contract.ListRequest) ([]contract.Instance, error) {
					r.Labels = nil
					return next(ctx, r)
				}
				return t
			})},
		{Name: "label filter matches nothing", Seen: "labels encoded one way and searched another", Kills: "labels.filter-rechecked",
			Make: onList(func(r contract.ListRequest, all rows, err error) (rows, error) {
				if len(r.Labels) > 0 {
					return nil, err
				}
				return all, err
			})},
		{Name: "state filter ignored", Seen: "a query parameter the vendor does not know", Kills: "list.filters-by-state",
			Make: plain(func(t contract.Table) contract.Table {
				next := t.List
				t.List = func(ctx context.Context, r contract.ListRequest) ([]contract.Instance, error) {
					r.States = nil
					return next(ctx, r)
				}
				return t
			})},
		{Name: "labels missing in the list", Seen: "list rows with fewer fields", Kills: "labels.read-back",
			Make: onList(func(_ contract.ListRequest, all rows, err error) (rows, error) {
				for i := range all {
					all[i].Labels = nil
				}
				return all, err
			})},
		{Name: "labels in lower case", Seen: "keys that the vendor folds", Kills: "labels.read-back",
			Make: onCreate(func(r *contract.CreateRequest) {
				if _, ok := r.Labels["sbxc.team"]; ok {
					r.Labels = map[string]string{"sbxc": r.Labels["sbxc"], "sbxc-team": r.Labels["sbxc.team"]}
				}
			})},
		{Name: "label of another owner is forged", Seen: "metadata merged over the adapter's own", Kills: "labels.owner-tag-protected",
			Make: onCreate(func(r *contract.CreateRequest) {
				if v := r.Labels["_sandbox.attributionTag"]; v != "" {
					r.Tags.Run, r.Labels = v, nil
				}
			})},
	}
}

func staleList() func(contract.Table) contract.Table {
	var mu sync.Mutex
	dead := map[string]contract.Instance{}
	return func(t contract.Table) contract.Table {
		inspect, destroy, list := t.Inspect, t.Destroy, t.List
		t.Destroy = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
			if i, err := inspect(ctx, id); err == nil {
				mu.Lock()
				dead[id] = i
				mu.Unlock()
			}
			return destroy(ctx, id)
		}
		t.List = func(ctx context.Context, r contract.ListRequest) ([]contract.Instance, error) {
			all, err := list(ctx, r)
			mu.Lock()
			defer mu.Unlock()
			for _, i := range dead {
				all = append(all, i)
			}
			return all, err
		}
		return t
	}
}
