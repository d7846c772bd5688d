package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// List reads the state directory: every sandbox of it, in ID order, those being
// destroyed and damaged ones included. A damaged sandbox's labels and tags are
// not known, so a listing that filters by them is an error that names it rather
// than a list that may be short.
func (a *Adapter) List(ctx context.Context, r contract.ListRequest) ([]contract.Instance, error) {
	entries, err := os.ReadDir(a.dir)
	if errors.Is(err, fs.ErrNotExist) {
		entries, err = nil, nil // no sandbox was ever made here
	}
	if err != nil {
		return nil, fsFailure("List", "", port.OutcomeUnchanged, err)
	}
	out, seen := []contract.Instance{}, map[string]bool{}
	for _, e := range entries {
		if err := ctxFailure(ctx, "List", "", port.OutcomeUnchanged); err != nil {
			return nil, err
		}
		id := strings.TrimSuffix(e.Name(), deletingExt)
		if !validID(id) || seen[id] {
			continue
		}
		seen[id] = true
		f, err := a.find(id)
		var in contract.Instance
		if err == nil {
			in, err = a.describe(f)
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue // destroyed since the directory was read
		}
		if err != nil {
			return nil, fsFailure("List", id, port.OutcomeUnchanged, err)
		}
		keep, err := matches(in, r)
		if err != nil {
			return nil, err
		}
		if keep {
			out = append(out, in)
		}
	}
	return out, nil
}

func matches(in contract.Instance, r contract.ListRequest) (bool, error) {
	if len(r.States) > 0 && !slices.Contains(r.States, in.State) {
		return false, nil
	}
	want := contract.Tags{}
	if r.Tags != nil {
		want = *r.Tags
	}
	if want == (contract.Tags{}) && len(r.Labels) == 0 {
		return true, nil
	}
	if in.CreatedAt == nil { // its description was not read
		return false, refuse("List", in.ID, port.CodeProvider,
			"this sandbox is damaged: whether it has these labels is not known; destroy it")
	}
	have := contract.Tags{}
	if in.Tags != nil {
		have = *in.Tags
	}
	same := func(want, have string) bool { return want == "" || want == have }
	return same(want.Owner, have.Owner) && same(want.Run, have.Run) && same(want.Intent, have.Intent) &&
		(want.ReapAfter == nil || have.ReapAfter != nil && want.ReapAfter.Equal(*have.ReapAfter)) &&
		wire.MatchLabels(in.Labels, r.Labels), nil
}

// ctxFailure is nil while ctx is live.
func ctxFailure(ctx context.Context, op, id string, outcome port.Outcome) error {
	err := wire.ContextError(ctx, op, outcome)
	if e, ok := errors.AsType[*port.Error](err); ok {
		e.Provider, e.ID = providerID, id
		return e
	}
	return err
}
