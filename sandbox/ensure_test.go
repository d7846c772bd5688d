package sandbox_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/stretchr/testify/require"
)

func TestEnsureGivesOneSandboxPerKey(t *testing.T) {
	w := newWorld(t)
	a, err := w.open().Ensure(t.Context(), "k")
	require.NoError(t, err)
	b, err := w.open().Ensure(t.Context(), "k")
	require.NoError(t, err)
	require.Equal(t, a.ID(), b.ID())
	other, err := w.open().Ensure(t.Context(), "k2")
	require.NoError(t, err)
	require.NotEqual(t, a.ID(), other.ID())
	_, err = b.Stop(t.Context())
	require.NoError(t, err)
	c, err := w.open().Ensure(t.Context(), "k")
	require.NoError(t, err)
	require.Equal(t, a.ID(), c.ID())
	require.Equal(t, 1, w.c.count("Start"), "a stopped one is started again")
	_, err = c.Destroy(t.Context())
	require.NoError(t, err)
	d, err := w.open().Ensure(t.Context(), "k")
	require.NoError(t, err)
	require.NotEqual(t, a.ID(), d.ID())
	w.legal()
}

func TestEnsureCreatesNothingWhileItCannotKnow(t *testing.T) {
	t.Run("the look-up fails", func(t *testing.T) {
		w := newWorld(t)
		_, err := w.open().Ensure(t.Context(), "k")
		require.NoError(t, err)
		_, err = w.open(table(func(tb *contract.Table) {
			tb.Inspect = func(context.Context, string) (contract.Instance, error) {
				return contract.Instance{}, &port.Error{Code: port.CodeUnauthenticated}
			}
		})).Ensure(t.Context(), "k")
		code(t, err, port.CodeUnauthenticated)
		require.Equal(t, 1, w.c.count("Create"))
	})
	t.Run("the list fails", func(t *testing.T) {
		w := newWorld(t)
		lost := table(func(tb *contract.Table) {
			tb.Create = func(context.Context, contract.CreateRequest) (contract.Instance, error) {
				return contract.Instance{}, errors.New("reset")
			}
		})
		_, err := w.open(lost).Ensure(t.Context(), "k")
		code(t, err, port.CodeOutcomeUnknown)
		_, err = w.open(table(func(tb *contract.Table) {
			tb.List = func(context.Context, contract.ListRequest) ([]contract.Instance, error) {
				return nil, errors.New("500")
			}
		})).Ensure(t.Context(), "k")
		require.Error(t, err)
		_, err = w.open().Ensure(t.Context(), "k") // an empty list, and the run that meant to create it lives
		code(t, err, port.CodeOutcomeUnknown)
		require.Zero(t, w.c.count("Create"))
	})
	t.Run("a ledger is damaged", func(t *testing.T) {
		w := newWorld(t)
		p := w.open()
		_, err := p.Ensure(t.Context(), "k")
		require.NoError(t, err)
		raw, err := os.ReadFile(p.LedgerPath())
		require.NoError(t, err)
		raw[len(raw)/2] ^= 1
		require.NoError(t, os.WriteFile(p.LedgerPath(), raw, 0o600))
		_, err = w.open().Ensure(t.Context(), "k")
		code(t, err, port.CodeFailedPrecondition)
		require.Equal(t, 1, w.c.count("Create"))
	})
}

func TestEnsureHoldsItsLeaseUntilTheLateCreateHasSettled(t *testing.T) {
	w := newWorld(t)
	entered, proceed := make(chan struct{}), make(chan struct{})
	slow := w.open(table(func(tb *contract.Table) {
		inner := tb.Create
		tb.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			close(entered)
			<-proceed
			return inner(ctx, r)
		}
	}))
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() { _, err := slow.Ensure(ctx, "k"); left <- err }()
	<-entered
	cancel()
	code(t, <-left, port.CodeCanceled)
	short, stop := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer stop()
	_, err := w.open().Ensure(short, "k")
	code(t, err, port.CodeTimeout)
	close(proceed)
	s, err := w.open().Ensure(t.Context(), "k")
	require.NoError(t, err)
	require.Equal(t, []string{s.ID()}, w.c.ids(t))
}

func TestOpenFirstPassesOverWithReasons(t *testing.T) {
	w := newWorld(t)
	named := func(id string, change func(*sandbox.Driver)) sandbox.Driver {
		d := w.c.driver(supported()...)
		d.ID, d.Manifest.ID = id, id
		d.Manifest.Settings[0].Env = "TOKEN_" + id
		change(&d)
		return d
	}
	unconfigured := named("a", func(*sandbox.Driver) {})
	incapable := named("b", func(d *sandbox.Driver) { delete(d.Manifest.Claims, "stop") })
	weak := named("c", func(d *sandbox.Driver) { d.Manifest.Isolation = contract.IsolationUnknown })
	good := named("d", func(d *sandbox.Driver) { d.Manifest.Isolation = contract.IsolationVM })
	need := sandbox.Requirements{Capabilities: []contract.Capability{contract.CapabilityStop}, Isolation: []contract.Isolation{contract.IsolationVM, contract.IsolationUnknown}}
	opts := []sandbox.Option{sandbox.WithStateDir(w.state), sandbox.WithOwner("owner-a"),
		environ(map[string]string{"TOKEN_b": dummy, "TOKEN_c": dummy, "TOKEN_d": dummy})}
	p, err := sandbox.OpenFirst(t.Context(), []sandbox.Driver{unconfigured, incapable, weak, good}, need, opts...)
	require.NoError(t, err)
	require.Equal(t, "d", p.ID())
	require.NoError(t, p.Close())
	_, err = sandbox.OpenFirst(t.Context(), []sandbox.Driver{unconfigured, incapable, weak}, need, opts...)
	var none *sandbox.NoProviderError
	require.ErrorAs(t, err, &none)
	require.Len(t, none.Passed, 3)
}

func TestCreateFallsThroughOnlyOnADefiniteFailure(t *testing.T) {
	for c, falls := range map[*port.Error]bool{
		{Code: port.CodeQuotaExceeded}:                               true,
		{Code: port.CodeUnavailable, Outcome: port.OutcomeUnchanged}: true,
		{Code: port.CodeUnavailable}:                                 false,
		{Code: port.CodeOutcomeUnknown}:                              false,
		{Code: port.CodeQuotaExceeded, Outcome: port.OutcomeUnknown}: false,
		{Code: port.CodeInvalidArgument}:                             false,
		{Code: port.CodeProvider}:                                    false,
		{Code: port.CodeTimeout}:                                     false,
		{Code: port.CodeUnauthenticated}:                             true,
	} {
		w := newWorld(t)
		broken := w.c.driver()
		broken.ID = "broken"
		broken.Manifest.ID = "broken"
		inner := broken.Open
		broken.Open = func(ctx context.Context, s port.Settings) (contract.Adapter, error) {
			a, err := inner(ctx, s)
			return &failing{Adapter: a, err: c}, err
		}
		p, s, err := sandbox.CreateFirst(t.Context(), []sandbox.Driver{broken, w.c.driver()}, sandbox.Requirements{}, w.options())
		require.Equal(t, falls, err == nil, "%+v: %v", c, err)
		if falls {
			require.Equal(t, "fake", s.Provider())
			require.NoError(t, p.Close())
		}
		w.legal()
	}
}

type failing struct {
	contract.Adapter
	err error
}

func (f *failing) Create(context.Context, contract.CreateRequest) (contract.Instance, error) {
	return contract.Instance{}, f.err
}

func TestKeepIsTheLastWord(t *testing.T) {
	w := newWorld(t)
	p := w.open()
	s, err := p.Create(t.Context())
	require.NoError(t, err)
	require.NoError(t, s.Keep(t.Context(), time.Hour))
	log, err := ledger.Read(p.LedgerPath())
	require.NoError(t, err)
	e := ledger.Fold(log.Records).Entries[0]
	require.Equal(t, ledger.Kept, e.Disposition)
	require.False(t, e.ReapAfter.IsZero())
}

func TestEnsureFinishesADestroyAndReplacesNothingThatFailed(t *testing.T) {
	w := newWorld(t)
	p := w.open(table(func(tb *contract.Table) {
		tb.Destroy = func(context.Context, string) (port.DestroyOutcome, error) { return port.DestroyAccepted, nil }
	}))
	a, err := p.Ensure(t.Context(), "k")
	require.NoError(t, err)
	_, err = a.Destroy(t.Context())
	unverified(t, err)
	b, err := w.open().Ensure(t.Context(), "k")
	require.NoError(t, err)
	require.NotEqual(t, a.ID(), b.ID())
	require.Equal(t, []string{b.ID()}, w.c.ids(t))

	failed := table(func(tb *contract.Table) {
		inner := tb.Inspect
		tb.Inspect = func(ctx context.Context, id string) (contract.Instance, error) {
			i, err := inner(ctx, id)
			i.State = contract.StateFailed
			return i, err
		}
	})
	_, err = w.open(failed).Ensure(t.Context(), "k")
	code(t, err, port.CodeFailedPrecondition)
	require.ErrorContains(t, err, "has failed")
	require.Equal(t, []string{b.ID()}, w.c.ids(t))
}
