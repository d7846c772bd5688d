package mutants

import (
	"context"
	"sync/atomic"

	"github.com/agentworkforce/sbx/conformance/reference"
	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// createMutants break create.
func createMutants() []Mutant {
	return []Mutant{
		{Name: "image ignored", Seen: "a default image used when the wanted one is missing", Kills: "create.bad-image-is-definite",
			Make: onCreate(func(r *contract.CreateRequest) { r.Image = reference.Image })},
		{Name: "bad image is unavailable", Seen: "every 4xx mapped to a transient error", Kills: "create.bad-image-is-definite",
			Make: failedCreate(func(err error) error {
				return &port.Error{Code: port.CodeUnavailable, Op: "Create", Outcome: port.OutcomeUnknown, Err: err}
			})},
		{Name: "aborted create leaks", Seen: "a box started before the image was checked", Kills: "create.definite-failure-leaves-nothing",
			Make: plain(func(t contract.Table) contract.Table {
				next := t.Create
				t.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
					i, err := next(ctx, r)
					if err != nil {
						r.Image, r.FromSnapshot = reference.Image, ""
						if _, leaked := next(ctx, r); leaked != nil {
							return i, leaked
						}
					}
					return i, err
				}
				return t
			})},
		{Name: "create env dropped", Seen: "launch environments that the vendor does not take", Kills: "create.env",
			Make: onCreate(func(r *contract.CreateRequest) { r.Env = nil })},
		{Name: "create env trimmed", Seen: "values parsed as a dotenv file", Kills: "create.env",
			Make: onCreate(func(r *contract.CreateRequest) {
				env := map[string]string{}
				for k, v := range r.Env {
					for len(v) > 0 && v[0] == ' ' {
						v = v[1:]
					}
					env[k] = v
				}
				r.Env = env
			})},
		{Name: "create env only in the first command", Seen: "an environment exported in one shell session", Kills: "create.env", Make: envOnce},
		{Name: "name cut", Seen: "names cut to what the vendor takes", Kills: "create.name-not-truncated",
			Make: onCreate(func(r *contract.CreateRequest) { r.Name = r.Name[:min(len(r.Name), 63)] })},
		{Name: "owner mark overwritten", Seen: "user metadata merged over the adapter's own", Kills: "labels.owner-tag-protected",
			Make: onCreate(func(r *contract.CreateRequest) {
				if owner := r.Labels["sbx.owner"]; owner != "" {
					r.Tags.Owner = owner
				}
				r.Labels = nil
			})},
		{Name: "marks dropped", Seen: "metadata that is accepted and not stored", Kills: "create.tags-survive",
			Make: onCreate(func(r *contract.CreateRequest) { r.Tags = contract.Tags{} })},
		{Name: "intent mark cut", Seen: "label values cut at a limit", Kills: "create.tags-survive",
			Make: onCreate(func(r *contract.CreateRequest) { r.Tags.Intent = r.Tags.Intent[:8] })},
		{Name: "labels dropped", Seen: "metadata that is accepted and not stored", Kills: "labels.read-back",
			Make: onCreate(func(r *contract.CreateRequest) { r.Labels = nil })},
		{Name: "create hands out one sandbox twice", Seen: "warm pools that lend a box out again", Kills: "must-not-fire.recycled-id", Make: constantID},
		{Name: "create fails with an id nowhere", Seen: "an answer that was lost after the vendor had acted", Kills: "must-fire.late-create", Make: lostAnswer},
	}
}

// failedCreate changes the error of a create.
func failedCreate(fn func(error) error) func() func(contract.Table) contract.Table {
	return plain(func(t contract.Table) contract.Table {
		next := t.Create
		t.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			i, err := next(ctx, r)
			if err != nil {
				err = fn(err)
			}
			return i, err
		}
		return t
	})
}

func envOnce() func(contract.Table) contract.Table {
	var used atomic.Bool
	return func(t contract.Table) contract.Table {
		create, exec := t.Create, t.Exec
		env := map[string]string{}
		t.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			if len(r.Env) > 0 {
				env, r.Env = r.Env, nil
			}
			return create(ctx, r)
		}
		t.Exec = func(ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
			if c.Script != "exit 0" && len(env) > 0 && used.CompareAndSwap(false, true) {
				c.Env = env
			}
			return exec(ctx, id, c)
		}
		return t
	}
}

// constantID shows every sandbox under the first one's ID once that is gone.
func constantID() func(contract.Table) contract.Table {
	return func(t contract.Table) contract.Table {
		create := t.Create
		var last atomic.Pointer[contract.Instance]
		t.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			if old := last.Load(); old != nil && r.Name != "" && old.Name == r.Name {
				return *old, nil
			}
			i, err := create(ctx, r)
			last.Store(&i)
			return i, err
		}
		return t
	}
}

// lostAnswer cannot find by its marks what a create may have made.
func lostAnswer() func(contract.Table) contract.Table {
	return func(t contract.Table) contract.Table {
		list := t.List
		t.List = func(ctx context.Context, r contract.ListRequest) ([]contract.Instance, error) {
			if r.Tags != nil {
				return list(ctx, contract.ListRequest{States: []contract.State{contract.StateGone}})
			}
			return list(ctx, r)
		}
		return t
	}
}
