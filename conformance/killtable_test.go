//go:build unix

package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/conformance/mutants"
	"github.com/agentworkforce/sbx/conformance/peers"
	"github.com/agentworkforce/sbx/conformance/reference"
	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

var update = flag.Bool("update", false, "run every check on every mutant and write the kill table and its pages anew")

const killsFile = "testdata/kills.json"

// itself stands for what the run finds without a check: counts at the vendor,
// ledgers, teardown of what checks share.
const itself = "the run itself"

// kill is who caught one mutant.
type kill struct {
	Mutant string   `json:"mutant"`
	Checks []string `json:"checks,omitempty"` // in the order of the list
	Peer   []int    `json:"peer,omitempty"`   // numbers of the peer's tests
}

func every() []mutants.Mutant { return slices.Concat(mutants.All(), mutants.Machine()) }

func onMutant(t *testing.T, m mutants.Mutant) (*reference.Vendor, conformance.Harness) {
	t.Helper()
	v, err := reference.New(t.TempDir(), reference.Traits{Egress: m.Contained})
	require.NoError(t, err)
	h := conformance.Harness{Driver: v.Driver(), Count: v.Count, Witness: conformance.Witness{Address: "127.0.0.1", Name: "localhost"},
		Options: []sandbox.Option{sandbox.WithSecret("token", port.NewSecret(mutants.Token)), sandbox.WithTable(m.Make()),
			sandbox.WithDeadlines(sandbox.Deadlines{Destroy: 2 * time.Second, Ready: 3 * time.Second, Lookup: 5 * time.Second})}}
	if m.Manifest != nil {
		m.Manifest(&h.Driver.Manifest)
	}
	return v, h
}

// failures runs the checks that match on a mutant and returns those that failed.
func failures(t *testing.T, m mutants.Mutant, only string) []string {
	t.Helper()
	_, h := onMutant(t, m)
	opts := conformance.RunOptions{StateDir: t.TempDir(), CheckTimeout: 25 * time.Second, Parallel: 12}
	if only != "" {
		opts.Run = regexp.MustCompile("^" + regexp.QuoteMeta(only) + "$")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	report, err := conformance.Execute(ctx, h, opts)
	require.NoError(t, err)
	var out []string
	for _, c := range report.Checks {
		if c.Verdict == conformance.Failed {
			out = append(out, c.ID)
		}
	}
	if len(report.Problems) > 0 {
		out = append(out, itself)
	}
	return out
}

// peerFailures runs the peer's tests, or one of them, on a mutant.
func peerFailures(t *testing.T, m mutants.Mutant, only int) []int {
	t.Helper()
	v, err := reference.New(t.TempDir(), reference.Traits{Egress: m.Contained})
	require.NoError(t, err)
	a, err := v.Driver().Open(t.Context(), nil)
	require.NoError(t, err)
	table := m.Make()(contract.Bind(a))
	var mu sync.Mutex
	var out []int
	var wg sync.WaitGroup
	for _, c := range peers.Checks() {
		if only != 0 && c.Number != only {
			continue
		}
		wg.Go(func() {
			if err := c.Run(t.Context(), table, contract.CreateRequest{Image: reference.Image, Ports: []int64{3000}}); err != nil {
				mu.Lock()
				defer mu.Unlock()
				out = append(out, c.Number)
			}
		})
	}
	wg.Wait()
	slices.Sort(out)
	return out
}

// TestKillTable sees that every mutant is caught by the first check that the
// table names, and that what is said to survive does. With -update every check
// runs on every mutant.
func TestKillTable(t *testing.T) {
	if testing.Short() {
		t.Skip("runs hundreds of mutants")
	}
	recorded := map[string]kill{}
	if !*update {
		for _, k := range readKills(t) {
			recorded[k.Mutant] = k
		}
		require.Len(t, recorded, len(every()), "the table is of other mutants; run with -update")
	}
	rows := make([]kill, len(every()))
	var wg sync.WaitGroup
	slots := make(chan struct{}, 64) // they mostly wait
	for i, m := range every() {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) {
				if *update {
					defer func(began time.Time) { t.Logf("%s took %s", m.Name, time.Since(began).Round(time.Second)) }(time.Now())
					rows[i] = kill{Mutant: m.Name, Checks: failures(t, m, ""), Peer: peerFailures(t, m, 0)}
					return
				}
				compare(t, m, recorded[m.Name])
			})
		})
	}
	wg.Wait()
	if *update {
		writeKills(t, rows)
	}
}

func compare(t *testing.T, m mutants.Mutant, k kill) {
	t.Helper()
	require.Equal(t, m.Name, k.Mutant, "not in the table; run with -update")
	switch {
	case len(k.Checks) == 0:
		got := failures(t, m, "")
		if len(got) > 0 { // once more: a loaded machine can make a check fail
			got = failures(t, m, "")
		}
		require.Empty(t, got, "the table says that nothing catches it; run with -update")
	case m.Kills == "" && k.Checks[0] != itself: // TestMutants has the others
		require.Contains(t, failures(t, m, k.Checks[0]), k.Checks[0])
	}
	if len(k.Peer) > 0 {
		require.Contains(t, peerFailures(t, m, k.Peer[0]), k.Peer[0], "the peer's test")
	}
}

// TestThePeersSuiteIsRestatedFairly sees that every test of the peer passes on
// the reference and that each one can fail.
func TestThePeersSuiteIsRestatedFairly(t *testing.T) {
	whole := mutants.Mutant{Make: func() func(contract.Table) contract.Table {
		return func(t contract.Table) contract.Table { return t }
	}}
	require.Len(t, peers.Checks(), 19)
	require.Empty(t, peerFailures(t, whole, 0))
	failed := map[int]bool{}
	for _, k := range readKills(t) {
		for _, n := range k.Peer {
			failed[n] = true
		}
	}
	for _, c := range peers.Checks() {
		require.True(t, failed[c.Number], "no mutant makes test %d fail: %s", c.Number, c.Name)
	}
}

func readKills(t *testing.T) []kill {
	t.Helper()
	b, err := os.ReadFile(killsFile)
	require.NoError(t, err)
	var rows []kill
	require.NoError(t, json.Unmarshal(b, &rows))
	return rows
}

func writeKills(t *testing.T, rows []kill) {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("[\n")
	for i, row := range rows {
		line, err := json.Marshal(row)
		require.NoError(t, err)
		b.Write(line)
		if i < len(rows)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("]\n")
	require.NoError(t, os.WriteFile(killsFile, b.Bytes(), 0o644))
}
