package main

import (
	"context"
	"strings"
	"testing"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/stretchr/testify/require"
)

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
