package gate

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/yamldoc"
)

// hostileFile is a file made by the test, because it is too large to keep or
// too odd for an editor.
type hostileFile struct {
	name, src, rule string
}

func hostile() []hostileFile {
	var laughs strings.Builder
	laughs.WriteString("a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n")
	for i := 1; i < 40; i++ {
		fmt.Fprintf(&laughs, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	return []hostileFile{
		{"ten megabytes", "name: " + strings.Repeat("x", 10<<20), yamldoc.RuleSize},
		{"billion laughs", laughs.String(), yamldoc.RuleAlias},
		{"deep flow", strings.Repeat("[", 10_000), yamldoc.RuleDepth},
		{"deep mappings", strings.Repeat("{a: ", 10_000), yamldoc.RuleDepth},
		{"bottomless", strings.Repeat("[", 1<<20), yamldoc.RuleDepth},
		{"many unknown keys", manyKeys(20_000), "SBX120"},
		{"many wrong facts", "limits:\n  other:\n" + strings.Repeat("    - {what: x, limit: 1}\n", 20_000), "SBX127"},
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "key%d: %d\n", i, i)
	}
	return b.String()
}

// maxMemory is the most memory a document may cost.
const maxMemory = 100 << 20

// TestHostileDocuments asserts that each is refused under its rule, and that the
// heap never holds more than maxMemory on the way.
func TestHostileDocuments(t *testing.T) {
	c := newCheckers()
	for _, h := range hostile() {
		t.Run(h.name, func(t *testing.T) {
			root := t.TempDir()
			dir := filepath.Join(root, "providers", "acme")
			require.NoError(t, os.MkdirAll(dir, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, ManifestName), []byte(h.src), 0o644))
			peak := watchHeap(t)
			set, _ := check(t, Options{Root: root, NoCache: true}, c)
			require.Less(t, peak(), uint64(maxMemory))
			rules := map[string]bool{}
			for _, d := range set.All() {
				rules[d.Rule] = true
			}
			require.True(t, rules[h.rule], "%v", rules)
		})
	}
}

// watchHeap samples the heap until the function it returns is called, which
// gives the most that was in use above what was in use before.
func watchHeap(t *testing.T) func() uint64 {
	t.Helper()
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	stop, done := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapInuse)
			select {
			case <-stop:
				done <- most
				return
			case <-tick.C:
			}
		}
	}()
	return func() uint64 {
		close(stop)
		most := <-done
		return most - min(most, before.HeapInuse)
	}
}

func TestStrictJSON(t *testing.T) {
	_, found := yamldoc.Parse("provider.json", []byte("{\"id\": \"acme\", // why\n}"))
	require.Equal(t, yamldoc.RuleJSONDialect, found[0].Rule)
}

func TestGoThatDoesNotParse(t *testing.T) {
	found, _ := examineGo("providers/acme/adapter.go", []byte("package acme\n\nfunc broken( {\n"))
	require.Len(t, found, 1)
	require.Equal(t, ruleGoSyntax, found[0].Rule)
	require.Equal(t, diag.Span{Line: 3, Col: 14, EndLine: 3, EndCol: 15}, found[0].Span())
}
