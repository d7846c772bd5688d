package mutants

import (
	"context"
	"sync"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// lifeMutants break look-ups and destroys.
func lifeMutants() []Mutant {
	return []Mutant{
		{Name: "swallowed destroy", Seen: "adapters that catch every error of a delete and return", Kills: "cleanup.verified-gone",
			Make: plain(func(t contract.Table) contract.Table {
				t.Destroy = func(context.Context, string) (port.DestroyOutcome, error) { return port.DestroyAccepted, nil }
				return t
			})},
		{Name: "destroy claims absent", Seen: "a delete that maps any failure to success", Kills: "cleanup.verified-gone",
			Make: plain(func(t contract.Table) contract.Table {
				t.Destroy = func(context.Context, string) (port.DestroyOutcome, error) { return port.DestroyAlreadyAbsent, nil }
				return t
			})},
		{Name: "second destroy is an error", Seen: "a 404 on delete passed on", Kills: "cleanup.destroy-idempotent",
			Make: plain(func(t contract.Table) contract.Table {
				next := t.Destroy
				t.Destroy = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
					out, err := next(ctx, id)
					if out == port.DestroyAlreadyAbsent {
						return "", notFound("Destroy", id)
					}
					return out, err
				}
				return t
			})},
		{Name: "second destroy claims a deletion", Seen: "delete endpoints that answer 200 to any id", Kills: "must-not-fire.second-destroy",
			Make: plain(func(t contract.Table) contract.Table {
				next := t.Destroy
				t.Destroy = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
					_, err := next(ctx, id)
					return port.DestroyAccepted, err
				}
				return t
			})},
		{Name: "destroy of unknown id claims a deletion", Seen: "delete endpoints that answer 200 to any id", Kills: "honesty.inspect-asks-the-vendor",
			Make: plain(func(t contract.Table) contract.Table {
				next := t.Destroy
				t.Destroy = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
					_, err := next(ctx, id)
					return port.DestroyAccepted, err
				}
				return t
			})},
		{Name: "destroy takes the neighbours", Seen: "a sweep by label where one id was meant", Kills: "must-not-fire.neighbour", Make: sweepingDestroy},
		{Name: "destroy only stops", Seen: "vendors whose delete archives", Kills: "cleanup.destroy-idempotent",
			Make: plain(func(t contract.Table) contract.Table {
				t.Destroy = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
					_, err := t.Stop(ctx, id)
					return port.DestroyAccepted, err
				}
				return t
			})},
		{Name: "constant running", Seen: "status getters that return a literal", Kills: "create.state-is-honest",
			Make: onInspect(func(i *contract.Instance, err error) error {
				i.State, i.Freshness = contract.StateRunning, contract.FreshnessConstant
				return err
			})},
		{Name: "constant running called live", Seen: "status getters that return a literal", Kills: "stop.state-settles",
			Make: onInspect(func(i *contract.Instance, err error) error {
				i.State = contract.StateRunning
				return err
			})},
		{Name: "running for unknown id", Seen: "look-ups that never ask the vendor", Kills: "honesty.inspect-asks-the-vendor",
			Make: plain(func(t contract.Table) contract.Table {
				next := t.Inspect
				t.Inspect = func(ctx context.Context, id string) (contract.Instance, error) {
					i, err := next(ctx, id)
					if absent(err) {
						return contract.Instance{ID: id, State: contract.StateStopped, Freshness: contract.FreshnessLive}, nil
					}
					return i, err
				}
				return t
			})},
		{Name: "tombstones are alive", Seen: "rows with deleted:true that look-ups still return", Kills: "cleanup.verified-gone", Make: tombstones},
		{Name: "absence is another error", Seen: "unmapped 404", Kills: "cleanup.verified-gone",
			Make: onInspect(func(_ *contract.Instance, err error) error {
				if absent(err) {
					return &port.Error{Code: port.CodeUnavailable, Op: "Inspect", Outcome: port.OutcomeUnchanged, Reason: "404"}
				}
				return err
			})},
		{Name: "look-up shows another id", Seen: "a display name returned as id", Kills: "create.returns-id",
			Make: onInspect(func(i *contract.Instance, err error) error {
				i.ID = "name-of-" + i.ID
				return err
			})},
		{Name: "look-up never finds", Seen: "wrong key reads as gone", Kills: "create.returns-id",
			Make: plain(func(t contract.Table) contract.Table {
				t.Inspect = func(_ context.Context, id string) (contract.Instance, error) {
					return contract.Instance{}, notFound("Inspect", id)
				}
				return t
			})},
		{Name: "look-up resumes", Seen: "get() that wakes what it looks at", Kills: "suspend.inspect-does-not-resume",
			Make: plain(func(t contract.Table) contract.Table {
				next, resume := t.Inspect, t.Resume
				t.Inspect = func(ctx context.Context, id string) (contract.Instance, error) {
					if i, err := next(ctx, id); err != nil || i.State != contract.StateSuspended {
						return i, err
					}
					return resume(ctx, id)
				}
				return t
			})},
		{Name: "scope is empty", Seen: "no account identity", Kills: "shape.scope-is-stable",
			Make: plain(func(t contract.Table) contract.Table {
				t.Scope = func(context.Context) (string, error) { return "", nil }
				return t
			})},
		{Name: "scope holds the key", Seen: "api key used as account id", Kills: "shape.scope-is-stable",
			Make: plain(func(t contract.Table) contract.Table {
				t.Scope = func(context.Context) (string, error) { return "account-" + Token, nil }
				return t
			})},
		{Name: "isolation below the claim", Seen: "a weaker runtime picked silently", Kills: "create.isolation-as-declared",
			Manifest: func(m *contract.Manifest) { m.Isolation = contract.IsolationVM }, Make: plain(unchanged)},
	}
}

// Token is the credential that the mutants are run with: the one that the
// reference vendor knows.
const Token = "reference-token-1234"

func unchanged(t contract.Table) contract.Table { return t }

// sweepingDestroy also destroys the sandbox that was made before the one meant.
func sweepingDestroy() func(contract.Table) contract.Table {
	var mu sync.Mutex
	var made []string
	return func(t contract.Table) contract.Table {
		create, destroy := t.Create, t.Destroy
		t.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			i, err := create(ctx, r)
			mu.Lock()
			made = append(made, i.ID)
			mu.Unlock()
			return i, err
		}
		t.Destroy = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
			mu.Lock()
			all := made
			made = nil
			mu.Unlock()
			for _, other := range all {
				if other == id || len(all) < 2 {
					continue
				}
				if _, err := destroy(ctx, other); err != nil {
					return "", err
				}
			}
			return destroy(ctx, id)
		}
		return t
	}
}

// tombstones shows what was destroyed as failed for ever.
func tombstones() func(contract.Table) contract.Table {
	var mu sync.Mutex
	dead := map[string]contract.Instance{}
	return func(t contract.Table) contract.Table {
		inspect, destroy := t.Inspect, t.Destroy
		t.Destroy = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
			if i, err := inspect(ctx, id); err == nil {
				mu.Lock()
				dead[id] = i
				mu.Unlock()
			}
			return destroy(ctx, id)
		}
		t.Inspect = func(ctx context.Context, id string) (contract.Instance, error) {
			i, err := inspect(ctx, id)
			mu.Lock()
			defer mu.Unlock()
			if row, ok := dead[id]; ok && absent(err) {
				row.State = contract.StateFailed
				return row, nil
			}
			return i, err
		}
		return t
	}
}
