package sandbox

import (
	"context"
	"errors"
	"slices"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
)

// look is one attempt at proving that t is gone. It says so only when, in this
// attempt and with these credentials, the scope is the intent's, the look-up
// that the manifest trusts answers not found, every list there is lacks it, and
// some other read succeeded: a vendor that answers not found to everything
// proves nothing.
func (p *Provider) look(ctx context.Context, op operation, res resource, t target, ev *Evidence) (bool, error) {
	ev.Scope, ev.Inspect, ev.Listed, ev.Control = t.scope, "", nil, ""
	if err := p.sameScope(ctx, op, t); err != nil {
		return false, err
	}
	proof := ev.Proof
	var err error
	if proof == contract.GoneProofInspect || proof == contract.GoneProofBoth {
		if ev.Inspect, err = inspectWord(ctx, res, t.id); ev.Inspect != string(port.CodeNotFound) {
			return false, err
		}
	}
	if res.list == nil && proof != contract.GoneProofInspect {
		return false, &Error{Code: port.CodeUnsupported, Op: "List", Outcome: port.OutcomeUnchanged,
			Reason: "absence is proven by a list, and there is none"}
	}
	if res.list == nil {
		ev.Control, err = p.control(ctx, t)
		return err == nil, err
	}
	rows, err := res.list(ctx, contract.ListRequest{})
	if err != nil {
		return false, err
	}
	listed := slices.ContainsFunc(rows, func(r row) bool { return r.id == t.id })
	ev.Listed, ev.Control = &listed, "list"
	return !listed, nil
}

// inspectWord says in one word what a look-up answered.
func inspectWord(ctx context.Context, res resource, id string) (string, error) {
	if res.inspect == nil {
		return "", &Error{Code: port.CodeUnsupported, Outcome: port.OutcomeUnchanged, Reason: "there is no look-up"}
	}
	state, err := res.inspect(ctx, id)
	if err == nil {
		return state, nil
	}
	if code := port.CodeOf(err); code != "" {
		return string(code), err
	}
	return string(port.CodeUnavailable), err
}

// control reads something else with the same credentials: another list, and
// failing that the identity of the account.
func (p *Provider) control(ctx context.Context, t target) (string, error) {
	if p.table.List != nil && p.callable(contract.CapabilityList) {
		_, err := p.table.List(ctx, contract.ListRequest{})
		return "list", err
	}
	if p.table.ListSnapshots != nil && p.callable(contract.CapabilitySnapshot) {
		_, err := p.table.ListSnapshots(ctx)
		return "list-snapshots", err
	}
	scope, err := p.table.Scope(ctx)
	if err == nil && scope != t.scope {
		err = errors.New("the scope changed during the look")
	}
	return "scope", err
}

// row is one line of a list, whatever its kind.
type row struct {
	id, name string
	tags     *contract.Tags
}

// resource is how one kind of thing is looked up, removed and listed.
type resource struct {
	inspect func(ctx context.Context, id string) (string, error) // the state; may be nil
	destroy func(ctx context.Context, id string) (port.DestroyOutcome, error)
	list    func(ctx context.Context, request contract.ListRequest) ([]row, error) // nil: not supported
}

// resource finds the operations of a kind: those the manifest names, else those
// the contract has for it. It is false when nothing removes the kind.
func (p *Provider) resource(kind ledger.Kind) (resource, bool) {
	names := contract.Leaves{Kind: contract.ResourceKind(kind)}
	for _, l := range p.driver.Manifest.Leaves {
		if l.Kind == names.Kind {
			names = l
		}
	}
	switch kind {
	case ledger.KindSandbox:
		names.Inspect, names.Destroy, names.Find = first(names.Inspect, "Inspect"), first(names.Destroy, "Destroy"), first(names.Find, "List")
	case ledger.KindSnapshot:
		names.Inspect, names.Destroy, names.Find = first(names.Inspect, "InspectSnapshot"), first(names.Destroy, "DeleteSnapshot"), first(names.Find, "ListSnapshots")
	}
	var r resource
	switch {
	case names.Destroy == "Destroy":
		r.destroy = p.table.Destroy
	case names.Destroy == "DeleteSnapshot" && p.table.DeleteSnapshot != nil:
		r.destroy = p.table.DeleteSnapshot
	default:
		return r, false
	}
	switch {
	case names.Inspect == "Inspect":
		r.inspect = p.inspectSandbox
	case names.Inspect == "InspectSnapshot" && p.table.InspectSnapshot != nil:
		r.inspect = p.inspectSnapshot
	}
	switch {
	case names.Find == "List" && p.table.List != nil && p.callable(contract.CapabilityList):
		r.list = p.listSandboxes
	case names.Find == "ListSnapshots" && p.table.ListSnapshots != nil && p.callable(contract.CapabilitySnapshot):
		r.list = p.listSnapshots
	}
	return r, true
}

func (p *Provider) inspectSandbox(ctx context.Context, id string) (string, error) {
	i, err := p.table.Inspect(ctx, id)
	return string(i.State), err
}

func (p *Provider) inspectSnapshot(ctx context.Context, id string) (string, error) {
	s, err := p.table.InspectSnapshot(ctx, id)
	return string(s.State), err
}

func (p *Provider) listSandboxes(ctx context.Context, request contract.ListRequest) ([]row, error) {
	instances, err := p.table.List(ctx, request)
	if err != nil {
		return nil, err
	}
	rows := make([]row, 0, len(instances))
	for _, i := range instances {
		rows = append(rows, row{id: i.ID, name: i.Name, tags: i.Tags})
	}
	return rows, nil
}

func (p *Provider) listSnapshots(ctx context.Context, _ contract.ListRequest) ([]row, error) {
	snapshots, err := p.table.ListSnapshots(ctx)
	if err != nil {
		return nil, err
	}
	rows := make([]row, 0, len(snapshots))
	for _, s := range snapshots {
		rows = append(rows, row{id: s.ID, name: s.Name, tags: s.Tags})
	}
	return rows, nil
}
