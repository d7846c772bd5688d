package yamldoc

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// cost runs f and returns how long it took and how much it allocated in all,
// which bounds the peak from above.
func cost(f func()) (time.Duration, uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	f()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	return took, after.TotalAlloc - before.TotalAlloc
}

func billionLaughs() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n")
	for i := 1; i < 40; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	return b.String()
}

// TestHostileInputIsCheap asserts that each input is refused under its rule
// for a bounded time and amount of memory. The times are loose, because the
// machine may be busy and the race detector slow: they catch what grows with
// the square of the input or worse.
func TestHostileInputIsCheap(t *testing.T) {
	fill := func(s string) string { return strings.Repeat(s, MaxBytes/len(s)) }
	for _, c := range []struct {
		name, src, rule string
		mib             uint64
	}{
		{"billion laughs.yaml", billionLaughs(), RuleAlias, 4},
		{"ten megabytes.yaml", "a: " + strings.Repeat("x", 10<<20), RuleSize, 1},
		{"deep flow.yaml", strings.Repeat("[", 10_000), RuleDepth, 64},
		{"deep closed flow.yaml", strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000), RuleDepth, 64},
		{"deep mappings.yaml", strings.Repeat("{a: ", 10_000), RuleDepth, 64},
		{"deep block.yaml", strings.Repeat("- ", 10_000) + "x", RuleDepth, 64},
		{"bottomless.yaml", fill("["), RuleDepth, 64},
		{"bottomless.json", fill("["), RuleDepth, 4},
		{"many duplicates.yaml", fill("a: 1\n"), RuleDuplicate, 400},
		{"long line of duplicates.json", "{" + strings.Repeat("\"é\":1,", MaxBytes/8) + "\"x\":1}", RuleDuplicate, 400},
		{"long line of commas.json", "[" + strings.Repeat("\"é\",", MaxBytes/6) + "]", RuleJSONDialect, 400},
		{"many comments.json", fill("/**/")[1:], RuleSyntax, 64},
		{"only comments.yaml", fill("#é\n"), RuleEmpty, 400},
		{"long line of tags.yaml", "[" + strings.Repeat("! é,", MaxBytes/6) + "]", RuleTag, 600},
		{"control characters.yaml", fill("é\x01"), RuleControl, 64},
		{"many documents.yaml", fill("--- a\n"), RuleDocuments, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := []byte(c.src)
			var rules []string
			took, bytes := cost(func() {
				_, ds := Parse(c.name, src)
				require.LessOrEqual(t, len(ds), maxFindings+1)
				for _, d := range ds {
					rules = append(rules, d.Rule)
				}
			})
			require.Contains(t, rules, c.rule)
			require.Less(t, took, 10*time.Second)
			require.Less(t, bytes, c.mib<<20)
			t.Logf("%v, %d KiB, %d findings", took, bytes>>10, len(rules))
		})
	}
}

func TestFindingsAreCounted(t *testing.T) {
	_, ds := Parse("f.yaml", bytes.Repeat([]byte("- 0x1\n"), 1000))
	require.Len(t, ds, maxFindings+1)
	require.Equal(t, "800 more findings in this file are not shown", ds[maxFindings].Message)
}
