package invariants

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// imported is one import in one file.
type imported struct {
	dir, file string
	target    string // import path
	test      bool   // the file is a test
	external  bool   // of a package of its own
	generated bool
}

// ban forbids import paths that begin with prefix to every package but some.
type ban struct {
	prefix string
	why    string
	except func(imported) bool
}

func bans() []ban {
	return []ban{
		{"github.com/charmbracelet/", "a terminal form is one way to give answers; everything else works without a terminal",
			func(i imported) bool { return i.dir == "internal/forms" || i.dir == "internal/forms/background" }},
		{"github.com/stretchr/testify", "whoever imports sbx must not get a test library with it, and contributors choose their own",
			func(i imported) bool { return i.test && !i.generated }},
		{"golang.org/x/tools/imports", "the generator knows its imports; guessing them is 59 times slower than formatting",
			func(imported) bool { return false }},
		{"testing", "an importable package must not register test flags in its users' programs",
			func(i imported) bool {
				level, _ := floorOf(i.dir)
				return i.test || i.dir == "bench" || match("conformance/...", i.dir) || level == testSupport
			}},
	}
}

// importViolations says what is wrong with a set of imports. bases maps a
// provider's folder to the one its manifest names as adapter.base.
func importViolations(all []imported, bases map[string]string) []string {
	var out []string
	say := func(i imported, why string, args ...any) {
		out = append(out, fmt.Sprintf("%s imports %s: %s", i.file, i.target, fmt.Sprintf(why, args...)))
	}
	for _, i := range all {
		for _, b := range bans() {
			if (i.target == b.prefix || strings.HasPrefix(i.target, strings.TrimSuffix(b.prefix, "/")+"/")) && !b.except(i) {
				say(i, "%s", b.why)
			}
		}
		to, ours := strings.CutPrefix(i.target, module+"/")
		if !ours {
			continue
		}
		if why := ourImport(i, to, bases); why != "" {
			say(i, "%s", why)
		}
	}
	return out
}

// ourImport judges an import within the module; "" is fine.
func ourImport(i imported, to string, bases map[string]string) string {
	from, known := floorOf(i.dir)
	below, toKnown := floorOf(to)
	provider, other := match("providers/*", i.dir), match("providers/*", to)
	switch {
	case !known:
		return "" // reported once for the package, by unplaced
	case !toKnown:
		return "it has no floor"
	case to == i.dir && i.external:
		return ""
	case i.test && below == testSupport, i.external && forTests(to):
		return ""
	case below == testSupport && (from == testSupport || excepted(i.dir, to)):
		return ""
	case below == testSupport:
		return "it is for tests only"
	case provider && strings.HasPrefix(to, "internal/"):
		return "a provider is written as out of tree: it sees what everybody can import, never internal/"
	case provider && other && bases[i.dir] == to:
		return ""
	case provider && other:
		return "a provider imports no other one than the adapter.base of its manifest"
	case i.dir == "internal/gen" && !i.test && strings.HasPrefix(to, "generated/"):
		return "the generator has to work when generated/ does not compile"
	case from == below && excepted(i.dir, to):
		return ""
	case from == testSupport && below <= 6:
		return ""
	case from == testSupport:
		return "test support is for the tests of providers too, which know floors up to 6"
	case below >= from:
		return fmt.Sprintf("floor %d may import only from floors below it, and that is %d", from, below)
	}
	return ""
}

// unplaced names the packages that have no floor.
func unplaced(dirs []string) []string {
	var out []string
	for _, dir := range dirs {
		if _, ok := floorOf(dir); !ok {
			out = append(out, fmt.Sprintf("package %s has no floor: add it to floors() in internal/invariants/floors_test.go", dir))
		}
	}
	return out
}

// stale names the floors no folder is on, except those the design reserves.
func stale(dirs []string) []string {
	reserved := []string{"state/*", "protocol", "session", "internal/sim/*", "generated/manifest", "internal/benchpeers/...", "examples/..."}
	var out []string
	for _, f := range floors() {
		if !slices.Contains(reserved, f.pattern) && !slices.ContainsFunc(dirs, func(d string) bool { return match(f.pattern, d) }) {
			out = append(out, fmt.Sprintf("no package is at %s: remove it from floors()", f.pattern))
		}
	}
	return out
}

func importsOf(t testing.TB, files []goFile) (all []imported, dirs []string) {
	t.Helper()
	for _, f := range files {
		dirs = append(dirs, f.dir())
		for _, spec := range f.ast.Imports {
			target, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			all = append(all, imported{dir: f.dir(), file: f.path, target: target, test: f.test(), external: f.external(), generated: f.generated()})
		}
	}
	slices.Sort(dirs)
	return all, slices.Compact(dirs)
}

// basesOf reads adapter.base of every manifest, by its indentation: the schema
// allows the key only there.
func basesOf(all []textFile) map[string]string {
	out := map[string]string{}
	for _, f := range all {
		if !match("providers/*/provider.yaml", f.path) {
			continue
		}
		for line := range strings.Lines(string(f.body)) {
			if base, ok := strings.CutPrefix(line, "  base:"); ok {
				out[path.Dir(f.path)] = "providers/" + strings.TrimSpace(base)
			}
		}
	}
	return out
}

func TestImports(t *testing.T) {
	all := files(t)
	imports, dirs := importsOf(t, goFiles(t, all))
	require.Empty(t, unplaced(dirs))
	require.Empty(t, stale(dirs))
	require.Empty(t, importViolations(imports, basesOf(all)))
}

func TestImportRules(t *testing.T) {
	bases := map[string]string{"providers/gvisor": "providers/docker"}
	code := func(dir, target string) imported {
		if !strings.Contains(target, ".") && target != "testing" {
			target = module + "/" + target
		}
		return imported{dir: dir, file: dir + "/a.go", target: target}
	}
	test := func(dir, target string, external bool) imported {
		i := code(dir, target)
		i.file, i.test, i.external = dir+"/a_test.go", true, external
		return i
	}
	emitted := test("providers/local", "github.com/stretchr/testify/require", true)
	emitted.generated = true
	for _, c := range []struct {
		what string
		i    imported
		why  string // "" is allowed
	}{
		{"down", code("sandbox", "ledger"), ""},
		{"down by several", code("cmd/sbx", "port"), ""},
		{"the base", code("providers/gvisor", "providers/docker"), ""},
		{"an exception", code("bench", "conformance"), ""},
		{"huh in forms", code("internal/forms", "github.com/charmbracelet/huh"), ""},
		{"testify in a test", test("ledger", "github.com/stretchr/testify/require", false), ""},
		{"the suite from a provider's tests", test("providers/local", "conformance", true), ""},
		{"itself from outside", test("sandbox", "sandbox", true), ""},
		{"test support from a test", test("internal/torture", "internal/testengine", false), ""},
		{"the suite from test support", code("internal/testengine", "conformance"), ""},
		{"generated code from a test of the generator", test("internal/gen", "generated/manifest", true), ""},
		{"testing in the suite", code("conformance", "testing"), ""},

		{"up", code("ledger", "sandbox"), "floor 3 may import only"},
		{"across", code("ledger", "wire"), "floor 3 may import only"},
		{"up from a test", test("ledger", "sandbox", true), "floor 3 may import only"},
		{"the suite from a test in the package", test("providers/local", "conformance", false), "floor 5 may import only"},
		{"no floor", code("sandbox", "internal/elsewhere"), "it has no floor"},
		{"another provider", code("providers/local", "providers/docker"), "adapter.base"},
		{"internal from a provider", code("providers/local", "internal/diag"), "never internal/"},
		{"internal from a provider's test", test("providers/local", "internal/diag", true), "never internal/"},
		{"test support from code", code("sandbox", "internal/testengine"), "for tests only"},
		{"a command from test support", code("internal/testengine", "cmd/sbx"), "floors up to 6"},
		{"generated code from the generator", code("internal/gen", "generated/contract"), "does not compile"},
		{"huh elsewhere", code("cmd/sbxgen", "github.com/charmbracelet/huh"), "terminal form"},
		{"huh in a test elsewhere", test("cmd/sbxgen", "github.com/charmbracelet/huh", false), "terminal form"},
		{"testify in code", code("wire", "github.com/stretchr/testify/require"), "test library"},
		{"testify in the suite", code("conformance/mutants", "github.com/stretchr/testify/require"), "test library"},
		{"testify in bench", code("bench", "github.com/stretchr/testify/assert"), "test library"},
		{"testify in an emitted file", emitted, "test library"},
		{"imports.Process", code("internal/gen", "golang.org/x/tools/imports"), "59 times slower"},
		{"testing in code", code("sandbox", "testing"), "test flags"},
	} {
		got := importViolations([]imported{c.i}, bases)
		if c.why == "" {
			require.Empty(t, got, c.what)
			continue
		}
		require.Len(t, got, 1, c.what)
		require.Contains(t, got[0], c.why, c.what)
		require.Contains(t, got[0], c.i.file, c.what)
	}
	require.Equal(t, []string{"package internal/elsewhere has no floor: add it to floors() in internal/invariants/floors_test.go"},
		unplaced([]string{"sandbox", "internal/elsewhere", "providers/acme"}))
	require.Contains(t, stale([]string{"sandbox"}), "no package is at ledger: remove it from floors()")
	require.NotContains(t, stale([]string{"sandbox"}), "no package is at sandbox: remove it from floors()")
}
