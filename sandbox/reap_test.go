package sandbox_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/stretchr/testify/require"
)

// TestMain turns this binary into the other process of a test.
func TestMain(m *testing.M) {
	if role := os.Getenv("SANDBOX_TEST_ROLE"); role != "" {
		if err := otherProcess(role); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// otherProcess does what a test asks and dies where it says, without a word.
func otherProcess(role string) error {
	ctx := context.Background()
	c := &cloud{dir: os.Getenv("SANDBOX_TEST_CLOUD"), scope: "account-1"}
	die := func() {
		p, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = p.Kill()
		}
		if err != nil {
			panic(err)
		}
		select {}
	}
	dieIn := sandbox.WithTable(func(t contract.Table) contract.Table {
		create, destroy := t.Create, t.Destroy
		t.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			if role == "die-before-create" {
				die()
			}
			i, err := create(ctx, r)
			if role == "die-after-create" || os.Getenv("SANDBOX_TEST_DIE") == "after-create" {
				die()
			}
			return i, err
		}
		fork := t.Fork
		t.Fork = func(ctx context.Context, id string, r contract.ForkRequest) (contract.ForkResult, error) {
			res, err := fork(ctx, id, r)
			if role == "die-in-fork" {
				die()
			}
			return res, err
		}
		t.Destroy = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
			out, err := destroy(ctx, id)
			if role == "die-after-destroy" {
				die()
			}
			return out, err
		}
		return t
	})
	p, err := sandbox.Open(ctx, c.driver(supported()...), sandbox.WithStateDir(os.Getenv("SANDBOX_TEST_STATE")),
		sandbox.WithOwner("owner-a"), sandbox.WithSecret("token", port.NewSecret(dummy)), dieIn)
	if err != nil {
		return err
	}
	if role == "ensure" {
		s, err := p.Ensure(ctx, "shared")
		if err != nil {
			return err
		}
		_, err = os.Stdout.WriteString(s.ID() + "\n")
		return errors.Join(err, p.Close())
	}
	opt := sandbox.CreateOptions(sandbox.Scoped(), sandbox.WithName("my-box"))
	if strings.HasPrefix(role, "kept") || os.Getenv("SANDBOX_TEST_KEPT") != "" {
		opt = sandbox.Kept()
	}
	if role == "kept-reap-after" {
		opt = sandbox.CreateOptions(opt, sandbox.WithReapAfter(time.Hour))
	}
	s, err := p.Create(ctx, opt)
	if err != nil {
		return err
	}
	if role == "die-in-fork" {
		_, err = s.Fork(ctx, contract.ForkRequest{})
		return err
	}
	if role == "die-after-destroy" {
		_, err = s.Destroy(ctx)
		return err
	}
	die()
	return nil
}

func (w *world) process(role string) (string, error) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SANDBOX_TEST_ROLE="+role, "SANDBOX_TEST_CLOUD="+w.c.dir, "SANDBOX_TEST_STATE="+w.state)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// killed runs a process that ends by SIGKILL.
func (w *world) killed(role string) {
	w.t.Helper()
	_, err := w.process(role)
	var exit *exec.ExitError
	require.ErrorAs(w.t, err, &exit)
	require.Equal(w.t, -1, exit.ExitCode(), "it was to be killed")
}

func (w *world) reap(apply bool, change ...func(*sandbox.ReapOptions)) sandbox.ReapReport {
	w.t.Helper()
	o := sandbox.ReapOptions{StateDir: w.state, Owner: "owner-a", Apply: apply, Open: w.options(),
		Drivers: func(id string) (sandbox.Driver, bool) { return w.c.driver(supported()...), id == "fake" }}
	for _, f := range change {
		f(&o)
	}
	r, err := sandbox.Reap(w.t.Context(), o)
	require.NoError(w.t, err)
	return r
}

func later(d time.Duration) func(*sandbox.ReapOptions) {
	return func(o *sandbox.ReapOptions) { o.Now = func() time.Time { return time.Now().Add(d) } }
}

func faulty(change func(*contract.Table)) func(*sandbox.ReapOptions) {
	return func(o *sandbox.ReapOptions) { o.Open = append(o.Open, table(change)) }
}

// marked lets what has the ID carry other marks.
func marked(tags contract.Tags) func(*sandbox.ReapOptions) {
	return faulty(func(tb *contract.Table) {
		inner := tb.Inspect
		tb.Inspect = func(ctx context.Context, id string) (contract.Instance, error) {
			i, err := inner(ctx, id)
			i.Tags = &tags
			return i, err
		}
	})
}

func one(t *testing.T, r sandbox.ReapReport) sandbox.ReapItem {
	t.Helper()
	require.Len(t, r.Items, 1)
	return r.Items[0]
}

// ledgers are the bytes of every ledger file, to show that nothing was written.
func (w *world) ledgers() map[string]string {
	runs, err := ledger.Scan(context.Background(), ledger.Dirs{Root: w.state})
	require.NoError(w.t, err)
	out := map[string]string{}
	for _, r := range runs {
		raw, err := os.ReadFile(r.Path)
		require.NoError(w.t, err)
		out[r.Path] = string(raw)
	}
	return out
}

func TestWhatAKilledProcessLeftIsReaped(t *testing.T) {
	for _, role := range []string{"die-after-create", "die-with-box", "die-after-destroy"} {
		t.Run(role, func(t *testing.T) {
			w := newWorld(t)
			w.killed(role)
			before := w.ledgers()
			item := one(t, w.reap(false))
			require.Equal(t, sandbox.VerdictReap, item.Verdict)
			require.False(t, item.Acted)
			require.Equal(t, before, w.ledgers(), "a dry run writes nothing")
			require.Zero(t, w.c.count("Destroy"))
			r := w.reap(true)
			require.True(t, one(t, r).Destroy.VerifiedGone)
			require.False(t, r.Unresolved())
			require.Empty(t, w.c.ids(t))
			require.Empty(t, w.reap(false).Items, "nothing is owed any more")
			w.legal()
		})
	}
}

// What was to be kept and was never given to anybody is nobody's: its run died in
// the middle of the create.
func TestAKeptThingThatNobodyWasGivenIsReaped(t *testing.T) {
	t.Setenv("SANDBOX_TEST_KEPT", "yes")
	w := newWorld(t)
	w.killed("die-after-create")
	require.Len(t, w.c.ids(t), 1)
	item := one(t, w.reap(false))
	require.Equal(t, sandbox.VerdictReap, item.Verdict, item.Reason)
	require.Len(t, w.c.ids(t), 1, "a dry run")
	require.True(t, one(t, w.reap(true)).Destroy.VerifiedGone)
	require.Empty(t, w.c.ids(t))
	require.Empty(t, w.reap(false).Items)

	w.killed("die-before-create")
	require.Equal(t, sandbox.VerdictUnknown, one(t, w.reap(true)).Verdict, "the request may still be under way")
	require.Equal(t, sandbox.VerdictAbsent, one(t, w.reap(true, later(time.Hour))).Verdict)

	w.killed("die-with-box") // its ID is on record
	require.Equal(t, sandbox.VerdictSkipKept, one(t, w.reap(true)).Verdict)
	require.Len(t, w.c.ids(t), 1)
	w.legal()
}

// An Ensure finds what a killed Ensure of the same key made, also while somebody
// reaps: it is destroyed before it is found, or found and kept.
func TestReapAndEnsureAgreeOnWhatNobodyWasGiven(t *testing.T) {
	w := newWorld(t)
	t.Setenv("SANDBOX_TEST_DIE", "after-create")
	w.killed("ensure")
	t.Setenv("SANDBOX_TEST_DIE", "")
	require.Len(t, w.c.ids(t), 1)
	var found string
	r := w.reap(true, faulty(func(tb *contract.Table) {
		list := tb.List
		tb.List = func(ctx context.Context, r contract.ListRequest) ([]contract.Instance, error) {
			rows, err := list(ctx, r)
			if found == "" { // between the look and the act
				id, processErr := w.process("ensure")
				found, err = id, errors.Join(err, processErr)
			}
			return rows, err
		}
	}))
	require.Equal(t, w.c.ids(t), []string{found})
	require.Equal(t, sandbox.VerdictSkipKept, one(t, r).Verdict)
	w.legal()
}

func TestAnIntentWithoutACreate(t *testing.T) {
	w := newWorld(t)
	w.killed("die-before-create")
	require.Equal(t, sandbox.VerdictUnknown, one(t, w.reap(true)).Verdict, "the request may still be under way")
	require.True(t, w.reap(false).Unresolved())
	r := w.reap(true, later(time.Hour))
	require.Equal(t, sandbox.VerdictAbsent, one(t, r).Verdict)
	require.False(t, r.Unresolved())
	require.Empty(t, w.reap(false).Items)
	w.legal()
}

func TestAFailedListReleasesNothing(t *testing.T) {
	w := newWorld(t)
	w.killed("die-after-create")
	r := w.reap(true, later(time.Hour), faulty(func(tb *contract.Table) {
		tb.List = func(context.Context, contract.ListRequest) ([]contract.Instance, error) {
			return nil, errors.New("500")
		}
	}))
	require.Equal(t, sandbox.VerdictUnknown, one(t, r).Verdict)
	require.True(t, r.Unresolved())
	require.Len(t, w.c.ids(t), 1)
	require.Zero(t, w.c.count("Destroy"))
}

func TestWhatMayNotBeReaped(t *testing.T) {
	for name, tc := range map[string]struct {
		role   string
		want   sandbox.Verdict
		change []func(*sandbox.ReapOptions)
		then   func(*world)
	}{
		"kept":           {"kept", sandbox.VerdictSkipKept, []func(*sandbox.ReapOptions){later(1000 * time.Hour)}, nil},
		"not yet past":   {"kept-reap-after", sandbox.VerdictSkipNotYetPast, nil, nil},
		"other account":  {"die-with-box", sandbox.VerdictSkipForeignScope, nil, func(w *world) { w.c.scope = "account-2" }},
		"no driver":      {"die-with-box", sandbox.VerdictUnknown, []func(*sandbox.ReapOptions){func(o *sandbox.ReapOptions) { o.Drivers = nil }}, nil},
		"no credentials": {"die-with-box", sandbox.VerdictUnknown, []func(*sandbox.ReapOptions){func(o *sandbox.ReapOptions) { o.Open = []sandbox.Option{environ(nil)} }}, nil},
		"scope unknown": {"die-with-box", sandbox.VerdictUnknown, []func(*sandbox.ReapOptions){faulty(func(tb *contract.Table) {
			tb.Scope = func(context.Context) (string, error) { return "", errors.New("x") }
		})}, nil},
		"another's now":         {"die-with-box", sandbox.VerdictSkipTagMismatch, []func(*sandbox.ReapOptions){marked(contract.Tags{Owner: "owner-b"})}, nil},
		"of another intent now": {"die-with-box", sandbox.VerdictSkipTagMismatch, []func(*sandbox.ReapOptions){marked(contract.Tags{Owner: "owner-a", Intent: "i"})}, nil},
		"adopted by a living run": {"die-with-box", sandbox.VerdictSkipAlive, nil, func(w *world) {
			_, err := w.open().Attach(w.t.Context(), w.c.ids(w.t)[0], sandbox.Adopt())
			require.NoError(w.t, err)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.killed(tc.role)
			if tc.then != nil {
				tc.then(w)
			}
			require.Equal(t, tc.want, one(t, w.reap(true, tc.change...)).Verdict)
			require.Len(t, w.c.ids(t), 1)
			require.Zero(t, w.c.count("Destroy"))
			w.legal()
		})
	}
}

func TestTheLivingAreLeftAloneUntilTheirReapTime(t *testing.T) {
	w := newWorld(t)
	p := w.open()
	_, err := p.Create(t.Context(), sandbox.WithReapAfter(time.Hour))
	require.NoError(t, err)
	require.Equal(t, sandbox.VerdictSkipAlive, one(t, w.reap(true)).Verdict)
	r := w.reap(true, later(2*time.Hour))
	require.True(t, one(t, r).Destroy.VerifiedGone)
	require.Empty(t, w.c.ids(t))
	require.Empty(t, w.reap(false).Items)
	w.legal()
}

func TestKeptThingsPastTheirReapTimeAreReaped(t *testing.T) {
	w := newWorld(t)
	w.killed("kept-reap-after")
	require.True(t, one(t, w.reap(true, later(2*time.Hour))).Destroy.VerifiedGone)
	require.Empty(t, w.c.ids(t))
	w.legal()
}

func TestALiteralUnverifiedDestroyIsNotResolved(t *testing.T) {
	w := newWorld(t)
	w.killed("die-with-box")
	r := w.reap(true, faulty(func(tb *contract.Table) {
		tb.Destroy = func(context.Context, string) (port.DestroyOutcome, error) { return port.DestroyAccepted, nil }
	}))
	require.True(t, r.Unresolved())
	require.True(t, r.Unverified())
	require.Len(t, w.reap(false).Items, 1, "it is still owed")
	w.legal()
}

func TestADamagedLedgerIsReported(t *testing.T) {
	w := newWorld(t)
	w.killed("die-with-box")
	for path, raw := range w.ledgers() {
		require.NoError(t, os.WriteFile(path, []byte(raw+"{}\n"), 0o600))
	}
	r := w.reap(true)
	require.NotEmpty(t, r.Problems)
	require.True(t, r.Unresolved())
	require.True(t, one(t, r).Destroy.VerifiedGone, "what can be trusted is acted on")
	require.Empty(t, w.c.ids(t))
}

// A ledger that is the only one and cannot be read leaves everything unknown; it is
// no failure to look.
func TestALedgerThatCannotBeReadIsUnknown(t *testing.T) {
	w := newWorld(t)
	w.killed("die-with-box")
	for path, raw := range w.ledgers() {
		lines := strings.SplitAfter(raw, "\n")
		require.NoError(t, os.WriteFile(path, []byte(lines[0]+strings.Join(lines[2:], "")), 0o600))
	}
	r := w.reap(true)
	require.Len(t, r.Problems, 1)
	require.True(t, r.Unresolved())
	require.Len(t, w.c.ids(t), 1)
}

func TestTwoProcessesEnsureOne(t *testing.T) {
	w := newWorld(t)
	const n = 4
	got := make([]string, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			id, err := w.process("ensure")
			if err != nil {
				t.Error(err)
			}
			got[i] = id
		})
	}
	wg.Wait()
	require.Len(t, w.c.ids(t), 1)
	for _, id := range got {
		require.Equal(t, w.c.ids(t)[0], id)
	}
	require.Equal(t, sandbox.VerdictSkipKept, one(t, w.reap(true)).Verdict)
	w.legal()
}

func TestProviderReapSeesOnlyItsOwn(t *testing.T) {
	w := newWorld(t)
	w.killed("die-with-box")
	r, err := w.open().Reap(t.Context(), true)
	require.NoError(t, err)
	require.True(t, one(t, r).Destroy.VerifiedGone)
}

func TestWhatAForkMadeBeforeItsProcessDiedIsFound(t *testing.T) {
	w := newWorld(t)
	w.killed("die-in-fork")
	require.Len(t, w.c.ids(t), 3, "source, fork and the snapshot between them")
	r := w.reap(true)
	require.False(t, r.Unresolved(), "%+v", r)
	require.Len(t, r.Items, 3)
	require.Empty(t, w.c.ids(t))
	require.Empty(t, w.reap(false).Items)
	w.legal()
}

func TestAListOfSnapshotsThatFailsIsReported(t *testing.T) {
	w := newWorld(t)
	w.killed("die-in-fork")
	r := w.reap(true, faulty(func(tb *contract.Table) {
		tb.ListSnapshots = func(context.Context) ([]contract.Snapshot, error) { return nil, errors.New("500") }
	}))
	require.True(t, r.Unresolved())
	require.Len(t, w.c.ids(t), 2, "the fork waits, because it is the way to its snapshot")
	require.False(t, w.reap(true).Unresolved())
	require.Empty(t, w.c.ids(t))
	w.legal()
}

func TestTheTransferredIsNobodysToReap(t *testing.T) {
	w := newWorld(t)
	p, err := sandbox.Open(t.Context(), w.c.driver(supported()...), w.options()...)
	require.NoError(t, err)
	s, err := p.Create(t.Context())
	require.NoError(t, err)
	require.NoError(t, s.Transfer(t.Context(), "owner-b"))
	_, err = s.Destroy(t.Context())
	code(t, err, port.CodeForeign)
	require.NoError(t, p.Close())
	require.Empty(t, w.reap(true, later(1000*time.Hour)).Items)
	again, err := w.open().Attach(t.Context(), s.ID())
	require.NoError(t, err)
	require.False(t, again.Owned())
	require.Len(t, w.c.ids(t), 1)
	w.legal()
}
