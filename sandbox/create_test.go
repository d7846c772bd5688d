package sandbox_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/stretchr/testify/require"
)

func table(change func(*contract.Table)) sandbox.Option {
	return sandbox.WithTable(func(t contract.Table) contract.Table { change(&t); return t })
}

func TestCreateRunDestroyIsRecordedInOrder(t *testing.T) {
	w := newWorld(t)
	p := w.open()
	s, err := p.Create(t.Context(), sandbox.WithImage("alpine"), sandbox.WithLabels(map[string]string{"team": "a"}))
	require.NoError(t, err)
	res, err := s.Run(t.Context(), "echo", "hi")
	require.NoError(t, err)
	require.Equal(t, "echo hi", string(res.Stdout))
	require.Equal(t, "fake:"+s.ID(), s.Ref().String())
	report, err := s.Destroy(t.Context())
	require.NoError(t, err)
	require.True(t, report.Acknowledged)
	require.True(t, report.VerifiedGone)
	require.Equal(t, "list", report.Evidence.Control)
	require.False(t, *report.Evidence.Listed)
	require.Equal(t, []ledger.Event{"run-started", "intent", "created", "destroy-requested", "destroyed", "verified-gone"}, events(t, p.LedgerPath()))
	again, err := s.Destroy(t.Context())
	require.NoError(t, err)
	require.Equal(t, report, again)
	require.Equal(t, 1, w.c.count("Destroy"))
	require.Empty(t, w.c.ids(t))
	w.legal()
}

func TestWhatIsRefusedCreatesNothing(t *testing.T) {
	hour := time.Hour
	restricted := contract.EgressPolicy{Mode: contract.EgressModeDenyAll}
	for name, tc := range map[string]struct {
		code port.Code
		opt  sandbox.CreateOption
	}{
		"class and resources": {port.CodeInvalidArgument, both(sandbox.WithClass("small"), sandbox.WithResources(contract.Resources{}))},
		"image and snapshot":  {port.CodeInvalidArgument, both(sandbox.WithImage("a"), sandbox.WithFromSnapshot("b"))},
		"env name":            {port.CodeInvalidArgument, sandbox.WithEnv(map[string]string{"A-B": dummy})},
		"env name reserved":   {port.CodeInvalidArgument, sandbox.WithEnv(map[string]string{"FAKE_MARK": dummy})},
		"env name empty":      {port.CodeInvalidArgument, sandbox.WithEnv(map[string]string{"": dummy})},
		"reserved label":      {port.CodeInvalidArgument, sandbox.WithLabels(map[string]string{"SBX.owner": "me"})},
		"long label":          {port.CodeInvalidArgument, sandbox.WithLabels(map[string]string{"k": strings.Repeat("v", 9)})},
		"port":                {port.CodeUnsupported, sandbox.WithPorts(80)},
		"lifetime":            {port.CodeUnsupported, sandbox.WithLifetime(hour)},
		"idle":                {port.CodeUnsupported, sandbox.WithIdleTimeout(hour)},
		"mounts":              {port.CodeUnsupported, sandbox.WithMounts(contract.Mount{Path: "/w"})},
		"region":              {port.CodeUnsupported, sandbox.WithRegion("x")},
		"egress":              {port.CodeUnsupported, sandbox.WithEgress(restricted)},
		"secrets": {port.CodeUnsupported, sandbox.WithSecrets(contract.BrokeredSecret{Name: "n", Hosts: []string{"h"},
			Value: port.NewSecret(dummy)})},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			d := w.c.driver(supported()...)
			eight := int64(8)
			d.Manifest.Labels.MaxValueLength = &eight
			p := w.openDriver(d)
			_, err := p.Create(t.Context(), tc.opt)
			e := code(t, err, tc.code)
			require.Equal(t, port.OutcomeUnchanged, e.Outcome)
			require.NotContains(t, err.Error(), dummy)
			require.Empty(t, p.LedgerPath())
			require.Empty(t, w.c.calls)
		})
	}
}

func both(a, b sandbox.CreateOption) sandbox.CreateOption {
	return sandbox.CreateOptions(a, b)
}

func TestIntentIsDurableBeforeTheVendorIsCalled(t *testing.T) {
	w := newWorld(t)
	var p *sandbox.Provider
	var seen []ledger.Event
	p = w.open(table(func(tb *contract.Table) {
		inner := tb.Create
		tb.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			seen = events(t, p.LedgerPath())
			return inner(ctx, r)
		}
	}))
	_, err := p.Create(t.Context())
	require.NoError(t, err)
	require.Equal(t, []ledger.Event{"run-started", "intent"}, seen)
}

func TestWithoutALedgerNothingIsCreated(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, os.WriteFile(filepath.Join(w.state, "sbx"), nil, 0o600)) // where the directory would be
	p := w.open()
	_, err := p.Create(t.Context())
	require.Equal(t, port.OutcomeUnchanged, port.OutcomeOf(err))
	require.Zero(t, w.c.count("Create"))
}

func TestADefiniteFailureLeavesNothingOwed(t *testing.T) {
	w := newWorld(t)
	p := w.open(table(func(tb *contract.Table) {
		tb.Create = func(context.Context, contract.CreateRequest) (contract.Instance, error) {
			return contract.Instance{}, &port.Error{Code: port.CodeQuotaExceeded, Outcome: port.OutcomeUnchanged}
		}
	}))
	_, err := p.Create(t.Context())
	code(t, err, port.CodeQuotaExceeded)
	require.Equal(t, []ledger.Event{"run-started", "intent", "create-failed"}, events(t, p.LedgerPath()))
	w.legal()
}

func TestAnIDBesideAnErrorIsDestroyed(t *testing.T) {
	w := newWorld(t)
	p := w.open(table(func(tb *contract.Table) {
		inner := tb.Create
		tb.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			i, err := inner(ctx, r)
			return i, errors.Join(err, errors.New("the network went away"))
		}
	}))
	_, err := p.Create(t.Context())
	require.ErrorContains(t, err, "the network went away")
	require.Empty(t, w.c.ids(t))
	require.Contains(t, events(t, p.LedgerPath()), ledger.EventVerifiedGone)
	w.legal()
}

func TestAnUnknownOutcomeIsLookedForByItsTags(t *testing.T) {
	lose := table(func(tb *contract.Table) {
		inner := tb.Create
		tb.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			_, err := inner(ctx, r)
			return contract.Instance{}, errors.Join(err, errors.New("connection reset"))
		}
	})
	t.Run("found", func(t *testing.T) {
		w := newWorld(t)
		s, err := w.open(lose).Create(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{s.ID()}, w.c.ids(t))
		_, err = s.Destroy(t.Context())
		require.NoError(t, err)
		w.legal()
	})
	t.Run("the list fails", func(t *testing.T) {
		w := newWorld(t)
		p := w.open(lose, table(func(tb *contract.Table) {
			tb.List = func(context.Context, contract.ListRequest) ([]contract.Instance, error) {
				return nil, &port.Error{Code: port.CodeUnavailable}
			}
		}))
		_, err := p.Create(t.Context())
		require.Equal(t, port.CodeOutcomeUnknown, port.CodeOf(err))
		require.Equal(t, port.OutcomeUnknown, port.OutcomeOf(err))
		require.Equal(t, []ledger.Event{"run-started", "intent"}, events(t, p.LedgerPath()), "still owed")
	})
	t.Run("the list is empty", func(t *testing.T) {
		w := newWorld(t)
		p := w.open(lose, table(func(tb *contract.Table) {
			tb.List = func(context.Context, contract.ListRequest) ([]contract.Instance, error) { return nil, nil }
		}))
		_, err := p.Create(t.Context())
		code(t, err, port.CodeOutcomeUnknown)
		require.Equal(t, []ledger.Event{"run-started", "intent"}, events(t, p.LedgerPath()), "still owed")
	})
	t.Run("the list holds another's", func(t *testing.T) {
		w := newWorld(t)
		other, err := w.open().Create(t.Context())
		require.NoError(t, err)
		p := w.open(lose, table(func(tb *contract.Table) {
			list := tb.List
			tb.List = func(ctx context.Context, _ contract.ListRequest) ([]contract.Instance, error) {
				all, err := list(ctx, contract.ListRequest{})
				var out []contract.Instance
				for _, i := range all {
					if i.ID == other.ID() {
						out = append(out, i)
					}
				}
				return out, err
			}
		}))
		_, err = p.Create(t.Context())
		code(t, err, port.CodeOutcomeUnknown)
	})
}

func TestACancelledCallerReturnsAtOnceAndTheLateBoxIsDestroyed(t *testing.T) {
	w := newWorld(t)
	entered, proceed := make(chan struct{}), make(chan struct{})
	p, err := sandbox.Open(t.Context(), w.c.driver(supported()...), w.options(table(func(tb *contract.Table) {
		inner := tb.Create
		tb.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			close(entered)
			<-proceed
			if err := ctx.Err(); err != nil {
				return contract.Instance{}, err
			}
			return inner(ctx, r)
		}
	}))...)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() { _, err := p.Create(ctx); failed <- err }()
	<-entered
	cancel()
	e := code(t, <-failed, port.CodeCanceled) // the vendor's call is still blocked
	require.Equal(t, port.OutcomeUnknown, e.Outcome)
	closed := make(chan error)
	go func() { closed <- p.Close() }()
	select {
	case <-closed:
		t.Fatal("Close did not wait for the create")
	case <-time.After(20 * time.Millisecond):
	}
	close(proceed)
	require.NoError(t, <-closed)
	require.Equal(t, 1, w.c.count("Create"))
	require.Empty(t, w.c.ids(t))
	require.Equal(t, []ledger.Event{"run-started", "intent", "created", "destroy-requested", "destroyed", "verified-gone", "run-ended"},
		events(t, p.LedgerPath()))
	w.legal()
}

func TestReadyStopsEarlyAndDiagnoses(t *testing.T) {
	w := newWorld(t)
	seven := int64(7)
	p := w.open(sandbox.WithDeadlines(sandbox.Deadlines{Ready: time.Minute}), table(func(tb *contract.Table) {
		tb.Exec = func(context.Context, string, contract.Command) (contract.ExecResult, error) {
			return contract.ExecResult{}, &port.Error{Code: port.CodeUnavailable, Reason: "not up, " + dummy}
		}
		inner := tb.Inspect
		tb.Inspect = func(ctx context.Context, id string) (contract.Instance, error) {
			i, err := inner(ctx, id)
			i.State, i.ExitCode = contract.StateFailed, &seven
			return i, err
		}
	}))
	_, err := p.Create(t.Context())
	var not *sandbox.NotReadyError
	require.ErrorAs(t, err, &not)
	require.Equal(t, port.CodeUnavailable, port.CodeOf(err), "the first error is the one shown")
	require.Equal(t, contract.StateFailed, not.Diagnostics.State)
	require.Equal(t, int64(7), *not.Diagnostics.ExitCode)
	require.Contains(t, not.Diagnostics.LogTail, "boot failed")
	require.NotContains(t, not.Diagnostics.LogTail+err.Error(), dummy)
	require.Empty(t, w.c.ids(t), "nobody has a handle to it")
}

func TestDiagnosticsNeverMaskTheFirstError(t *testing.T) {
	w := newWorld(t)
	p := w.open(table(func(tb *contract.Table) {
		tb.Exec = func(context.Context, string, contract.Command) (contract.ExecResult, error) {
			return contract.ExecResult{ExitCode: 3}, nil
		}
		tb.Logs = func(context.Context, string, contract.LogsRequest) (port.ReadStream, error) {
			return port.ReadStream{}, errors.New("no logs for " + dummy)
		}
	}))
	_, err := p.Create(t.Context())
	var not *sandbox.NotReadyError
	require.ErrorAs(t, err, &not)
	require.ErrorContains(t, err, "exit code 3")
	require.Len(t, not.Diagnostics.Problems, 1)
	require.NotContains(t, not.Diagnostics.Problems[0], dummy)
}

func TestReadyNamesItsDeadline(t *testing.T) {
	w := newWorld(t)
	p := w.open(table(func(tb *contract.Table) {
		tb.Exec = func(context.Context, string, contract.Command) (contract.ExecResult, error) {
			return contract.ExecResult{}, &port.Error{Code: port.CodeUnavailable, Reason: "warming up"}
		}
	}))
	_, err := p.Create(t.Context())
	code(t, err, port.CodeTimeout)
	require.ErrorContains(t, err, "ready deadline of 300ms")
	require.ErrorContains(t, err, "warming up")
}

func TestEgressIsWithheldOnlyForThisStart(t *testing.T) {
	w := newWorld(t)
	warned := 0
	var sent *contract.EgressPolicy
	p := w.open(sandbox.OnEgressUnenforced(func(string, contract.EgressPolicy) { warned++ }), table(func(tb *contract.Table) {
		inner := tb.Create
		tb.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			sent = r.Egress
			return inner(ctx, r)
		}
	}))
	policy := sandbox.WithEgress(contract.EgressPolicy{Mode: contract.EgressModeDenyAll})
	_, err := p.Create(t.Context(), policy, sandbox.AllowUncontained())
	require.NoError(t, err)
	require.Equal(t, 1, warned)
	require.Nil(t, sent, "the adapter is not handed what it would refuse or ignore")
	_, err = p.Create(t.Context(), policy)
	code(t, err, port.CodeUnsupported)
}

func TestTheVendorIsToldWhatTheLedgerSays(t *testing.T) {
	w := newWorld(t)
	d := w.c.driver(supported()...)
	d.Manifest.Image = "the-default"
	var got contract.CreateRequest
	p := w.openDriver(d, table(func(tb *contract.Table) {
		inner := tb.Create
		tb.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			got = r
			return inner(ctx, r)
		}
	}))
	_, err := p.Create(t.Context(), sandbox.WithReapAfter(time.Hour))
	require.NoError(t, err)
	log, err := ledger.Read(p.LedgerPath())
	require.NoError(t, err)
	e := ledger.Fold(log.Records).Entries[0]
	require.Equal(t, "the-default", got.Image)
	require.Equal(t, []string{"owner-a", log.Records[0].Run, e.Intent}, []string{got.Tags.Owner, got.Tags.Run, got.Tags.Intent})
	require.True(t, e.ReapAfter.Equal(*got.Tags.ReapAfter))
	_, err = p.Create(t.Context(), sandbox.WithFromSnapshot("s"))
	require.NoError(t, err)
	require.Empty(t, got.Image, "the default image is no second source")
}

func TestSuccessWithoutAnIDIsUnknown(t *testing.T) {
	w := newWorld(t)
	d := w.c.driver()
	p := w.openDriver(d, table(func(tb *contract.Table) {
		tb.Create = func(context.Context, contract.CreateRequest) (contract.Instance, error) {
			return contract.Instance{}, nil
		}
	}))
	_, err := p.Create(t.Context())
	require.Equal(t, port.OutcomeUnknown, code(t, err, port.CodeOutcomeUnknown).Outcome)
}

func TestAConstantAnswerEndsNoWait(t *testing.T) {
	w := newWorld(t)
	tries := 0
	p := w.open(table(func(tb *contract.Table) {
		exec, inspect := tb.Exec, tb.Inspect
		tb.Exec = func(ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
			if tries++; tries < 3 {
				return contract.ExecResult{}, &port.Error{Code: port.CodeUnavailable}
			}
			return exec(ctx, id, c)
		}
		tb.Inspect = func(ctx context.Context, id string) (contract.Instance, error) {
			i, err := inspect(ctx, id)
			i.State, i.Freshness = contract.StateStopped, contract.FreshnessConstant
			return i, err
		}
	}))
	_, err := p.Create(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, tries)
}

func TestAShellThatAlwaysFailsIsGivenUp(t *testing.T) {
	w := newWorld(t)
	tries := 0
	p := w.open(sandbox.WithDeadlines(sandbox.Deadlines{Ready: time.Hour}), table(func(tb *contract.Table) {
		tb.Exec = func(context.Context, string, contract.Command) (contract.ExecResult, error) {
			tries++
			return contract.ExecResult{ExitCode: 127}, nil
		}
	}))
	_, err := p.Create(t.Context())
	code(t, err, port.CodeFailedPrecondition)
	require.Less(t, tries, 20)
}
