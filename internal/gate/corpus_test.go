package gate

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/schemacheck"
	"github.com/agentworkforce/sbx/schema"
)

var update = flag.Bool("update", false, "write every want.txt anew")

// asOf is the day the corpus is checked for.
func asOf() time.Time { return time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC) }

func readBelow(root string) func(string) []byte {
	return func(file string) []byte {
		src, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			return nil
		}
		return src
	}
}

// printed is what a person sees: the findings with their lines, and the counts.
func printed(t *testing.T, root string, set *diag.Set) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, diag.Text(&out, set, diag.TextOptions{Source: Mask(set, readBelow(root))}))
	fmt.Fprintln(&out, set.Counts())
	return out.String()
}

// check validates with checkers that tests share, which spares compiling the
// schemas for each of them.
func check(t testing.TB, o Options, c *checkers) (*diag.Set, Stats) {
	t.Helper()
	if o.AsOf.IsZero() {
		o.AsOf = asOf()
	}
	set, stats, err := validate(context.Background(), o, c)
	require.NoError(t, err)
	return set, stats
}

func cases(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join("testdata", "broken", "*"))
	require.NoError(t, err)
	dirs = slices.DeleteFunc(dirs, func(d string) bool { return filepath.Base(d)[0] == '.' })
	require.GreaterOrEqual(t, len(dirs), 70)
	return dirs
}

// Each folder of testdata/broken is the root of a small tree with a mistake, and
// want.txt what is printed about it. A case is added by making the folder, running
// the test with -update and reading want.txt.
func TestEveryMistakeOfTheCorpus(t *testing.T) {
	c := newCheckers()
	for _, dir := range cases(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			set, _ := check(t, Options{Root: dir, NoCache: true}, c)
			got := printed(t, dir, set)
			require.NotZero(t, set.Len(), "a case without a mistake")
			golden := filepath.Join(dir, "want.txt")
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got)

			cacheDir := t.TempDir()
			for range 2 {
				again, _ := check(t, Options{Root: dir, CacheDir: cacheDir, Workers: 3}, c)
				require.Equal(t, got, printed(t, dir, again), "the cache changes nothing")
			}
		})
	}
}

// Every rule that is reported is described, and every rule is shown by a case.
func TestEveryRuleIsDescribedAndShown(t *testing.T) {
	rules, err := schema.Rules()
	require.NoError(t, err)
	described := map[string]bool{}
	for _, r := range rules {
		described[r.ID] = true
	}
	id := regexp.MustCompile(`\[(SBX[0-9]{3})\]`)
	shown := map[string]bool{}
	for _, dir := range cases(t) {
		src, err := os.ReadFile(filepath.Join(dir, "want.txt"))
		require.NoError(t, err)
		for _, m := range id.FindAllStringSubmatch(string(src), -1) {
			shown[m[1]] = true
		}
	}
	for _, h := range hostile() {
		shown[h.rule] = true
	}
	for _, rule := range append(evidenceRules(), ruleDummyLeaked) {
		shown[rule] = true // by refusals: see TestEveryRuleOfEvidenceIsShown
	}
	// See TestStrictJSON, TestGoThatDoesNotParse, TestAManifestThatIsNoFile and TestDeepScan.
	shown["SBX119"], shown["SBX413"], shown["SBX136"], shown[ruleDeepSecret] = true, true, true, true
	shown[ruleNotCompiling], shown[ruleVendorType] = true, true // by TestTypes
	for _, rule := range Implemented() {
		require.True(t, described[rule], "%s is not in schema/rules.json", rule)
		require.True(t, shown[rule], "no case shows %s", rule)
	}
	for rule := range shown {
		require.Contains(t, Implemented(), rule)
	}
	elsewhere := shownElsewhere()
	for _, r := range rules {
		if elsewhere[r.ID] != "" {
			require.False(t, shown[r.ID], "%s is shown here, so it needs no reason", r.ID)
			continue
		}
		require.True(t, shown[r.ID], "%s is in schema/rules.json, and nothing raises it in a test: add a case to testdata/broken", r.ID)
	}
	for id := range elsewhere {
		require.True(t, described[id], "%s has a reason and is no rule", id)
	}
}

// shownElsewhere are the rules that no case of this package can break, and the
// test that shows each.
func shownElsewhere() map[string]string {
	out := map[string]string{schemacheck.RuleSchema: "a mistake in schema/ itself: TestAMisspeltSchemaIsRefusedAtItsPlace in cmd/sbxgen"}
	for _, rule := range GeneratedRules() {
		out[rule] = "what the generator is asked about: TestRulesOfGeneratedFiles in cmd/sbxgen"
	}
	return out
}

// No secret of the corpus is printed in any form.
func TestNoSecretIsPrinted(t *testing.T) {
	secrets := regexp.MustCompile(`e2b_0|dtn_0|aB3dE5fG7hJ9|user:pass@|ghp_0{20}|AKIA0{10}|eyJhbGci`)
	c := newCheckers()
	for _, dir := range cases(t) {
		set, _ := check(t, Options{Root: dir, NoCache: true}, c)
		read := Mask(set, readBelow(dir))
		for name, print := range map[string]func(*bytes.Buffer) error{
			"text":   func(b *bytes.Buffer) error { return diag.Text(b, set, diag.TextOptions{Source: read}) },
			"json":   func(b *bytes.Buffer) error { return diag.JSON(b, set) },
			"sarif":  func(b *bytes.Buffer) error { return diag.SARIF(b, set, diag.SARIFOptions{}) },
			"github": func(b *bytes.Buffer) error { return diag.GitHub(b, set) },
		} {
			var out bytes.Buffer
			require.NoError(t, print(&out))
			require.NotRegexp(t, secrets, out.String(), "%s as %s", dir, name)
		}
	}
}
