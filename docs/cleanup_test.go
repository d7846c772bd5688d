package docs

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentworkforce/sbx/sandbox"
	"github.com/stretchr/testify/require"
)

// TestCleanup executes cleanup.md, whose text says what each block comes to.
func TestCleanup(t *testing.T) {
	run := execute(t, "cleanup.md", 7, 1)
	in := run.out
	// What is said has to be said in this order.
	then := func(pattern string) {
		t.Helper()
		at := regexp.MustCompile(pattern).FindStringIndex(in)
		require.NotNil(t, at, "%s is not in\n%s\nof\n%s\n%s", pattern, in, run.out, run.err)
		in = in[at[1]:]
	}
	then(`  local:\w+\n +verified-gone, sandbox, scoped\n`)
	then(`intact, 7 records, balanced\n`)
	then(`(?s)(skip-kept: .*skip-not-yet-past: |skip-not-yet-past: .*skip-kept: )`) // runs of one second have no order
	then(`local:\w+\n  sandbox, .*\n  skip-alive: `)
	then(`interrupted: exit code 125\n`)
	then(`killed: exit code 137\n`)
	then(`local:\w+\n  sandbox, .*\n  reap: it belonged to a run that is dead\ndry run: nothing changed`)
	then(`  reap, verified-gone: it belonged to a run that is dead\n`)
	then(`nothing is owed\n`)
	if run.engine != nil {
		then(`killed: exit code 137\n`)
		then(`  unknown: docker: `)
		then(`  look again: when docker answers, sbx reap --provider docker\n`)
		then(`not reached: exit code 7\n`)
		then(`docker:\w+\n  sandbox, .*\n  reap, verified-gone: `)
	}
	then(`"verifiedGone": true`)
	then(`"inspect": "not_found"`)
	then(`"control": "list"`)
	then(`foreign: exit code 8\ncommands work\n`)
	then(`nothing is owed\n`)
	require.Contains(t, run.err, "sbx reap --apply may destroy it in 2h0m0s, nobody else will")
	run.nothingLeft(t)
}

// Every verdict of the library is explained, and no other.
func TestCleanupNamesEveryVerdict(t *testing.T) {
	page, err := os.ReadFile("cleanup.md")
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(page), "## What `reap` says")
	require.True(t, ok)
	section, _, _ = strings.Cut(section, "\n## ")
	var named []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllStringSubmatch(section, -1) {
		named = append(named, m[1])
	}
	var want []string
	for _, v := range []sandbox.Verdict{sandbox.VerdictReap, sandbox.VerdictAbsent, sandbox.VerdictSkipAlive, sandbox.VerdictSkipKept,
		sandbox.VerdictSkipNotYetPast, sandbox.VerdictSkipNoDeadline, sandbox.VerdictSkipMalformedDeadline, sandbox.VerdictSkipNoAttribution,
		sandbox.VerdictSkipTagMismatch, sandbox.VerdictSkipForeignScope, sandbox.VerdictSkipForeignHost, sandbox.VerdictUnknown} {
		want = append(want, string(v))
	}
	slices.Sort(named)
	slices.Sort(want)
	require.Equal(t, want, named)
}
