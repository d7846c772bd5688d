package sandbox_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/stretchr/testify/require"
)

func unverified(t *testing.T, err error) sandbox.DestroyReport {
	t.Helper()
	var u *sandbox.UnverifiedError
	require.ErrorAs(t, err, &u)
	code(t, err, port.CodeOutcomeUnknown)
	require.False(t, u.Report.VerifiedGone)
	return u.Report
}

// TestNothingButProofIsVerifiedGone puts one lie or one gap at a time between a
// destroy and its verification.
func TestNothingButProofIsVerifiedGone(t *testing.T) {
	swallow := func(tb *contract.Table) {
		tb.Destroy = func(context.Context, string) (port.DestroyOutcome, error) { return port.DestroyAccepted, nil }
	}
	for name, tc := range map[string]struct {
		proof  contract.GoneProof
		faults func(*cloud, *contract.Table)
	}{
		"a swallowed destroy": {contract.GoneProofBoth, func(_ *cloud, tb *contract.Table) { swallow(tb) }},
		"a swallowed destroy, inspect lies": {contract.GoneProofBoth, func(_ *cloud, tb *contract.Table) {
			swallow(tb)
			tb.Inspect = func(_ context.Context, id string) (contract.Instance, error) {
				return contract.Instance{}, notFound("Inspect", id)
			}
		}},
		"inspect fails": {contract.GoneProofInspect, func(_ *cloud, tb *contract.Table) {
			tb.Inspect = func(context.Context, string) (contract.Instance, error) {
				return contract.Instance{}, &port.Error{Code: port.CodeUnauthenticated}
			}
		}},
		"a tombstone": {contract.GoneProofInspect, func(_ *cloud, tb *contract.Table) {
			tb.Inspect = func(_ context.Context, id string) (contract.Instance, error) {
				return contract.Instance{ID: id, State: contract.StateGone, Freshness: contract.FreshnessLive}, nil
			}
		}},
		"the list fails": {contract.GoneProofInspect, func(_ *cloud, tb *contract.Table) {
			tb.List = func(context.Context, contract.ListRequest) ([]contract.Instance, error) {
				return nil, errors.New("500")
			}
		}},
		"the credentials changed": {contract.GoneProofBoth, func(c *cloud, tb *contract.Table) {
			inner := tb.Destroy
			tb.Destroy = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
				defer func() { c.scope = "account-2" }()
				return inner(ctx, id)
			}
		}},
		"the control read fails": {contract.GoneProofInspect, func(_ *cloud, tb *contract.Table) {
			tb.List, tb.ListSnapshots = nil, nil
			scope, inspect, looked := tb.Scope, tb.Inspect, false
			tb.Inspect = func(ctx context.Context, id string) (contract.Instance, error) {
				looked = true
				return inspect(ctx, id)
			}
			tb.Scope = func(ctx context.Context) (string, error) {
				if looked {
					return "", errors.New("401")
				}
				return scope(ctx)
			}
		}},
		"no proof exists":   {contract.GoneProofNone, func(*cloud, *contract.Table) {}},
		"proof not known":   {contract.GoneProofUnknown, func(*cloud, *contract.Table) {}},
		"no proof declared": {"", func(*cloud, *contract.Table) {}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			d := w.c.driver(supported()...)
			d.Manifest.GoneProof = tc.proof
			if name == "the control read fails" { // the account's identity is all there is to read
				delete(d.Manifest.Claims, "list")
				delete(d.Manifest.Claims, "snapshot")
			}
			p := w.openDriver(d, table(func(tb *contract.Table) { tc.faults(w.c, tb) }))
			s, err := p.Create(t.Context(), sandbox.SkipReady())
			require.NoError(t, err)
			_, err = s.Destroy(t.Context())
			require.True(t, unverified(t, err).Acknowledged)
			require.NotContains(t, events(t, p.LedgerPath()), ledger.EventVerifiedGone)
			require.Contains(t, events(t, p.LedgerPath()), ledger.EventDestroyed)
			w.legal()
		})
	}
}

func TestADestroyUnderAnotherAccountAsksNothing(t *testing.T) {
	w := newWorld(t)
	s, err := w.open().Create(t.Context())
	require.NoError(t, err)
	w.c.scope = "account-2"
	_, err = s.Destroy(t.Context())
	code(t, err, port.CodeOutcomeUnknown)
	require.Zero(t, w.c.count("Destroy"))
}

func TestDestroyWorksAfterCancelAndIsRetried(t *testing.T) {
	w := newWorld(t)
	tries := 0
	p := w.open(table(func(tb *contract.Table) {
		inner := tb.Destroy
		tb.Destroy = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
			if tries++; tries == 1 {
				return "", &port.Error{Code: port.CodeUnavailable, Retryable: true, Outcome: port.OutcomeUnchanged}
			}
			return inner(ctx, id)
		}
	}))
	s, err := p.Create(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	report, err := s.Destroy(ctx)
	require.NoError(t, err)
	require.Equal(t, 2, report.Attempts)
	require.Empty(t, w.c.ids(t))
}

func TestAFailedDestroyIsOwedAndMayBeRepeated(t *testing.T) {
	w := newWorld(t)
	deny := true
	p := w.open(table(func(tb *contract.Table) {
		inner := tb.Destroy
		tb.Destroy = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
			if deny {
				return "", &port.Error{Code: port.CodePermissionDenied}
			}
			return inner(ctx, id)
		}
	}))
	s, err := p.Create(t.Context())
	require.NoError(t, err)
	report, err := s.Destroy(t.Context())
	code(t, err, port.CodePermissionDenied)
	require.False(t, report.Acknowledged)
	require.Contains(t, events(t, p.LedgerPath()), ledger.EventDestroyFailed)
	deny = false
	_, err = s.Destroy(t.Context())
	require.NoError(t, err)
	w.legal()
}

func TestConcurrentDestroysShareOneAnswer(t *testing.T) {
	w := newWorld(t)
	s, err := w.open().Create(t.Context())
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			r, err := s.Destroy(t.Context())
			if err != nil || !r.VerifiedGone {
				t.Errorf("%+v %v", r, err)
			}
		})
	}
	wg.Wait()
	require.Equal(t, 1, w.c.count("Destroy"))
}

func TestAGuardRefusesBeforeAnythingIsAsked(t *testing.T) {
	w := newWorld(t)
	s, err := w.open().Create(t.Context())
	require.NoError(t, err)
	remove := s.Guard("history", func(context.Context) error { return errors.New("no receipt") })
	_, err = s.Destroy(t.Context())
	require.Equal(t, port.OutcomeUnchanged, code(t, err, port.CodeFailedPrecondition).Outcome)
	require.ErrorContains(t, err, "no receipt")
	require.Zero(t, w.c.count("Destroy"))
	remove()
	_, err = s.Destroy(t.Context())
	require.NoError(t, err)
}

func TestWithDestroysOnEveryWayOut(t *testing.T) {
	w := newWorld(t)
	p := w.open()
	boom := errors.New("boom")
	require.ErrorIs(t, sandbox.With(t.Context(), p, func(context.Context, *sandbox.Sandbox) error { return boom }), boom)
	require.Panics(t, func() {
		err := sandbox.With(t.Context(), p, func(context.Context, *sandbox.Sandbox) error { panic("x") })
		require.NoError(t, err)
	})
	require.Empty(t, w.c.ids(t))
}

func TestForkTakesItsIntermediatesWithIt(t *testing.T) {
	for _, attached := range []bool{false, true} {
		w := newWorld(t)
		p := w.open()
		source, err := p.Create(t.Context())
		require.NoError(t, err)
		fork, err := source.Fork(t.Context(), contract.ForkRequest{Name: "f"})
		require.NoError(t, err)
		require.Len(t, w.c.ids(t), 3)
		if attached {
			fork, err = w.open().Attach(t.Context(), fork.ID())
			require.NoError(t, err)
		}
		_, err = fork.Destroy(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{source.ID()}, w.c.ids(t))
		w.legal()
	}
}

func TestAForkMayNotPromiseMoreThanTheProvider(t *testing.T) {
	w := newWorld(t)
	s, err := w.open().Create(t.Context())
	require.NoError(t, err)
	_, err = s.Fork(t.Context(), contract.ForkRequest{Keeps: contract.KeepsDiskAndMemory})
	code(t, err, port.CodeUnsupported)
	require.Zero(t, w.c.count("Fork"))
}

func TestAForkThatFailsHalfwayLeavesNothing(t *testing.T) {
	w := newWorld(t)
	p := w.open(table(func(tb *contract.Table) {
		inner := tb.Fork
		tb.Fork = func(ctx context.Context, id string, r contract.ForkRequest) (contract.ForkResult, error) {
			res, err := inner(ctx, id, r)
			if err == nil {
				_, err = tb.Destroy(ctx, res.Instance.ID)
			}
			return contract.ForkResult{Intermediates: res.Intermediates}, errors.Join(err, &port.Error{Code: port.CodeQuotaExceeded})
		}
	}))
	s, err := p.Create(t.Context())
	require.NoError(t, err)
	_, err = s.Fork(t.Context(), contract.ForkRequest{})
	require.Error(t, err)
	require.Equal(t, []string{s.ID()}, w.c.ids(t))
}

func TestSnapshotsAreOwnedAndVerifiedGone(t *testing.T) {
	w := newWorld(t)
	p := w.open()
	s, err := p.Create(t.Context())
	require.NoError(t, err)
	snap, err := s.CreateSnapshot(t.Context(), contract.SnapshotRequest{Name: "n"})
	require.NoError(t, err)
	require.Equal(t, "owner-a", snap.Tags.Owner)
	stranger := w.open(sandbox.WithOwner("owner-b"))
	_, err = stranger.DeleteSnapshot(t.Context(), snap.ID)
	code(t, err, port.CodeForeign)
	require.Zero(t, w.c.count("DeleteSnapshot"))
	out, err := w.open().DeleteSnapshot(t.Context(), snap.ID) // another run of the same owner
	require.NoError(t, err)
	require.Equal(t, port.DestroyAccepted, out)
	require.Equal(t, []string{s.ID()}, w.c.ids(t))
	w.legal()
}

func TestWhatADestroyMayAnswer(t *testing.T) {
	answer := func(out port.DestroyOutcome, answered error) (sandbox.DestroyReport, error) {
		w := newWorld(t)
		p := w.open(table(func(tb *contract.Table) {
			inner := tb.Destroy
			tb.Destroy = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
				_, err := inner(ctx, id)
				return out, errors.Join(err, answered)
			}
		}))
		s, err := p.Create(t.Context())
		require.NoError(t, err)
		return s.Destroy(t.Context())
	}
	r, err := answer("", notFound("Destroy", "x"))
	require.NoError(t, err, "already gone is success")
	require.Equal(t, port.DestroyAlreadyAbsent, r.Outcome)
	r, err = answer("", nil)
	require.False(t, r.Acknowledged, "silence is no acknowledgement")
	code(t, err, port.CodeOutcomeUnknown)
}

func TestTheControlReadIsTheBestThereIs(t *testing.T) {
	for want, caps := range map[string][]contract.Capability{
		"list":           {contract.CapabilityList, contract.CapabilitySnapshot},
		"list-snapshots": {contract.CapabilitySnapshot},
		"scope":          nil,
	} {
		w := newWorld(t)
		d := w.c.driver(caps...)
		d.Manifest.GoneProof = contract.GoneProofInspect
		s, err := w.openDriver(d).Create(t.Context())
		require.NoError(t, err)
		r, err := s.Destroy(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, r.Evidence.Control)
		require.Equal(t, want == "list", r.Evidence.Listed != nil)
	}
}

// The connection breaks while a destroy is under way, and when it is asked again
// nobody answers: that it was refused then does not say that nothing happened.
func TestAnUnknownDestroyStaysUnknownWhenAskedAgain(t *testing.T) {
	w := newWorld(t)
	asked := 0
	p := w.open(table(func(tb *contract.Table) {
		inner := tb.Destroy
		tb.Destroy = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
			if asked++; asked > 1 {
				return "", &port.Error{Code: port.CodePermissionDenied, Outcome: port.OutcomeUnchanged}
			}
			if _, err := inner(ctx, id); err != nil {
				return "", err
			}
			return "", &port.Error{Code: port.CodeOutcomeUnknown, Outcome: port.OutcomeUnknown}
		}
	}))
	s, err := p.Create(t.Context(), sandbox.SkipReady())
	require.NoError(t, err)
	_, err = s.Destroy(t.Context())
	e := code(t, err, port.CodeOutcomeUnknown)
	require.Equal(t, port.OutcomeUnknown, e.Outcome)
	require.ErrorIs(t, err, port.Is(port.CodePermissionDenied), "why it could not be asked again")
	require.Greater(t, asked, 1)
}
