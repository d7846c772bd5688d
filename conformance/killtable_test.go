//go:build unix

package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
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

var update = flag.Bool("update", false, "make the kill table and its pages anew")

const killsFile = "testdata/kills.json"

// kill is who caught one mutant.
type kill struct {
	Mutant string   `json:"mutant"`
	Checks []string `json:"checks,omitempty"` // the first one that caught it
	Peer   []int    `json:"peer,omitempty"`   // numbers of the peer's tests
}

func every() []mutants.Mutant { return slices.Concat(mutants.All(), mutants.Machine()) }

func onMutant(t *testing.T, m mutants.Mutant, d sandbox.Deadlines) conformance.Harness {
	t.Helper()
	traits, make := reference.Traits{Egress: m.Contained}, harness
	if m.Remote {
		make = remote
	}
	h := make(t, traits)
	h.Options = append(h.Options, sandbox.WithTable(m.Make()), sandbox.WithDeadlines(d))
	h.Create = append(h.Create, m.Create...)
	if m.Manifest != nil {
		m.Manifest(&h.Driver.Manifest)
	}
	return h
}

// candidates are the checks that could catch a mutant: for a hand-made one that of
// its rule, for a machine-made one those of its operation's capability, and of
// the core those that use the operation.
func candidates(m mutants.Mutant) string {
	if m.Kills != "" {
		return "^" + regexp.QuoteMeta(m.Kills) + "$"
	}
	op, kind, _ := strings.Cut(m.Name, ": ")
	if kind == string(mutants.Delayed) {
		return `^honesty\.deadline-bounds-call$`
	}
	return `^(honesty\.(incarnation-checked|wrong-key-refused)|` + map[string]string{
		"Scope":    `shape\.scope-is-stable`,
		"Create":   `create\.(returns-id|bad-image-is-definite|definite-.*|name-.*|tags-survive)|must-not-fire\.neighbour|cleanup\.(no-leftovers|counts-balance)`,
		"Inspect":  `create\.(returns-id|state-is-honest)|cleanup\.verified-gone|stop\.state-settles|honesty\.(inspect-asks.*|status-is-live)|must-fire\.normal`,
		"Exec":     `exec\.(exit-zero|env|absent-sandbox|timeout-is-typed|background-.*|cancel-.*)|ready\.functional|honesty\.sandboxes-apart`,
		"Destroy":  `cleanup\.(destroy-.*|verified-gone)|must-not-fire\.second-destroy|honesty\.inspect-asks.*`,
		"List":     `list\..*|labels\.filter.*|must-not-fire\.failing-list|honesty\.list-.*`,
		"ReadFile": `files\.(round.*|missing.*|modes)`, "WriteFile": `files\.(round.*|missing.*|modes|odd.*)|honesty\.content.*`,
		"Stat": `files\.manage\.(stat|rename|mkdir.*)`, "ReadDir": `files\.manage\..*`, "Mkdir": `files\.manage\..*`,
		"Remove": `files\.manage\..*`, "Rename": `files\.manage\..*`,
		"Stream": `exec\.stream\..*|honesty\.output-.*`, "OpenPTY": `pty\..*`,
		"Stop": `stop\..*|honesty\.(start-.*|list-shows.*)`, "Start": `stop\..*|honesty\.start-.*`,
		"Suspend": `suspend\..*|honesty\.resume-.*`, "Resume": `suspend\..*|honesty\.resume-.*`,
		"CreateSnapshot": `snapshot\..*|cleanup\.(no-leftovers|counts-balance)`, "InspectSnapshot": `snapshot\..*`, "ListSnapshots": `snapshot\..*`,
		"DeleteSnapshot": `snapshot\..*|cleanup\.no-leftovers`, "Fork": `fork\..*|cleanup\.(no-leftovers|counts-balance)`, "PortURL": `ports\..*|honesty\.address-.*`,
		"Logs": `logs\..*`, "Metrics": `metrics\..*`, "Restart": `restart\..*`,
	}[op] + ")$"
}

// patient are deadlines for a machine that does much else.
func patient() sandbox.Deadlines {
	return sandbox.Deadlines{Destroy: 8 * time.Second, Ready: 10 * time.Second, Lookup: 8 * time.Second}
}

// failures runs the checks that match on a mutant and returns those that failed.
func failures(t *testing.T, m mutants.Mutant, only string) []string {
	t.Helper()
	h := onMutant(t, m, patient())
	opts := conformance.RunOptions{StateDir: t.TempDir(), CheckTimeout: 90 * time.Second, Parallel: 4, Run: regexp.MustCompile(only)}
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
	return out
}

// caught is the first check that fails on a mutant, and fails again when it is
// run by itself: what a loaded machine does to a check once is no finding.
func caught(t *testing.T, m mutants.Mutant) []string {
	t.Helper()
	for _, id := range failures(t, m, candidates(m)) {
		if again := failures(t, m, "^"+regexp.QuoteMeta(id)+"$"); slices.Contains(again, id) {
			return []string{id}
		}
	}
	return nil
}

// peerCaught are the peer's tests that fail on a mutant, and again.
func peerCaught(t *testing.T, m mutants.Mutant) []int {
	t.Helper()
	return slices.DeleteFunc(peerFailures(t, m, 0), func(n int) bool { return len(peerFailures(t, m, n)) == 0 })
}

// peerFailures runs the peer's tests, or one of them, on a mutant.
func peerFailures(t *testing.T, m mutants.Mutant, only int) []int {
	t.Helper()
	v, err := reference.New(t.TempDir(), reference.Traits{Egress: m.Contained})
	require.NoError(t, err)
	a, err := v.Driver().Open(t.Context(), port.Settings{"token": {Value: port.NewSecret(reference.Token)}})
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
			if err := c.Run(t.Context(), table, contract.CreateRequest{Image: reference.Image, Ports: []int64{3000},
				Tags: contract.Tags{Owner: "peer000000000001", Run: "20260101T000000Z-000000000001", Intent: fmt.Sprintf("intent%010d", c.Number)}}); err != nil {
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
// table names, and that what is said to survive does. With -update the rows of the
// mutants that -run chooses are made anew.
func TestKillTable(t *testing.T) {
	recorded := map[string]kill{}
	if _, err := os.Stat(killsFile); err == nil {
		for _, k := range readKills(t) {
			recorded[k.Mutant] = k
		}
	}
	if !*update {
		require.Len(t, recorded, len(every()), "the table is of other mutants; run with -update")
	}
	rows := make([]kill, len(every()))
	var wg sync.WaitGroup
	slots := make(chan struct{}, 16) // they mostly wait
	for i, m := range every() {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) {
				if *update {
					defer func(began time.Time) { t.Logf("%s took %s", m.Name, time.Since(began).Round(time.Second)) }(time.Now())
					rows[i] = kill{Mutant: m.Name, Checks: caught(t, m), Peer: peerCaught(t, m)}
					return
				}
				compare(t, m, recorded[m.Name])
			})
		})
	}
	wg.Wait()
	if !*update {
		return
	}
	for i, m := range every() {
		if rows[i].Mutant == "" { // not chosen by -run
			rows[i] = recorded[m.Name]
		}
	}
	writeKills(t, rows)
}

func compare(t *testing.T, m mutants.Mutant, k kill) {
	t.Helper()
	require.Equal(t, m.Name, k.Mutant, "not in the table; run with -update")
	switch {
	case len(k.Checks) == 0:
		require.Empty(t, caught(t, m), "the table says that nothing catches it; run with -update")
	case m.Kills == "": // TestMutants has the others
		require.Contains(t, failures(t, m, "^"+regexp.QuoteMeta(k.Checks[0])+"$"), k.Checks[0])
	}
	for try := 1; len(k.Peer) > 0; try++ {
		got := peerFailures(t, m, k.Peer[0])
		if slices.Contains(got, k.Peer[0]) {
			return
		}
		require.Less(t, try, 5, "the peer's test %d", k.Peer[0]) // what races is caught sooner or later
	}
}

// TestThePeersSuiteIsRestatedFairly sees that every test of the peer passes on
// the reference and that each one but one fails on some mutant.
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
	failed[16] = true // a stream that neither its own time limit nor a kill ends is no mutant here
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
