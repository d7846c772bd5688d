package sandbox_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/stretchr/testify/require"
)

func TestOwnershipGatesLifeAndNothingElse(t *testing.T) {
	w := newWorld(t)
	made, err := w.open().Create(t.Context())
	require.NoError(t, err)
	s, err := w.open(sandbox.WithOwner("owner-b")).Attach(t.Context(), made.ID())
	require.NoError(t, err)
	require.False(t, s.Owned())
	before := slices.Clone(w.c.calls)
	for name, call := range map[string]func() error{
		"stop":    func() error { _, err := s.Stop(t.Context()); return err },
		"start":   func() error { _, err := s.Start(t.Context()); return err },
		"restart": func() error { _, err := s.Restart(t.Context()); return err },
		"destroy": func() error { _, err := s.Destroy(t.Context()); return err },
		"keep":    func() error { return s.Keep(t.Context(), 0) },
	} {
		require.Equal(t, port.OutcomeUnchanged, code(t, call(), port.CodeForeign).Outcome, name)
	}
	require.Equal(t, before, w.c.calls)
	_, err = s.Run(t.Context(), "true")
	require.NoError(t, err)
	r, err := s.ReadFile(t.Context(), "/a")
	require.NoError(t, err)
	content, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, "content", string(content))
	require.NoError(t, r.Close())
	require.NoError(t, s.WriteFile(t.Context(), "/a", 0o644, port.WriteStream{}))
}

func TestAdoptionIsRecordedAndGivesOwnership(t *testing.T) {
	w := newWorld(t)
	made, err := w.open().Create(t.Context())
	require.NoError(t, err)
	b := w.open(sandbox.WithOwner("owner-b"))
	s, err := b.Attach(t.Context(), made.ID(), sandbox.Adopt())
	require.NoError(t, err)
	require.Equal(t, []ledger.Event{"run-started", "adopted"}, events(t, b.LedgerPath()))
	again, err := w.open(sandbox.WithOwner("owner-b")).Attach(t.Context(), made.ID())
	require.NoError(t, err)
	require.True(t, again.Owned(), "a later read-only attach takes nothing away")
	_, err = s.Destroy(t.Context())
	require.NoError(t, err)
	w.legal()
}

func TestAnotherRunOfTheOwnerOwnsByTheLedger(t *testing.T) {
	w := newWorld(t)
	made, err := w.open().Create(t.Context())
	require.NoError(t, err)
	p := w.open()
	s, err := p.Attach(t.Context(), made.ID())
	require.NoError(t, err)
	require.True(t, s.Owned())
	require.Empty(t, p.LedgerPath(), "attaching changes nothing")
	_, err = s.Stop(t.Context())
	require.NoError(t, err)
	require.Equal(t, contract.StateStopped, s.Instance().State)
	require.Equal(t, []ledger.Event{"run-started", "adopted", "stop-requested", "stop-done"}, events(t, p.LedgerPath()))
	_, err = w.open().Attach(t.Context(), "box-none")
	code(t, err, port.CodeNotFound)
	w.legal()
}

func TestErrorsSayWhatIsKnown(t *testing.T) {
	w := newWorld(t)
	fail := errors.New("socket closed")
	p := w.open(table(func(tb *contract.Table) {
		tb.Stop = func(context.Context, string) (contract.Instance, error) { return contract.Instance{}, fail }
		tb.List = func(context.Context, contract.ListRequest) ([]contract.Instance, error) { return nil, fail }
	}))
	s, err := p.Create(t.Context(), sandbox.SkipReady())
	require.NoError(t, err)
	_, err = s.Stop(t.Context())
	e := code(t, err, port.CodeOutcomeUnknown)
	require.Equal(t, []any{"fake", "Stop", s.ID(), port.OutcomeUnknown}, []any{e.Provider, e.Op, e.ID, e.Outcome})
	_, err = p.List(t.Context(), contract.ListRequest{})
	require.Equal(t, port.OutcomeUnchanged, code(t, err, port.CodeUnavailable).Outcome)
	require.ErrorIs(t, err, fail)
}

func TestALostExitCodeStaysLost(t *testing.T) {
	w := newWorld(t)
	p := w.open(table(func(tb *contract.Table) {
		tb.Exec = func(context.Context, string, contract.Command) (contract.ExecResult, error) {
			return contract.ExecResult{}, &port.Error{Code: port.CodeExitUnknown}
		}
	}))
	s, err := p.Create(t.Context(), sandbox.SkipReady())
	require.NoError(t, err)
	_, err = s.Run(t.Context(), "x")
	require.Equal(t, port.OutcomeUnknown, code(t, err, port.CodeExitUnknown).Outcome)
}

func TestDeadlinesAreNamed(t *testing.T) {
	w := newWorld(t)
	block := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	p := w.open(sandbox.WithDeadlines(sandbox.Deadlines{Operation: 10 * time.Millisecond, Lookup: 10 * time.Millisecond}),
		table(func(tb *contract.Table) {
			tb.Stop = func(ctx context.Context, _ string) (contract.Instance, error) { return contract.Instance{}, block(ctx) }
			tb.ReadFile = func(ctx context.Context, _, _ string) (port.ReadStream, error) {
				return port.ReadStream{}, block(ctx)
			}
		}))
	s, err := p.Create(t.Context(), sandbox.SkipReady())
	require.NoError(t, err)
	_, err = s.Stop(t.Context())
	require.Equal(t, port.OutcomeUnknown, code(t, err, port.CodeTimeout).Outcome)
	require.ErrorContains(t, err, "the operation deadline of 10ms passed")
	_, err = s.ReadFile(t.Context(), "/a")
	require.Equal(t, port.OutcomeUnchanged, code(t, err, port.CodeTimeout).Outcome)
	require.ErrorContains(t, err, "the lookup deadline of 10ms passed")
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err = s.Stop(ctx)
	require.ErrorContains(t, err, "the caller's deadline passed")
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	_, err = s.Stop(ctx)
	code(t, err, port.CodeCanceled)
}

func TestAStreamOutlivesTheDeadlineOfItsOpening(t *testing.T) {
	w := newWorld(t)
	s, err := w.open(sandbox.WithDeadlines(sandbox.Deadlines{Lookup: 30 * time.Millisecond})).Create(t.Context(), sandbox.SkipReady())
	require.NoError(t, err)
	r, err := s.ReadFile(t.Context(), "/a")
	require.NoError(t, err)
	<-time.After(60 * time.Millisecond)
	_, err = io.ReadAll(r)
	require.NoError(t, err)
	require.NoError(t, r.Close())
}

func TestCommandsAreCheckedAndAlwaysHaveALife(t *testing.T) {
	w := newWorld(t)
	hour := time.Hour
	var got contract.Command
	d := w.c.driver(supported()...)
	d.Manifest.ExecTimeoutCap = &hour
	p := w.openDriver(d, table(func(tb *contract.Table) {
		tb.Exec = func(_ context.Context, _ string, c contract.Command) (contract.ExecResult, error) {
			got = c
			return contract.ExecResult{}, nil
		}
	}))
	s, err := p.Create(t.Context())
	require.NoError(t, err)
	for _, c := range []contract.Command{{}, {Argv: []string{""}}, {Argv: []string{"a"}, Script: "b"}, {Script: "a\x00"},
		{Script: "a", Timeout: -1}, {Script: "a", Timeout: 2 * hour}, {Script: "a", Env: map[string]string{"1A": dummy}},
		{Script: "a", Env: map[string]string{"FAKE_MARK": dummy}}} {
		got = contract.Command{}
		_, err := s.Exec(t.Context(), c)
		require.NotContains(t, code(t, err, port.CodeInvalidArgument).Error(), dummy)
		require.Zero(t, got, "%+v was sent", c)
	}
	_, err = s.Shell(t.Context(), "true")
	require.NoError(t, err)
	require.Equal(t, hour, got.Timeout)
}

func TestEveryOperationIsRefusedAfterClose(t *testing.T) {
	w := newWorld(t)
	p, err := sandbox.Open(t.Context(), w.c.driver(supported()...), w.options()...)
	require.NoError(t, err)
	s, err := p.Create(t.Context())
	require.NoError(t, err)
	reader, err := sandbox.Open(t.Context(), w.c.driver(supported()...), w.options()...)
	require.NoError(t, err)
	seen, err := reader.Attach(t.Context(), s.ID())
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	require.Error(t, seen.Keep(t.Context(), 0), "no run is started after the end")
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())
	before := len(w.c.calls)
	for _, call := range []func() error{
		func() error { _, err := s.Destroy(t.Context()); return err },
		func() error { _, err := s.Run(t.Context(), "x"); return err },
		func() error { _, err := p.Create(t.Context()); return err },
	} {
		code(t, call(), port.CodeFailedPrecondition)
	}
	require.Len(t, w.c.calls, before)
}

func TestRefsSplitAtTheFirstColon(t *testing.T) {
	r, err := sandbox.ParseRef("docker:a:b")
	require.NoError(t, err)
	require.Equal(t, []string{"docker", "a:b"}, []string{r.Provider(), r.Native()})
	require.Equal(t, r, sandbox.NewRef(r.Provider(), r.Native()))
	for _, bad := range []string{"", "a", ":a", "a:"} {
		_, err := sandbox.ParseRef(bad)
		code(t, err, port.CodeInvalidArgument)
	}
}

func TestEgressDispositionIsNeverWeakerThanAsked(t *testing.T) {
	none := (*contract.EgressPolicy)(nil)
	all := &contract.EgressPolicy{Mode: contract.EgressModeAllowAll}
	deny := &contract.EgressPolicy{Mode: contract.EgressModeDenyAll}
	hosts := &contract.EgressPolicy{Mode: contract.EgressModeAllowList, Hosts: []string{"a"}}
	cidrs := &contract.EgressPolicy{Mode: contract.EgressModeAllowList, CIDRs: []string{"10.0.0.0/8"}}
	for _, control := range contract.EgressControlValues() {
		for _, allow := range []bool{false, true} {
			require.Equal(t, sandbox.DispositionPass, sandbox.EgressDisposition(control, none, allow))
			require.Equal(t, sandbox.DispositionPass, sandbox.EgressDisposition(control, all, allow))
			for _, policy := range []*contract.EgressPolicy{deny, hosts, cidrs} {
				got := sandbox.EgressDisposition(control, policy, allow)
				can := control == contract.EgressControlHostsAndCIDRs || control == contract.EgressControlHosts && policy != cidrs
				require.Equal(t, can, got == sandbox.DispositionEnforce, "%s %+v", control, policy)
				if !can {
					require.Equal(t, allow, got == sandbox.DispositionWithhold)
				}
			}
		}
	}
	require.Equal(t, sandbox.DispositionRefuseUnenforceable, sandbox.EgressDisposition(contract.EgressControlHosts, cidrs, false))
	require.Equal(t, sandbox.DispositionRefuseUncontained, sandbox.EgressDisposition(contract.EgressControlUnknown, hosts, false))
}

func TestOneHandleServesMany(t *testing.T) {
	w := newWorld(t)
	s, err := w.open().Create(t.Context())
	require.NoError(t, err)
	var wg sync.WaitGroup
	for _, use := range []func() error{
		func() error { _, err := s.Run(t.Context(), "x"); return err },
		func() error { _, err := s.Inspect(t.Context()); return err },
		func() error { _, err := s.Restart(t.Context()); return err },
		func() error { return s.Keep(t.Context(), time.Hour) },
		func() error { s.Guard("g", func(context.Context) error { return nil })(); return nil },
		func() error {
			if s.Instance().ID != s.ID() {
				return errors.New("another instance")
			}
			return nil
		},
	} {
		for range 4 {
			wg.Go(func() {
				if err := use(); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	_, err = s.Destroy(t.Context())
	require.NoError(t, err)
	w.legal()
}
