package main

import (
	"context"
	"strings"
	"syscall"
	"testing"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/stretchr/testify/require"
)

// slow is a vendor whose creates take as long as nobody wants to wait.
type slow struct {
	*cloud
	asked, goOn chan struct{}
}

func (s *slow) Create(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
	close(s.asked)
	<-s.goOn
	return s.cloud.Create(ctx, r)
}

// A signal while something is being created: what comes of it is destroyed before
// the program ends.
func TestWhatIsCreatedAfterASignalIsDestroyed(t *testing.T) {
	for _, verb := range [][]string{{"new"}, {"run", "--", "say"}} {
		d := newDesk(t)
		s := &slow{d.c, make(chan struct{}), make(chan struct{})}
		driver := d.c.driver()
		driver.Open = func(context.Context, port.Settings) (contract.Adapter, error) { return s, nil }
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			<-s.asked
			cancel(interruptError{syscall.SIGINT})
			close(s.goOn)
		}()
		code := run(ctx, append(verb[:1:1], append([]string{"--provider", "cloud"}, verb[1:]...)...), outside{out: &d.out, err: &d.err,
			drivers: func() []sandbox.Driver { return []sandbox.Driver{driver} },
			driver:  func(id string) (sandbox.Driver, bool) { return driver, id == "cloud" },
			lookup:  func(n string) (string, bool) { v, ok := d.vars[n]; return v, ok }})
		require.Equal(t, map[string]int{"new": 1, "run": exitSbx}[verb[0]], code)
		require.Contains(t, d.err.String(), "(interrupt)")
		require.Empty(t, d.out.String())
		require.Empty(t, d.c.boxes)
		require.Equal(t, 0, d.sbx("reap"))
		require.Contains(t, d.out.String(), "nothing is owed")
	}
}

// sleepy is a vendor whose sandboxes run commands a little later than they exist.
type sleepy struct {
	*cloud
	code    port.Code
	outcome port.Outcome
	refuse  int
	ran     []string
}

func (s *sleepy) Exec(ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
	if s.refuse > 0 {
		s.refuse--
		return contract.ExecResult{}, &port.Error{Code: s.code, Outcome: s.outcome, Reason: "not yet"}
	}
	s.ran = append(s.ran, strings.Join(c.Argv, " ")+c.Script)
	return s.cloud.Exec(ctx, id, c)
}

// A command that certainly did not run is run when the sandbox is ready; one that
// may have run is never run again.
func TestRunWaitsOnlyWhereTheCommandDidNotRun(t *testing.T) {
	for _, tc := range []struct {
		code    port.Code
		outcome port.Outcome
		exit    int
		ran     []string
	}{
		{port.CodeUnavailable, port.OutcomeUnchanged, 0, []string{"exit 0", "repeat"}},
		{port.CodeUnavailable, port.OutcomeUnknown, exitSbx, nil},
		{port.CodeWorkdirUnusable, port.OutcomeUnchanged, exitSbx, nil},
	} {
		d := newDesk(t)
		s := &sleepy{cloud: d.c, code: tc.code, outcome: tc.outcome, refuse: 2}
		driver := d.c.driver()
		driver.ID, driver.Manifest.ID = "sleepy", "sleepy"
		driver.Open = func(context.Context, port.Settings) (contract.Adapter, error) { return s, nil }
		d.extra, d.in = []sandbox.Driver{driver}, strings.NewReader("given")
		require.Equal(t, tc.exit, d.sbx("run", "--provider", "sleepy", "--", "repeat"), d.err.String())
		require.Equal(t, tc.ran, s.ran)
		require.Equal(t, map[bool]string{true: "given", false: ""}[tc.exit == 0], d.out.String())
		require.Empty(t, d.c.boxes)
	}
}
