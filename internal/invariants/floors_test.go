package invariants

import (
	"path"
	"strings"
)

// floor is a place in the order of imports: a package imports only from floors
// below its own. Patterns are folders from the module's root; a final /...
// stands for the folder and everything below it, and a * for one name.
type floor struct {
	level   int
	pattern string
}

// floors is the one list of them. A new package needs a line here.
func floors() []floor {
	return []floor{
		{0, "schema"}, {0, "templates"}, {0, "catalog"},
		{1, "port"}, {1, "internal/diag"},
		{1, "internal/secretscan"}, // looks at text, knows no document
		{1, "internal/gitleaks"},   // the same, with rules of others
		{2, "generated/contract"}, {2, "generated/manifest"}, {2, "internal/yamldoc"},
		{2, "internal/secretdiag"}, // findings about what secretscan finds, for the generator and the gate
		{3, "ledger"}, {3, "wire"},
		{3, "internal/schemacheck"}, // what yamldoc reads against what schema says, for the generator and the gate
		{4, "sandbox"},
		{5, "providers/*"}, {5, "state/*"}, {5, "protocol"},
		{6, "internal/sim/*"}, {6, "conformance/..."}, {6, "bench"}, {6, "session"}, {6, "generated/registry"},
		{6, "internal/gen/tree"},         // knows files and locks, not what is in them
		{6, "internal/forms/background"}, // runs before the library that forms are made with
		{7, "internal/gen"}, {7, "internal/gate"}, {7, "internal/forms"},
		{7, "internal/evidence"},
		{7, "internal/gate/gatetest"}, // trees that the gate's rules are shown with
		{8, "cmd/*"}, {8, "examples/..."},
		{8, "docs"},                        // the commands in the documents, as a test
		{8, "internal/evidence/schemagen"}, // a command
		{8, "internal/gen/bootstrap"},      // a command: the generator when generated/ does not compile
		{8, "internal/torture"}, {8, "internal/benchpeers/..."}, {8, "internal/hooktest"}, {8, "internal/invariants"},
		{testSupport, "internal/testengine"}, {testSupport, "internal/forms/formtest"}, {testSupport, "internal/testrepo"},
	}
}

// testSupport is outside the order: only tests import such a package.
const testSupport = -1

// exception allows one import within a floor.
type exception struct{ from, to, why string }

func exceptions() []exception {
	return []exception{
		{"bench", "conformance", "a benchmark opens and creates as the conformance harness of the provider says"},
		{"internal/gate", "internal/evidence", "a rule asks whether the artifacts prove what a catalog entry claims"},
		{"internal/gate/gatetest", "internal/evidence", "it makes bundles as a run would"},
		{"internal/gate", "internal/gate/gatetest", "its tests judge the trees that are made there"},
		{"internal/benchpeers/...", "internal/testengine", "it measures on the engine and image that the tests use"},
		{"conformance/...", "conformance/...", "the suite, what it is proven with, and the proof are one thing in several packages"},
	}
}

// floorOf finds the floor of a folder; the longest pattern that matches wins.
func floorOf(dir string) (level int, known bool) {
	longest := -1
	for _, f := range floors() {
		if match(f.pattern, dir) && len(f.pattern) > longest {
			level, known, longest = f.level, true, len(f.pattern)
		}
	}
	return level, known
}

func match(pattern, dir string) bool {
	if tree, ok := strings.CutSuffix(pattern, "/..."); ok {
		return dir == tree || strings.HasPrefix(dir, tree+"/")
	}
	ok, err := path.Match(pattern, dir)
	return ok && err == nil
}

func excepted(from, to string) bool {
	for _, e := range exceptions() {
		if match(e.from, from) && match(e.to, to) {
			return true
		}
	}
	return false
}

// forTests are the packages that external tests of lower floors may import: a
// provider's own tests run the suite against it.
func forTests(dir string) bool {
	level, _ := floorOf(dir)
	return level == testSupport || dir == "bench" || match("conformance/...", dir) || match("internal/sim/*", dir)
}
