//go:build unix

package conformance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// killedBy are the mutants on which each check fails.
func (m matrix) killedBy() map[string][]string {
	out := map[string][]string{}
	for _, r := range m.Rows {
		for _, i := range r.Kills {
			out[m.Checks[i]] = append(out[m.Checks[i]], r.Mutant)
		}
	}
	return out
}

// twins are the checks that fail on exactly the same mutants, two or more at a time,
// in the order of the list; idle are those that fail on none.
func (m matrix) twins() (groups [][]string, idle []string) {
	by, place := m.killedBy(), map[string]int{}
	for _, id := range m.Checks {
		if len(by[id]) == 0 {
			idle = append(idle, id)
			continue
		}
		key := strings.Join(by[id], "\n")
		at, ok := place[key]
		if !ok {
			at = len(groups)
			place[key] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], id)
	}
	return slices.DeleteFunc(groups, func(g []string) bool { return len(g) == 1 }), idle
}

// matrixText says what the matrix shows; a group of checks, or a check, that nobody
// gives a reason for fails.
func matrixText(t *testing.T, b *strings.Builder) {
	m := readMatrix(t)
	groups, idle := m.twins()
	cells := 0
	for _, r := range m.Rows {
		cells += len(r.Kills)
	}
	pairs := 0
	for _, g := range groups {
		pairs += len(g) * (len(g) - 1) / 2
	}
	fmt.Fprintf(b, `
## Matrix

Every one of the %d checks was run on every one of the %d mutants that can change what it sees: a check that calls no
operation that the mutant touches is the same with it and without it. conformance/testdata/matrix.json has the %d
pairs of a mutant and a check that fails on it, and fails again in a second run. A check fails too when the sandboxes
that it used cannot be torn down, so a fault of destroy shows in most of them. Each run of the tests holds the list of
mutants and checks against the file, and looks at a random sample of its cells again; the seed is printed.

%d checks fail on at least one mutant. %d pairs of checks fail on exactly the same mutants, and %d checks on none.

### Checks that fail together

| checks | why both are kept |
|---|---|
`, len(m.Checks), len(m.Rows), cells, len(m.Checks)-len(idle), pairs, len(idle))
	reasons := together()
	for _, g := range groups {
		key := strings.Join(g, " ")
		if reasons[key] == "" && !*update {
			t.Errorf("these fail on the same mutants, and nobody says why they are kept: %s", key)
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", strings.Join(g, "`, `"), reasons[key])
		delete(reasons, key)
	}
	if !*update {
		require.Empty(t, reasons, "these no longer fail on the same mutants")
	}
	b.WriteString("\n### Checks that no mutant makes fail\n\n| check | why |\n|---|---|\n")
	why := untouched()
	for _, id := range idle {
		if why[id] == "" && !*update {
			t.Errorf("no mutant makes %s fail, and nobody says why", id)
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", id, why[id])
		delete(why, id)
	}
	if !*update {
		require.Empty(t, why, "these fail on a mutant by now")
	}
}
