//go:build unix

package conformance_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
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
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/agentworkforce/sbx/schema"
)

const matrixFile = "testdata/matrix.json"

// The matrix is made anew by: go test ./conformance -run TestMatrix -matrix -timeout 2h
var (
	remake  = flag.Bool("matrix", false, "run every check on every mutant that is not in the matrix, or that -mutants chooses")
	chosen  = flag.String("mutants", "", "with -matrix: the mutants to run, a regular expression")
	columns = flag.String("columns", "", "with -matrix: the checks to run on them, a regular expression; the other cells stay")
)

// matrix says which checks fail on which mutant.
type matrix struct {
	// Digest is of the mutants and checks that it is about.
	Digest string   `json:"digest"`
	Checks []string `json:"checks"`
	Rows   []row    `json:"rows"`
}

// row has places in the list of checks.
type row struct {
	Mutant string `json:"mutant"`
	// Kills are checks that fail, and fail again.
	Kills []int `json:"kills"`
	// Chance are checks that failed once and not again.
	Chance []int `json:"chance,omitempty"`
}

// digest is of the names and claims of the mutants, and of the checks.
func digest(t *testing.T) string {
	t.Helper()
	h := sha256.New()
	for _, m := range every() {
		fmt.Fprintf(h, "%s|%s|%t|%t\n", m.Name, m.Kills, m.Remote, m.Contained)
	}
	checks, err := schema.Checks()
	require.NoError(t, err)
	for _, c := range checks {
		fmt.Fprintf(h, "%s@%d\n", c.ID, c.Revision)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func checkIDs(t *testing.T) []string {
	t.Helper()
	checks, err := schema.Checks()
	require.NoError(t, err)
	var out []string
	for _, c := range checks {
		out = append(out, c.ID)
	}
	return out
}

func readMatrix(t *testing.T) matrix {
	t.Helper()
	b, err := os.ReadFile(matrixFile)
	if errors.Is(err, fs.ErrNotExist) && *remake {
		return matrix{Checks: checkIDs(t)}
	}
	require.NoError(t, err)
	var m matrix
	require.NoError(t, json.Unmarshal(b, &m))
	return m
}

// sets are the checks that each mutant is killed by, and by chance.
func (m matrix) sets() (kills, chance map[string][]string) {
	kills, chance = map[string][]string{}, map[string][]string{}
	for _, r := range m.Rows {
		kills[r.Mutant] = []string{}
		for _, i := range r.Kills {
			kills[r.Mutant] = append(kills[r.Mutant], m.Checks[i])
		}
		for _, i := range r.Chance {
			chance[r.Mutant] = append(chance[r.Mutant], m.Checks[i])
		}
	}
	return kills, chance
}

func writeMatrix(t *testing.T, kills, chance map[string][]string) {
	t.Helper()
	out := matrix{Digest: digest(t), Checks: checkIDs(t)}
	places := func(ids []string) []int {
		at := []int{}
		for _, id := range ids {
			if i := slices.Index(out.Checks, id); i >= 0 {
				at = append(at, i)
			}
		}
		slices.Sort(at)
		return slices.Compact(at)
	}
	for _, m := range every() {
		if k, ok := kills[m.Name]; ok {
			out.Rows = append(out.Rows, row{m.Name, places(k), places(chance[m.Name])})
		}
	}
	var b bytes.Buffer
	ids, err := json.Marshal(out.Checks)
	require.NoError(t, err)
	fmt.Fprintf(&b, "{\"digest\":%q,\n\"checks\":%s,\n\"rows\":[\n", out.Digest, ids)
	for i, r := range out.Rows {
		line, err := json.Marshal(r)
		require.NoError(t, err)
		b.Write(line)
		if i < len(out.Rows)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("]}\n")
	require.NoError(t, os.WriteFile(matrixFile, b.Bytes(), 0o644))
}

// failing runs the chosen checks, all for "", and returns those that fail.
func failing(t *testing.T, m mutants.Mutant, only string) []string {
	t.Helper()
	deadlines := brisk()
	if strings.HasSuffix(m.Name, string(mutants.Delayed)) { // it waits out what ends soon, which is not to be all
		deadlines = patient()
	}
	h := onMutant(t, m, deadlines)
	opts := conformance.RunOptions{StateDir: t.TempDir(), CheckTimeout: time.Minute, Parallel: 12}
	if only != "" {
		opts.Run = regexp.MustCompile(only)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
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

// brisk are deadlines between those of a person and those of a test: what a mutant
// makes wait, waits hundreds of times.
func brisk() sandbox.Deadlines {
	return sandbox.Deadlines{Destroy: 4 * time.Second, Ready: 6 * time.Second, Lookup: 6 * time.Second}
}

func exactly(ids []string) string {
	var quoted []string
	for _, id := range ids {
		quoted = append(quoted, regexp.QuoteMeta(id))
	}
	return "^(" + strings.Join(quoted, "|") + ")$"
}

// killers are the checks that fail on a mutant, and fail again when they alone
// are run; chance are those that do not fail again.
func killers(t *testing.T, m mutants.Mutant, only string) (kills, chance []string) {
	t.Helper()
	first := failing(t, m, only)
	if m.Kills != "" && !slices.Contains(first, m.Kills) && (only == "" || regexp.MustCompile(only).MatchString(m.Kills)) {
		first = append(first, m.Kills) // when others run beside it, they may have the fault's attention
	}
	if len(first) == 0 {
		return nil, nil
	}
	again := failing(t, m, exactly(first))
	for _, id := range first {
		switch {
		case slices.Contains(again, id), id == m.Kills && slices.Contains(failing(t, m, exactly([]string{id})), id):
			kills = append(kills, id)
		default:
			chance = append(chance, id)
		}
	}
	return kills, chance
}

// remakeMatrix fills in what is missing or chosen.
func remakeMatrix(t *testing.T) {
	kills, chance := readMatrix(t).sets()
	reach := newReaches(t)
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, 16)
	all := every()
	narrow := map[string]int{}
	for _, m := range all {
		narrow[m.Name] = len(reach.relevant(t, m, regexp.MustCompile(*columns).MatchString))
	}
	slices.SortStableFunc(all, func(a, b mutants.Mutant) int { return narrow[a.Name] - narrow[b.Name] })
	for _, m := range all {
		_, have := kills[m.Name]
		if have && (*chosen == "" && *columns == "" || *chosen != "" && !regexp.MustCompile(*chosen).MatchString(m.Name)) {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			t.Run(strings.ReplaceAll(m.Name, " ", "-"), func(t *testing.T) {
				only := *columns
				if !have {
					only = ""
				}
				var k, c []string
				if run := reach.relevant(t, m, regexp.MustCompile(only).MatchString); len(run) > 0 {
					k, c = killers(t, m, exactly(run))
				}
				mu.Lock()
				defer mu.Unlock()
				if only != "" {
					re := regexp.MustCompile(only)
					old := func(id string) bool { return re.MatchString(id) }
					k = append(slices.DeleteFunc(kills[m.Name], old), k...)
					c = append(slices.DeleteFunc(chance[m.Name], old), c...)
				}
				kills[m.Name], chance[m.Name] = k, c
				writeMatrix(t, kills, chance)
			})
		})
	}
	wg.Wait()
	writeMatrix(t, kills, chance)
}
