package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

func honestyChecks() map[string]proof {
	return map[string]proof{
		"honesty.inspect-asks-the-vendor": {run: inspectAsksTheVendor, method: "Inspect"},
		"honesty.destroy-error-surfaces":  {run: destroyErrorSurfaces, method: "Destroy"},
		"honesty.gone-is-bounded":         {run: goneIsBounded, method: "Destroy"},
		"honesty.error-is-not-absence":    {run: errorIsNotAbsence, method: "Inspect"},
		"honesty.list-shows-every-state":  {run: listShowsEveryState, method: "List"},
		"honesty.sandboxes-apart":         {run: sandboxesApart, method: "Exec"},
		"honesty.start-keeps-settings":    {run: startKeepsSettings, method: "Start"},
		"honesty.start-waits-for-settled": {run: startWaits, method: "Start"},
		"honesty.deadline-bounds-call":    {run: deadlineBoundsCall},
		"honesty.content-is-not-a-path":   {run: inDir(contentIsNotAPath), method: "WriteFile"},
	}
}

// neverExisted is an ID of the shape of a real one.
func neverExisted(id string) string {
	b := []byte(id)
	for i := len(b) - 1; i >= 0; i-- {
		switch c := b[i]; {
		case c == '9':
			b[i] = '8'
		case c >= '0' && c < '9', c >= 'a' && c < 'f':
			b[i]++
		case c == 'f':
			b[i] = 'e'
		default:
			continue
		}
		return string(b)
	}
	return id + "0"
}

func inspectAsksTheVendor(ctx context.Context, t *trial) error {
	sb, err := t.shared()
	if err != nil {
		return err
	}
	id := neverExisted(sb.ID())
	if _, err := t.s.table().Inspect(ctx, id); !isAbsent(err) {
		return fmt.Errorf("a look-up of an id that never existed: %v; want not_found", err)
	}
	outcome, err := t.s.table().Destroy(ctx, id)
	if err != nil || outcome != port.DestroyAlreadyAbsent {
		return fmt.Errorf("a destroy of an id that never existed answers %q, %v", outcome, err)
	}
	return nil
}

// unreadable opens the provider so that look-ups and listings fail as f says.
func unreadable(ctx context.Context, t *trial, f *fault, code port.Code) (*sandbox.Provider, error) {
	return t.open(ctx, sandbox.WithDeadlines(quick()), sandbox.WithTable(func(table contract.Table) contract.Table {
		inspect, list := table.Inspect, table.List
		fail := func(op string) error {
			return &port.Error{Code: code, Op: op, Outcome: port.OutcomeUnchanged, Reason: "conformance: not found is only in the text"}
		}
		table.Inspect = func(ctx context.Context, id string) (contract.Instance, error) {
			if f.fires() {
				return contract.Instance{}, fail("Inspect")
			}
			return inspect(ctx, id)
		}
		if list != nil {
			table.List = func(ctx context.Context, r contract.ListRequest) ([]contract.Instance, error) {
				if f.fires() {
					return nil, fail("List")
				}
				return list(ctx, r)
			}
		}
		return table
	}))
}

func errorIsNotAbsence(ctx context.Context, t *trial) error {
	for _, code := range []port.Code{port.CodeUnavailable, port.CodePermissionDenied, port.CodeProvider} {
		f := &fault{}
		p, err := unreadable(ctx, t, f, code)
		if err != nil {
			return err
		}
		sb, err := t.attempt(ctx, p)
		if err != nil {
			return unknown(NoInstanceCreated, "%v", err)
		}
		t.cleanup(func(context.Context) error { f.stop(); return nil })
		_, err = sb.Destroy(ctx)
		u, ok := errors.AsType[*sandbox.UnverifiedError](err)
		if !ok || u.Report.VerifiedGone {
			return fmt.Errorf("with look-ups that fail as %s a destroy ended with: %v", code, err)
		}
		f.stop()
		if err := t.destroyed(ctx, sb); err != nil {
			return err
		}
	}
	return nil
}

func destroyErrorSurfaces(ctx context.Context, t *trial) error {
	f := &fault{}
	p, err := t.open(ctx, sandbox.WithDeadlines(quick()), sandbox.WithTable(func(table contract.Table) contract.Table {
		destroy := table.Destroy
		table.Destroy = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
			if f.fires() {
				return "", &port.Error{Code: port.CodePermissionDenied, Op: "Destroy", Outcome: port.OutcomeUnchanged, Reason: "conformance: refused"}
			}
			return destroy(ctx, id)
		}
		return table
	}))
	if err != nil {
		return err
	}
	sb, err := t.attempt(ctx, p, sandbox.SkipReady())
	if err != nil {
		return unknown(NoInstanceCreated, "%v", err)
	}
	t.cleanup(func(context.Context) error { f.stop(); return nil })
	_, err = sb.Destroy(ctx)
	if err := wantCode(err, port.CodePermissionDenied, "a destroy that the vendor refuses"); err != nil {
		return err
	}
	state, err := stateOf(p)
	if err != nil {
		return err
	}
	for _, e := range state.Entries {
		if e.ID == sb.ID() && (e.Destroyed || e.Status == ledger.StatusVerifiedGone) {
			return fmt.Errorf("the ledger says %s", e.Status)
		}
	}
	f.stop()
	return t.destroyed(ctx, sb)
}

func goneIsBounded(ctx context.Context, t *trial) error {
	began := time.Now()
	return t.whileLingering(ctx, func(_ *sandbox.Provider, _ *sandbox.Sandbox, u *sandbox.UnverifiedError) error {
		if took := time.Since(began); took > 2*time.Minute {
			return fmt.Errorf("it took %s to give up", took)
		}
		if u.Err.Reason == "" || u.Report.Evidence.Looks == 0 && t.s.canProveGone() {
			return fmt.Errorf("the error does not say why: %+v", u.Report)
		}
		return nil
	})
}

func listShowsEveryState(ctx context.Context, t *trial) error {
	want := map[string]contract.State{}
	if t.s.callable(contract.CapabilityStop) {
		sb, err := t.create(ctx)
		if err != nil {
			return err
		}
		if _, err := sb.Stop(ctx); err != nil {
			return err
		}
		want[sb.ID()] = contract.StateStopped
	}
	if t.s.callable(contract.CapabilitySuspend) {
		sb, err := t.create(ctx)
		if err != nil {
			return err
		}
		if _, err := sb.Suspend(ctx); err != nil {
			return err
		}
		want[sb.ID()] = contract.StateSuspended
	}
	if len(want) == 0 {
		return unknown(NotAttempted, "it does not apply: the provider has no other state than running")
	}
	return settles(ctx, func() error { return t.shows(ctx, want) })
}

// shows requires sandboxes in the whole listing with their states.
func (t *trial) shows(ctx context.Context, want map[string]contract.State) error {
	all, err := t.s.table().List(ctx, contract.ListRequest{})
	if err != nil {
		return err
	}
	got := map[string]contract.State{}
	for _, i := range all {
		got[i.ID] = i.State
	}
	for id, state := range want {
		if got[id] != state {
			return fmt.Errorf("%s is %s, and the listing says %q", id, state, got[id])
		}
	}
	return nil
}

func sandboxesApart(ctx context.Context, t *trial) error {
	const n = 3
	var boxes [n]*sandbox.Sandbox
	var dirs [n]string
	for i := range n {
		sb, dir, err := t.marked(ctx)
		if err != nil {
			return err
		}
		boxes[i], dirs[i] = sb, dir
	}
	errs := make(chan error, n)
	for i := range n {
		go func() {
			errs <- recovered(func() error {
				for round := range 5 {
					want := fmt.Sprintf("box %d round %d\n", i, round)
					out, err := t.exec(ctx, boxes[i], at(dirs[i], fmt.Sprintf("echo box %d round %d > who; sleep 0; cat who", i, round)))
					if err := joinErrors(err, equal("what this sandbox holds", want, out)); err != nil {
						return err
					}
				}
				return nil
			})
		}()
	}
	var all []error
	for range n {
		all = append(all, <-errs)
	}
	return joinErrors(all...)
}

func startKeepsSettings(ctx context.Context, t *trial) error {
	sb, err := t.attempt(ctx, t.s.p, sandbox.WithEnv(map[string]string{"SBXC_KEPT": "yes"}))
	if port.CodeOf(err) == port.CodeUnsupported {
		return noted("create refuses an environment: %v", err)
	}
	if err != nil {
		return err
	}
	before, err := t.s.table().Inspect(ctx, sb.ID())
	if err != nil {
		return err
	}
	if _, err := sb.Stop(ctx); err != nil {
		return err
	}
	if _, err := sb.Start(ctx); err != nil {
		return err
	}
	out, err := t.run(ctx, sb, `printf %s "$SBXC_KEPT"`)
	if err := joinErrors(err, equal("an environment variable of create", "yes", out)); err != nil {
		return err
	}
	after, err := t.s.table().Inspect(ctx, sb.ID())
	if err != nil {
		return err
	}
	if before.Name != after.Name || before.Image != after.Image || fmt.Sprint(before.Labels) != fmt.Sprint(after.Labels) || !sameTime(before, after) {
		return fmt.Errorf("before %+v, after %+v", before, after)
	}
	return nil
}

func startWaits(ctx context.Context, t *trial) error {
	sb, err := t.create(ctx)
	if err != nil {
		return err
	}
	for range 3 {
		if _, err := sb.Stop(ctx); err != nil {
			return err
		}
		if _, err := sb.Start(ctx); err != nil {
			return err
		}
	}
	return joinErrors(t.alive(ctx, sb), t.is(ctx, sb, contract.StateRunning))
}

// contentIsNotAPath writes the path of a file of this machine as content.
func contentIsNotAPath(ctx context.Context, t *trial, sb *sandbox.Sandbox, dir string) error {
	local := filepath.Join(t.s.stateDir, "sbxc-local-"+t.s.nonce())
	if err := os.WriteFile(local, []byte("content of a local file"), 0o600); err != nil {
		return err
	}
	t.cleanup(func(context.Context) error { return os.Remove(local) })
	return t.roundTrip(ctx, sb, dir+"/file", []byte(local))
}
