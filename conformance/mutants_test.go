//go:build unix

package conformance_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/conformance/mutants"
	"github.com/agentworkforce/sbx/sandbox"
)

// tried runs the check that claims a mutant's rule, with what it depends on.
func tried(t *testing.T, m mutants.Mutant) (conformance.Result, *conformance.Report) {
	t.Helper()
	h := onMutant(t, m, sandbox.Deadlines{Destroy: 2 * time.Second, Ready: 3 * time.Second, Lookup: 5 * time.Second})
	report, err := conformance.Execute(t.Context(), h, conformance.RunOptions{
		Run: regexp.MustCompile("^" + regexp.QuoteMeta(m.Kills) + "$"), StateDir: t.TempDir(), CheckTimeout: time.Minute})
	require.NoError(t, err)
	res, ok := report.Result(m.Kills)
	require.True(t, ok, "%s is no check", m.Kills)
	return res, report
}

// TestMutants runs every mutant and prints the table of who caught what.
func TestMutants(t *testing.T) {
	var mu sync.Mutex
	var rows []string
	names := map[string]bool{}
	t.Run("each", func(t *testing.T) {
		// Mutants mostly wait, so more run at once than there are processors.
		var wg sync.WaitGroup
		defer wg.Wait()
		slots := make(chan struct{}, 12)
		for _, m := range mutants.All() {
			require.False(t, names[m.Name], "two mutants are called %q", m.Name)
			names[m.Name] = true
			require.NotEmpty(t, m.Seen)
			one := func(t *testing.T) {
				res, report := tried(t, m)
				if res.Verdict != conformance.Failed {
					t.Errorf("%s is %s (%s) %s: %s\nproblems: %v", m.Kills, res.Verdict, res.Reason, res.BlockedBy, res.Message, report.Problems)
				}
				require.False(t, report.OK())
				mu.Lock()
				defer mu.Unlock()
				line, _, _ := strings.Cut(res.Message, "\n")
				rows = append(rows, fmt.Sprintf("%s\t%s\t%s\t%s", m.Name, m.Kills, res.Verdict, line[:min(len(line), 100)]))
			}
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				t.Run(strings.ReplaceAll(m.Name, " ", "-"), one)
			})
		}
	})
	if !testing.Verbose() {
		return
	}
	slices.Sort(rows)
	w := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', 0)
	for _, row := range rows {
		_, err := fmt.Fprintln(w, row)
		require.NoError(t, err)
	}
	require.NoError(t, w.Flush())
}
