//go:build unix

package conformance_test

import (
	"encoding/binary"
	"encoding/hex"
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/conformance/mutants"
)

var seed = flag.Uint64("seed", 0, "the sample of the matrix that is looked at again; 0 is that of these mutants and checks")

const (
	sampled = 6 // mutants
	killing = 4 // cells of each that say that a check fails
	idle    = 8 // and that say that it does not
)

// TestMatrix: the matrix is of these mutants and checks, every mutant is killed by
// the check that claims its rule, and a sample of the cells is what is found now.
func TestMatrix(t *testing.T) {
	if *remake {
		remakeMatrix(t)
		return
	}
	m := readMatrix(t)
	require.Equal(t, checkIDs(t), m.Checks)
	require.Equal(t, digest(t), m.Digest, "the matrix is of other mutants or checks; make it anew with -matrix")
	require.Len(t, m.Rows, len(every()))
	kills, chance := m.sets()
	for _, mutant := range mutants.All() {
		require.Contains(t, kills[mutant.Name], mutant.Kills, "%s is not killed by the check of its rule", mutant.Name)
	}
	// The same tree is judged by the same cells, and another one by others.
	sample := *seed
	if sample == 0 {
		sum, err := hex.DecodeString(m.Digest)
		require.NoError(t, err)
		sample = binary.BigEndian.Uint64(sum)
	}
	t.Logf("-seed %d", sample)
	random := rand.New(rand.NewPCG(sample, 0))
	all := every()
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, mutant := range all[:sampled] {
		cells := some(random, m.Checks, kills[mutant.Name], chance[mutant.Name])
		wg.Go(func() {
			t.Run(strings.ReplaceAll(mutant.Name, " ", "-"), func(t *testing.T) { sameCells(t, mutant, cells, kills[mutant.Name]) })
		})
	}
}

// some are a few checks that fail on a mutant, and a few that do not, and none that
// chance decides.
func some(random *rand.Rand, checks, kills, chance []string) []string {
	fail, pass := slices.Clone(kills), slices.Clone(checks)
	pass = slices.DeleteFunc(pass, func(id string) bool { return slices.Contains(kills, id) || slices.Contains(chance, id) })
	random.Shuffle(len(fail), func(i, j int) { fail[i], fail[j] = fail[j], fail[i] })
	random.Shuffle(len(pass), func(i, j int) { pass[i], pass[j] = pass[j], pass[i] })
	return append(fail[:min(len(fail), killing)], pass[:min(len(pass), idle)]...)
}

// sameCells runs the checks of the cells. What differs is run once more by itself,
// as what a loaded machine does once is no finding, and then beside all that fail on
// the mutant, as when the matrix was made: some faults need company.
func sameCells(t *testing.T, m mutants.Mutant, cells, kills []string) {
	t.Helper()
	differ := cells
	for try := range 3 {
		run := differ
		if try == 2 {
			run = slices.Concat(differ, kills)
		}
		fail := failing(t, m, exactly(run))
		differ = slices.DeleteFunc(slices.Clone(differ), func(id string) bool {
			return slices.Contains(fail, id) == slices.Contains(kills, id)
		})
		if len(differ) == 0 {
			return
		}
	}
	t.Errorf("these cells of the matrix are not what is found now: %v", differ)
}
