//go:build unix

package reference

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// Adapter is the vendor's adapter. It keeps nothing between calls and is safe
// for concurrent use.
type Adapter struct {
	v   *Vendor
	key string
}

// pause is what every call begins with: the vendor takes its time, and then
// looks at the key.
func (a *Adapter) pause(ctx context.Context) error {
	if err := a.v.pause(ctx); err != nil {
		return err
	}
	if a.key != Token {
		return &port.Error{Code: port.CodeUnauthenticated, Outcome: port.OutcomeUnchanged, Reason: "the key is not known"}
	}
	return nil
}

// Scope implements contract.Adapter.
func (a *Adapter) Scope(ctx context.Context) (string, error) {
	return "reference:" + a.v.dir, a.pause(ctx)
}

// Create implements contract.Adapter.
func (a *Adapter) Create(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
	if err := a.pause(ctx); err != nil {
		return contract.Instance{}, err
	}
	if len(r.Name) > 63 {
		return contract.Instance{}, fail("Create", "", port.CodeInvalidArgument, "a name has 63 bytes at most")
	}
	for key := range r.Labels {
		if key == "sbx.owner" || key == "_sandbox.attributionTag" {
			return contract.Instance{}, fail("Create", "", port.CodeInvalidArgument, "label "+key+" is reserved")
		}
	}
	a.v.mu.Lock()
	defer a.v.mu.Unlock()
	from, env := "", maps.Clone(r.Env)
	switch {
	case r.FromSnapshot != "":
		s := a.v.snaps[r.FromSnapshot]
		if s == nil {
			return contract.Instance{}, fail("Create", "", port.CodeNotFound, "there is no such snapshot")
		}
		from, r.Image = s.dir, s.image
		env = maps.Clone(s.env)
		if env == nil {
			env = map[string]string{}
		}
		maps.Copy(env, r.Env)
	case r.Image != Image && (r.Image != ColdImage || a.v.have[r.Image] < coldLayers):
		return contract.Instance{}, fail("Create", "", port.CodeNotFound, "there is no such image")
	}
	b, err := a.v.add(r, from, env)
	if err != nil {
		return contract.Instance{}, err
	}
	return b.view(), nil
}

// Inspect implements contract.Adapter.
func (a *Adapter) Inspect(ctx context.Context, id string) (contract.Instance, error) {
	if err := a.pause(ctx); err != nil {
		return contract.Instance{}, err
	}
	a.v.mu.Lock()
	defer a.v.mu.Unlock()
	b, err := a.v.get("Inspect", id)
	if err != nil {
		return contract.Instance{}, err
	}
	return b.view(), nil
}

// Destroy implements contract.Adapter.
func (a *Adapter) Destroy(ctx context.Context, id string) (port.DestroyOutcome, error) {
	if err := a.pause(ctx); err != nil {
		return "", err
	}
	a.v.mu.Lock()
	defer a.v.mu.Unlock()
	b := a.v.boxes[id]
	if b == nil {
		return port.DestroyAlreadyAbsent, nil
	}
	err := errors.Join(b.signal(syscall.SIGCONT), b.signal(syscall.SIGKILL))
	delete(a.v.boxes, id)
	if lag := a.v.traits.ListLag; lag > 0 {
		a.v.gone = append(a.v.gone, lingering{b.view(), time.Now().Add(lag)})
	}
	if b.net != "" {
		err = errors.Join(err, removeTree(b.net))
	}
	if err := errors.Join(err, removeTree(b.dir)); err != nil {
		return "", &port.Error{Code: port.CodeProvider, Op: "Destroy", ID: id, Outcome: port.OutcomeDone, Err: err}
	}
	return port.DestroyAccepted, nil
}

// removeTree tries again while processes that are being killed still write.
func removeTree(dir string) error {
	var err error
	for range 50 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}

// signal reaches every process group of the sandbox that may still run.
func (b *box) signal(s syscall.Signal) error {
	var errs []error
	for g := range b.groups {
		err := syscall.Kill(-g, s)
		if errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.EPERM) { // ended; the number may be another's by now
			delete(b.groups, g)
			errs = append(errs, b.guard.drop(g))
			continue
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// List implements contract.Lister.
func (a *Adapter) List(ctx context.Context, r contract.ListRequest) ([]contract.Instance, error) {
	if err := a.pause(ctx); err != nil {
		return nil, err
	}
	return wire.Drain(ctx, func(_ context.Context, cursor string) ([]contract.Instance, string, error) {
		rows, next := a.v.page(r, cursor)
		return rows, next, nil
	}, wire.DrainOptions[contract.Instance]{Key: func(i contract.Instance) string { return i.ID }})
}

// Page is how many rows the vendor's listing gives at once.
const Page = 5

// page gives the rows that come after the ID which is the cursor, and the cursor of
// the next page, empty after the last.
func (v *Vendor) page(r contract.ListRequest, cursor string) (rows []contract.Instance, next string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(v.boxes)) {
		if b := v.boxes[id]; time.Since(*b.i.CreatedAt) >= v.traits.ListLag && matches(b.i, r) {
			rows = append(rows, b.view())
		}
	}
	v.gone = slices.DeleteFunc(v.gone, func(l lingering) bool { return time.Now().After(l.until) })
	for _, l := range v.gone {
		if matches(l.i, r) {
			rows = append(rows, l.i)
		}
	}
	slices.SortFunc(rows, func(a, b contract.Instance) int { return strings.Compare(a.ID, b.ID) })
	rows = slices.DeleteFunc(rows, func(i contract.Instance) bool { return i.ID <= cursor })
	if len(rows) > Page {
		rows = rows[:Page]
		next = rows[Page-1].ID
	}
	return rows, next
}

func matches(i contract.Instance, r contract.ListRequest) bool {
	if len(r.States) > 0 && !slices.Contains(r.States, i.State) || !wire.MatchLabels(i.Labels, r.Labels) {
		return false
	}
	return r.Tags == nil || same(r.Tags.Owner, i.Tags.Owner) && same(r.Tags.Run, i.Tags.Run) && same(r.Tags.Intent, i.Tags.Intent)
}

func same(want, have string) bool { return want == "" || want == have }

// change puts a sandbox into another state.
func (a *Adapter) change(ctx context.Context, op, id string, from []contract.State, to contract.State, do func(*box) error) (contract.Instance, error) {
	if err := a.pause(ctx); err != nil {
		return contract.Instance{}, err
	}
	a.v.mu.Lock()
	defer a.v.mu.Unlock()
	b, err := a.v.get(op, id)
	if err != nil {
		return contract.Instance{}, err
	}
	if b.i.State == to && op != "Restart" {
		return b.view(), nil
	}
	if !slices.Contains(from, b.i.State) {
		return contract.Instance{}, fail(op, id, port.CodeFailedPrecondition, "the sandbox is "+string(b.i.State))
	}
	if err := do(b); err != nil {
		return contract.Instance{}, &port.Error{Code: port.CodeProvider, Op: op, ID: id, Outcome: port.OutcomeUnknown, Err: err}
	}
	b.i.State, b.i.NativeState = to, string(to)
	b.log = append(b.log, op)
	return b.view(), nil
}

func killAll(b *box) error {
	return errors.Join(b.signal(syscall.SIGCONT), b.signal(syscall.SIGKILL))
}

// Stop implements contract.Stopper.
func (a *Adapter) Stop(ctx context.Context, id string) (contract.Instance, error) {
	return a.change(ctx, "Stop", id, []contract.State{contract.StateRunning, contract.StateSuspended}, contract.StateStopped, killAll)
}

// Start implements contract.Stopper.
func (a *Adapter) Start(ctx context.Context, id string) (contract.Instance, error) {
	return a.change(ctx, "Start", id, []contract.State{contract.StateStopped}, contract.StateRunning, func(*box) error { return nil })
}

// Suspend implements contract.Suspender.
func (a *Adapter) Suspend(ctx context.Context, id string) (contract.Instance, error) {
	return a.change(ctx, "Suspend", id, []contract.State{contract.StateRunning}, contract.StateSuspended,
		func(b *box) error { return b.signal(syscall.SIGSTOP) })
}

// Resume implements contract.Suspender.
func (a *Adapter) Resume(ctx context.Context, id string) (contract.Instance, error) {
	return a.change(ctx, "Resume", id, []contract.State{contract.StateSuspended}, contract.StateRunning,
		func(b *box) error { return b.signal(syscall.SIGCONT) })
}

// Restart implements contract.Restarter.
func (a *Adapter) Restart(ctx context.Context, id string) (contract.Instance, error) {
	return a.change(ctx, "Restart", id, []contract.State{contract.StateRunning}, contract.StateRunning, killAll)
}
