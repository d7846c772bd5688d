package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/stretchr/testify/require"
)

// vendor is the smallest one there is: it has boxes, or does not.
type vendor struct {
	boxes   map[string]bool
	stuck   bool // destroys are swallowed
	denying bool
}

func (v *vendor) Scope(context.Context) (string, error) { return "account", nil }

func (v *vendor) Create(context.Context, contract.CreateRequest) (contract.Instance, error) {
	return contract.Instance{}, port.NotImplemented("Create")
}

func (v *vendor) Inspect(_ context.Context, id string) (contract.Instance, error) {
	if !v.boxes[id] {
		return contract.Instance{}, &port.Error{Code: port.CodeNotFound}
	}
	return contract.Instance{ID: id, State: contract.StateRunning, Freshness: contract.FreshnessLive}, nil
}

func (v *vendor) Exec(context.Context, string, contract.Command) (contract.ExecResult, error) {
	return contract.ExecResult{}, port.NotImplemented("Exec")
}

func (v *vendor) Destroy(_ context.Context, id string) (port.DestroyOutcome, error) {
	if v.denying {
		return "", &port.Error{Code: port.CodePermissionDenied}
	}
	if !v.stuck {
		delete(v.boxes, id)
	}
	return port.DestroyAccepted, nil
}

func (v *vendor) driver(proof contract.GoneProof) func(string) (sandbox.Driver, bool) {
	return func(id string) (sandbox.Driver, bool) {
		return sandbox.Driver{ID: "fake", Manifest: contract.Manifest{ID: "fake", GoneProof: proof},
			Open: func(context.Context, port.Settings) (contract.Adapter, error) { return v, nil }}, id == "fake"
	}
}

// machine is one state directory and what a dead run left in it.
type machine struct {
	t     *testing.T
	state string
	run   string
	path  string
	out   bytes.Buffer
	err   bytes.Buffer
}

func newMachine(t *testing.T, events ...ledger.Event) *machine {
	t.Helper()
	m := &machine{t: t, state: t.TempDir()}
	dirs := ledger.Dirs{Root: m.state}
	who, err := ledger.Identify(t.Context(), dirs, m.outside(nil).getenv)
	require.NoError(t, err)
	w, err := ledger.Start(t.Context(), ledger.Options{Dirs: dirs, Identity: who})
	require.NoError(t, err)
	for _, e := range events {
		_, err := w.Append(ledger.Record{Event: e, Kind: ledger.KindSandbox, Provider: "fake", Scope: "account", Intent: "i",
			ID: map[bool]string{true: "box"}[e != ledger.EventIntent], Disposition: ledger.Scoped})
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	m.run, m.path = w.Run(), w.Path()
	return m
}

func (m *machine) outside(driver func(string) (sandbox.Driver, bool)) outside {
	vars := map[string]string{"SBX_STATE_DIR": m.state, "SBX_OWNER": "owner-a"}
	return outside{out: &m.out, err: &m.err, driver: driver, lookup: func(n string) (string, bool) { v, ok := vars[n]; return v, ok }}
}

func (m *machine) sbx(driver func(string) (sandbox.Driver, bool), args ...string) int {
	m.out.Reset()
	m.err.Reset()
	return run(m.t.Context(), args, m.outside(driver))
}

func TestReapExitsSayWhatIsLeft(t *testing.T) {
	created := []ledger.Event{ledger.EventIntent, ledger.EventCreated}
	none := func(string) (sandbox.Driver, bool) { return sandbox.Driver{}, false }
	for name, tc := range map[string]struct {
		vendor *vendor
		proof  contract.GoneProof
		events []ledger.Event
		exit   int
		says   string
	}{
		"gone":          {&vendor{}, contract.GoneProofInspect, created, exitDone, "verified-gone"},
		"no proof":      {&vendor{}, contract.GoneProofNone, created, exitUnverified, "acknowledged, unverified"},
		"refused":       {&vendor{denying: true}, contract.GoneProofInspect, created, exitFailed, "failed"},
		"never created": {&vendor{}, contract.GoneProofInspect, created[:1], exitUnknown, "look again: no later look here will settle it"},
		"no driver":     {nil, "", created, exitUnknown, "no driver"},
		"settled":       {&vendor{}, contract.GoneProofInspect, append(created[:1:1], ledger.EventCreateFailed), exitDone, "nothing is owed"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, tc.events...)
			driver := none
			if tc.vendor != nil {
				tc.vendor.boxes = map[string]bool{"box": true}
				driver = tc.vendor.driver(tc.proof)
			}
			require.Equal(t, tc.exit, m.sbx(driver, "reap", "--apply"), m.err.String())
			require.Contains(t, m.out.String(), tc.says)
		})
	}
}

func TestReapIsADryRunUnlessTold(t *testing.T) {
	m := newMachine(t, ledger.EventIntent, ledger.EventCreated)
	v := &vendor{boxes: map[string]bool{"box": true}}
	before, err := os.ReadFile(m.path)
	require.NoError(t, err)
	require.Equal(t, exitDone, m.sbx(v.driver(contract.GoneProofInspect), "reap", "--json"))
	var report sandbox.ReapReport
	require.NoError(t, json.Unmarshal(m.out.Bytes(), &report))
	require.Equal(t, sandbox.VerdictReap, report.Items[0].Verdict)
	require.True(t, v.boxes["box"])
	after, err := os.ReadFile(m.path)
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.Equal(t, exitDone, m.sbx(v.driver(contract.GoneProofInspect), "reap", "--provider", "other"))
	require.Contains(t, m.out.String(), "nothing is owed")
}

func TestLedgerShowAndVerify(t *testing.T) {
	m := newMachine(t, ledger.EventIntent, ledger.EventCreated)
	require.Equal(t, exitDone, m.sbx(nil, "ledger", "show", m.run))
	require.Contains(t, m.out.String(), "box")
	require.Equal(t, exitDone, m.sbx(nil, "ledger", "show", "--json"))
	var views []runView
	require.NoError(t, json.Unmarshal(m.out.Bytes(), &views))
	require.Equal(t, ledger.StatusCreated, views[0].Entries[0].Status)
	require.Equal(t, exitDone, m.sbx(nil, "ledger", "verify"))
	require.Contains(t, m.out.String(), "something is owed")

	raw, err := os.ReadFile(m.path)
	require.NoError(t, err)
	copied := filepath.Join(t.TempDir(), "copy.jsonl")
	require.NoError(t, os.WriteFile(copied, bytes.Replace(raw, []byte(`"box"`), []byte(`"fox"`), 1), 0o600))
	require.Equal(t, exitFailed, m.sbx(nil, "ledger", "verify", "--json", copied))
	var verified []verifyView
	require.NoError(t, json.Unmarshal(m.out.Bytes(), &verified))
	require.False(t, *verified[0].OK)
	require.NotEmpty(t, verified[0].Findings)
}

// A ledger that was emptied, or never got a record, proves nothing.
func TestAnEmptyLedgerIsNotBalanced(t *testing.T) {
	m := newMachine(t, ledger.EventIntent)
	for _, left := range [][]byte{{}, []byte(`{"v":1,"se`)} {
		require.NoError(t, os.WriteFile(m.path, left, 0o600))
		for _, which := range []string{m.run, m.path} {
			require.Equal(t, exitUnknown, m.sbx(nil, "ledger", "verify", which))
			require.Contains(t, m.out.String(), "no records")
			require.NotContains(t, m.out.String(), "balanced")
		}
		require.Equal(t, exitUnknown, m.sbx(nil, "ledger", "verify", "--json"))
		require.Contains(t, m.out.String(), `"balanced": null`)
	}
}

// What is printed for people fits a terminal of 80 columns, and a smaller one.
func TestReapAndLedgerFitTheTerminal(t *testing.T) {
	m := newMachine(t, ledger.EventIntent)
	for _, columns := range []int{0, 80, 60} {
		for _, args := range [][]string{{"reap"}, {"ledger", "show"}} {
			m.out.Reset()
			o := m.outside((&vendor{}).driver(contract.GoneProofInspect))
			o.columns = func(any) int { return columns }
			run(t.Context(), args, o)
			require.NotEmpty(t, m.out.String())
			for line := range strings.Lines(m.out.String()) {
				require.LessOrEqual(t, len([]rune(strings.TrimRight(line, "\n"))), or0(columns, 80), "%v at %d: %q", args, columns, line)
			}
		}
	}
}

func or0(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

// Somebody removed it behind our back: rm proves that, and closes the entry.
func TestRmOfWhatIsGoneClosesItsEntry(t *testing.T) {
	d := newDesk(t)
	require.Equal(t, 0, d.sbx("new"))
	delete(d.c.boxes, "box-1")
	require.Equal(t, 5, d.sbx("info", "cloud:box-1"))
	require.Equal(t, 0, d.sbx("rm", "cloud:box-1"), d.err.String())
	require.Contains(t, d.err.String(), "was already gone")
	require.Equal(t, 5, d.sbx("rm", "cloud:box-1"), "that is settled, and nothing is known of another")
	require.Equal(t, 5, d.sbx("rm", "cloud:never"))
	require.Equal(t, 0, d.sbx("reap"))
	require.Contains(t, d.out.String(), "nothing is owed")
	require.Equal(t, 0, d.sbx("ledger", "verify"))
}

func TestWrongCallsDoNothing(t *testing.T) {
	m := newMachine(t)
	for _, args := range [][]string{{"bogus"}, {"reap", "--bogus"}, {"reap", "x"}, {"ledger", "show", "x"}} {
		require.Equal(t, exitUsage, m.sbx(nil, args...), "%v", args)
		require.NotEmpty(t, m.err.String())
	}
	require.Equal(t, port.CodeNotFound.ExitCode(), m.sbx(nil, "ledger", "show", "20000101T000000Z-0123456789ab"))
	o := m.outside(nil)
	o.lookup = func(string) (string, bool) { return "relative", true }
	require.Equal(t, exitUsage, run(t.Context(), []string{"reap"}, o))
	require.Equal(t, exitDone, m.sbx(nil, "version"))
}

func TestWithoutLedgersReapMakesNone(t *testing.T) {
	m := &machine{t: t, state: t.TempDir()}
	require.Equal(t, exitDone, m.sbx(nil, "reap", "--apply"))
	entries, err := os.ReadDir(m.state)
	require.NoError(t, err)
	require.Empty(t, entries)
}
