//go:build unix

package conformance_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/conformance/reference"
	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// execute runs the selected checks on a reference vendor whose Table is changed.
func execute(t *testing.T, run string, change func(contract.Table) contract.Table, opts conformance.RunOptions) *conformance.Report {
	t.Helper()
	h := harness(t, reference.Traits{})
	if change != nil {
		h.Options = append(h.Options, sandbox.WithTable(change))
	}
	return executeHarness(t, h, run, opts)
}

func executeHarness(t *testing.T, h conformance.Harness, run string, opts conformance.RunOptions) *conformance.Report {
	t.Helper()
	opts.StateDir = t.TempDir()
	if run != "" {
		opts.Run = regexp.MustCompile(run)
	}
	report, err := conformance.Execute(t.Context(), h, opts)
	require.NoError(t, err)
	return report
}

func result(t *testing.T, r *conformance.Report, id string) conformance.Result {
	t.Helper()
	res, ok := r.Result(id)
	require.True(t, ok, id)
	return res
}

func TestUnreachableVendorIsUnknown(t *testing.T) {
	h := harness(t, reference.Traits{})
	created := 0
	h.Options = append(h.Options, sandbox.WithTable(func(table contract.Table) contract.Table {
		table.Create = func(context.Context, contract.CreateRequest) (contract.Instance, error) {
			created++
			return contract.Instance{}, errors.New("must not be called")
		}
		return table
	}))
	h.Preflight = func(context.Context) error { return errors.New("no route") }
	report := executeHarness(t, h, "", conformance.RunOptions{})
	require.Zero(t, created)
	require.Zero(t, report.Counts.Failed)
	res := result(t, report, "create.returns-id")
	require.Equal(t, conformance.Unknown, res.Verdict)
	require.Equal(t, conformance.AuthUnavailable, res.Reason)
	require.Contains(t, res.Message, "no route")
	require.Equal(t, conformance.Passed, result(t, report, "shape.credentials-absent").Verdict)
	require.Positive(t, report.Counts.OwedUnknown)
}

func TestMissingCredentialsAreUnknown(t *testing.T) {
	h := harness(t, reference.Traits{})
	h.Options = []sandbox.Option{sandbox.WithEnviron(func(string) (string, bool) { return "", false })}
	report := executeHarness(t, h, "", conformance.RunOptions{})
	res := result(t, report, "create.returns-id")
	require.Equal(t, conformance.AuthUnavailable, res.Reason)
	require.Contains(t, res.Message, "SBX_REFERENCE_TOKEN")
	require.Zero(t, report.Counts.Failed)
}

func TestFailedPreconditionBlocks(t *testing.T) {
	var created atomic.Int64
	report := execute(t, "", func(table contract.Table) contract.Table {
		table.Create = func(context.Context, contract.CreateRequest) (contract.Instance, error) {
			created.Add(1)
			return contract.Instance{}, &port.Error{Code: port.CodeQuotaExceeded, Outcome: port.OutcomeUnchanged}
		}
		return table
	}, conformance.RunOptions{Parallel: 8})
	require.EqualValues(t, 1, created.Load())
	require.Equal(t, conformance.Failed, result(t, report, "create.returns-id").Verdict)
	res := result(t, report, "exec.env")
	require.Equal(t, conformance.BlockedBy, res.Reason)
	require.Equal(t, "ready.functional", res.BlockedBy)
	require.Zero(t, res.StartedAt)
	require.Equal(t, 1, report.Counts.Failed)
	require.False(t, report.OK())
}

func TestScaffoldedMethodIsUnknown(t *testing.T) {
	report := execute(t, "", func(table contract.Table) contract.Table {
		table.Create = func(context.Context, contract.CreateRequest) (contract.Instance, error) {
			return contract.Instance{}, port.NotImplemented("Create")
		}
		return table
	}, conformance.RunOptions{})
	require.Equal(t, conformance.NotImplemented, result(t, report, "create.returns-id").Reason)
	require.Zero(t, report.Counts.Failed)
	require.True(t, report.OK())
	require.Contains(t, report.Summary(), "not-implemented 1")
}

func TestHungAdapterEndsAtTheDeadline(t *testing.T) {
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	report := execute(t, "^exec.(unicode|quoting)$", func(table contract.Table) contract.Table {
		next := table.Exec
		table.Exec = func(ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
			if len(c.Argv) > 2 && c.Argv[1] == "%s" {
				<-forever
			}
			return next(ctx, id, c)
		}
		return table
	}, conformance.RunOptions{CheckTimeout: time.Second})
	res := result(t, report, "exec.unicode")
	require.Equal(t, conformance.TimedOut, res.Reason, res.Message)
	require.Equal(t, conformance.Passed, result(t, report, "exec.quoting").Verdict)
}

func TestFailureNamesTheMethod(t *testing.T) {
	report := execute(t, "^exec.stdin$", func(table contract.Table) contract.Table {
		next := table.Exec
		table.Exec = func(ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
			c.Stdin = nil
			return next(ctx, id, c)
		}
		return table
	}, conformance.RunOptions{})
	res := result(t, report, "exec.stdin")
	require.Equal(t, conformance.Failed, res.Verdict)
	require.Equal(t, "reference.(*Adapter).Exec", res.Method)
	require.Regexp(t, `^github.com/agentworkforce/sbx/conformance/reference/command.go:\d+$`, res.Location)
	require.Contains(t, res.Repro, `^exec\.stdin$`)
	require.Equal(t, conformance.NotAttempted, result(t, report, "exec.env").Reason)
}

func TestUndeclaredIsRefusedAsDeclared(t *testing.T) {
	h := harness(t, reference.Traits{})
	h.Driver.Manifest.Claims[string(contract.CapabilityFork)] = contract.Claim{Support: contract.SupportUnsupported, Reason: "no"}
	h.Driver.Manifest.Claims[string(contract.CapabilityStop)] = contract.Claim{Support: contract.SupportUnknown, Reason: "never tried"}
	report := executeHarness(t, h, "^(fork|stop)", conformance.RunOptions{})
	require.Equal(t, conformance.RefusedAsDeclared, result(t, report, "fork.independent").Verdict)
	res := result(t, report, "stop.keeps-disk")
	require.Equal(t, conformance.Unknown, res.Verdict)
	require.Contains(t, res.Message, "never tried")
	require.False(t, res.Owed)
	probed := executeHarness(t, h, "^stop", conformance.RunOptions{Probing: true})
	require.Equal(t, conformance.Passed, result(t, probed, "stop.keeps-disk").Verdict)
	require.True(t, probed.Mode.Probing)
}

func TestInterruptedRunTearsDown(t *testing.T) {
	h := harness(t, reference.Traits{})
	ctx, cancel := context.WithCancel(t.Context())
	path := filepath.Join(t.TempDir(), "deep", "report.json")
	report, err := conformance.Execute(ctx, h, conformance.RunOptions{StateDir: t.TempDir(), Report: path,
		Observer: func(p conformance.Progress) {
			if p.Result != nil && p.Check.ID == "exec.exit-codes" {
				cancel()
			}
		}})
	require.NoError(t, err)
	require.Equal(t, conformance.Passed, result(t, report, "exec.exit-codes").Verdict)
	require.Equal(t, conformance.NotAttempted, result(t, report, "exec.large-output").Reason)
	require.False(t, report.OK())
	left, err := h.Count(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]int{"sandbox": 0, "snapshot": 0}, left)
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	again, err := conformance.DecodeReport(raw)
	require.NoError(t, err)
	require.Equal(t, report.Counts, again.Counts)
}

func TestContractFixtures(t *testing.T) {
	h := harness(t, reference.Traits{})
	conformance.Contract(t, h.Driver, os.DirFS("testdata"))
}
