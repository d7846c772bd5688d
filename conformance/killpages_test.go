//go:build unix

package conformance_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/conformance/mutants"
	"github.com/agentworkforce/sbx/conformance/peers"
	"github.com/agentworkforce/sbx/generated/contract"
)

const (
	mutantsPage = "../docs/mutants.md"
	peersPage   = "../docs/peers.md"
)

// TestKillPages renders the pages from the recorded table and compares them.
func TestKillPages(t *testing.T) {
	rows := readKills(t)
	for file, page := range map[string]string{mutantsPage: mutantsText(t, rows), peersPage: peersText(rows)} {
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(page), 0o644))
			continue
		}
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, page, string(b), "%s does not follow from %s; run with -update", file, killsFile)
	}
}

// tally counts mutants, and those that each suite caught.
type tally struct{ all, ours, peer int }

func (s *tally) add(k kill) {
	s.all++
	if len(k.Checks) > 0 {
		s.ours++
	}
	if len(k.Peer) > 0 {
		s.peer++
	}
}

func percent(n, of int) string {
	return fmt.Sprintf("%d of %d (%.0f %%)", n, of, 100*float64(n)/float64(of))
}

func split(rows []kill) (hand, machine []kill) {
	n := len(mutants.All())
	return rows[:n], rows[n:]
}

func count(rows []kill) tally {
	var s tally
	for _, k := range rows {
		s.add(k)
	}
	return s
}

func mutantsText(t *testing.T, rows []kill) string {
	hand, machine := split(rows)
	h, m := count(hand), count(machine)
	var b strings.Builder
	fmt.Fprintf(&b, `# Mutants

What the conformance suite is tested with: faults of adapters, each a decorator over the contract's table of
operations around the reference vendor, which passes clean. This page is written by
%s and compared in CI, which runs again what caught each mutant.

| mutants | caught |
|---|---|
| made by hand, each after a fault that was seen | %s |
| made by machine, every operation in every kind | %s |

A mutant made by hand is caught when the check that claims its rule fails. One made by machine is caught when a check
of its operation fails, and fails again when it is run by itself. Which others fail is in the matrix, see below. A
check that ends unknown has caught nothing. Some mutants are of the adapter of the same vendor over HTTP, where faults
are put between the two; some are no fault of an operation but of how a provider is declared or created with.

## Made by hand

`, "`go test ./conformance -run 'TestKill' -update`", percent(h.ours, h.all), percent(m.ours, m.all))
	b.WriteString("| mutant | where its kind was seen | check of its rule | caught |\n|---|---|---|---|\n")
	for i, mutant := range mutants.All() {
		is := "yes"
		if len(hand[i].Checks) == 0 {
			is = "**no**"
		}
		fmt.Fprintf(&b, "| %s | %s | `%s` | %s |\n", mutant.Name, mutant.Seen, mutant.Kills, is)
	}
	machineText(&b, machine)
	survivorsText(t, &b, machine)
	matrixText(t, &b)
	return b.String()
}

// machineText is a table of operations and kinds with the first check that failed.
func machineText(b *strings.Builder, rows []kill) {
	byName := map[string]kill{}
	for _, k := range rows {
		byName[k.Mutant] = k
	}
	b.WriteString(`
## Made by machine

The first check that fails. *error swallowed*: the error is dropped. *result dropped*: the answer is
empty; where there is only an error to answer, nothing is done. *stale*: the first success for the same arguments is
the answer for ever. *duplicated*: done twice. *delayed past deadline*: a context that ends soon is waited out, and
then it is done all the same.

`)
	b.WriteString("| operation |")
	for _, kind := range mutants.Kinds() {
		fmt.Fprintf(b, " %s |", kind)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(mutants.Kinds())) + "\n")
	for _, op := range contract.Operations() {
		fmt.Fprintf(b, "| %s |", op.Name)
		for _, kind := range mutants.Kinds() {
			k := byName[op.Name+": "+string(kind)]
			switch {
			case len(k.Checks) == 0:
				b.WriteString(" **survives** |")
			default:
				fmt.Fprintf(b, " `%s` |", k.Checks[0])
			}
		}
		b.WriteString("\n")
	}
}

// survivorsText explains what nothing caught; without an explanation it fails.
func survivorsText(t *testing.T, b *strings.Builder, rows []kill) {
	b.WriteString("\n## Survivors\n\n")
	why := survivors()
	used := map[string]bool{}
	b.WriteString("| mutant | why nothing catches it |\n|---|---|\n")
	for _, k := range rows {
		if len(k.Checks) > 0 {
			continue
		}
		reason, ok := why[k.Mutant]
		used[k.Mutant] = true
		if !ok && !*update {
			t.Errorf("%s survives, and nobody says why", k.Mutant)
		}
		fmt.Fprintf(b, "| %s | %s |\n", k.Mutant, reason)
	}
	for name := range why {
		if !used[name] && !*update {
			t.Errorf("%s is explained as a survivor, and is caught", name)
		}
	}
}

func peersText(rows []kill) string {
	hand, machine := split(rows)
	h, m, all := count(hand), count(machine), count(rows)
	var b strings.Builder
	fmt.Fprintf(&b, `# This suite beside ComputeSDK's

ComputeSDK's provider test suite has 19 tests. They are re-stated over this project's table of operations
(conformance/peers), with every optional group switched on, and run against the same mutants as the conformance suite.
All 19 pass on the reference vendor, and all but number 16 fail on some mutant. Written by
%s, compared in CI. The original also has a mode in which the
provider under test is replaced by a mock object; here the provider is always the one that runs.

| mutants | this suite | the 19 tests |
|---|---|---|
| made by hand | %s | %s |
| made by machine | %s | %s |
| all | %s | %s |

A mutant made by hand counts for this suite when the check of its rule fails, for the 19 tests when any of them does,
twice in a row. Many of the mutants break rules that the other suite never set out to test: ownership, teardown, snapshots, metrics.
The number says what a pass means, not how well the 19 tests do what they are for.

## Which test catches how many

| test | caught |
|---|---|
`, "`go test ./conformance -run 'TestKill' -update`", percent(h.ours, h.all), percent(h.peer, h.all),
		percent(m.ours, m.all), percent(m.peer, m.all), percent(all.ours, all.all), percent(all.peer, all.all))
	by := map[int]int{}
	var only []string
	for _, k := range rows {
		for _, n := range k.Peer {
			by[n]++
		}
		if len(k.Peer) > 0 && len(k.Checks) == 0 {
			only = append(only, k.Mutant)
		}
	}
	for _, c := range peers.Checks() {
		fmt.Fprintf(&b, "| %d. %s | %d |\n", c.Number, c.Name, by[c.Number])
	}
	b.WriteString("\n## Caught by the 19 tests alone\n\n")
	if len(only) == 0 {
		b.WriteString("None.\n")
	}
	for _, name := range only {
		fmt.Fprintf(&b, "- %s\n", name)
	}
	return b.String()
}
