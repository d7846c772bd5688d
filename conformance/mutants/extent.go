package mutants

import (
	"context"
	"sync"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// extentMutants give more or less than was asked for.
func extentMutants() []Mutant {
	return []Mutant{
		{Name: "vendor adds variables", Seen: "an agent inside that exports its own", Kills: "create.env-nothing-added",
			Make: onCreate(func(r *contract.CreateRequest) {
				env := map[string]string{"VENDOR_BOX_ID": "1"}
				for k, v := range r.Env {
					env[k] = v
				}
				r.Env = env
			})},
		{Name: "time limit not sent", Seen: "a run call whose default is a minute", Kills: "exec.timeout-always-sent",
			Make: onCommand(func(c *contract.Command) {
				if c.Timeout > 10*time.Minute {
					c.Timeout = 0
				}
			})},
		{Name: "port said to be for this machine", Seen: "ports bound to every address", Kills: "ports.audience-as-declared",
			Manifest: func(m *contract.Manifest) { m.PortAudience = contract.PortAudienceHost }, Make: plain(onlyHere)},
		{Name: "port for others than the manifest says", Seen: "private by default, changed by the vendor", Kills: "ports.audience-as-declared",
			Manifest: func(m *contract.Manifest) { m.PortAudience = contract.PortAudienceToken }, Make: plain(unchanged)},
		{Name: "client is of another version", Seen: "a range instead of a version", Kills: "shape.pinned-client",
			Manifest: func(m *contract.Manifest) {
				m.Clients = []contract.PinnedClient{{Module: "github.com/stretchr/testify", Version: "v0.0.1"}}
			}, Make: plain(unchanged)},
		{Name: "sandbox ends with its client", Seen: "sessions bound to one connection", Kills: "must-not-fire.transferred", Make: bound},
		{Name: "network is cut by default", Seen: "a tier without a network", Kills: "egress.allow-all-reaches", Contained: true,
			Make: onCreate(func(r *contract.CreateRequest) {
				if r.Egress == nil {
					r.Egress = &contract.EgressPolicy{Mode: contract.EgressModeDenyAll}
				}
			})},
		{Name: "policy is dropped", Seen: "an option of a newer API version, ignored by the older one", Kills: "egress.denied-is-unreachable", Contained: true,
			Make: onCreate(func(r *contract.CreateRequest) { r.Egress = nil })},
		{Name: "list of hosts is dropped", Seen: "only the mode is sent", Kills: "egress.allowed-is-reachable", Contained: true,
			Make: onCreate(func(r *contract.CreateRequest) {
				if r.Egress != nil {
					r.Egress = &contract.EgressPolicy{Mode: contract.EgressModeDenyAll}
				}
			})},
		{Name: "deny-all leaves names open", Seen: "packet filters that let the resolver through", Kills: "egress.dns-contained", Contained: true,
			Make: onCreate(func(r *contract.CreateRequest) {
				if r.Egress != nil && r.Egress.Mode == contract.EgressModeDenyAll {
					r.Egress = &contract.EgressPolicy{Mode: contract.EgressModeAllowList, Hosts: []string{"none.invalid"}}
				}
			})},
		{Name: "listing goes on after the deadline", Seen: "a deadline per page", Kills: "honesty.deadline-bounds-call",
			Make: plain(func(t contract.Table) contract.Table {
				next := t.List
				t.List = func(ctx context.Context, r contract.ListRequest) ([]contract.Instance, error) {
					if ctx.Err() != nil {
						timer := time.NewTimer(overtime)
						defer timer.Stop()
						<-timer.C
					}
					return next(ctx, r)
				}
				return t
			})},
	}
}

// onlyHere claims that a port is for this machine.
func onlyHere(t contract.Table) contract.Table {
	next := t.PortURL
	t.PortURL = func(ctx context.Context, id string, number int) (contract.PortAccess, error) {
		access, err := next(ctx, id, number)
		if err == nil {
			access.Audience = contract.PortAudienceHost
		}
		return access, err
	}
	return t
}

// bound ends a sandbox when another client than its maker looks at it.
func bound() func(contract.Table) contract.Table {
	var mu sync.Mutex
	maker := map[string]int{}
	opened := 0
	return func(t contract.Table) contract.Table {
		mu.Lock()
		opened++
		me := opened
		mu.Unlock()
		create, inspect := t.Create, t.Inspect
		t.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			i, err := create(ctx, r)
			mu.Lock()
			maker[i.ID] = me
			mu.Unlock()
			return i, err
		}
		destroy := t.Destroy
		t.Inspect = func(ctx context.Context, id string) (contract.Instance, error) {
			mu.Lock()
			other := maker[id] != 0 && maker[id] != me
			mu.Unlock()
			if other {
				if _, err := destroy(ctx, id); err != nil {
					return contract.Instance{}, &port.Error{Code: port.CodeProvider, Op: "Inspect", ID: id, Outcome: port.OutcomeUnknown, Err: err}
				}
			}
			return inspect(ctx, id)
		}
		return t
	}
}
