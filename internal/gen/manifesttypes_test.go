package gen_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/generated/manifest"
	"github.com/agentworkforce/sbx/internal/schemacheck"
	"github.com/agentworkforce/sbx/internal/yamldoc"
)

// decodes requires that a document the schema accepts decodes strictly and
// encodes to an equal document. It reports whether the schema accepted it.
func decodes[T any](tb testing.TB, checker *schemacheck.Checker, decode func(any) (*T, error), doc *yamldoc.Doc) bool {
	tb.Helper()
	if doc == nil || len(checker.Validate(doc)) > 0 {
		return false
	}
	typed, err := decode(doc.Value())
	require.NoError(tb, err, "%s", doc.Source())
	got, err := json.Marshal(typed)
	require.NoError(tb, err)
	want, err := json.Marshal(doc.Value())
	require.NoError(tb, err)
	require.JSONEq(tb, string(want), string(got))
	return true
}

func fullManifest(tb testing.TB) []byte {
	tb.Helper()
	b, err := os.ReadFile("../../schema/testdata/manifest-full.json")
	require.NoError(tb, err)
	return b
}

func providerChecker(tb testing.TB) *schemacheck.Checker {
	tb.Helper()
	c, err := schemacheck.Provider()
	require.NoError(tb, err)
	return c
}

func TestManifestsOfThisTreeDecode(t *testing.T) {
	paths, err := filepath.Glob("../../providers/*/provider.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, p := range append(paths, "../../schema/testdata/manifest-full.json") {
		b, err := os.ReadFile(p)
		require.NoError(t, err)
		doc, found := yamldoc.Parse(p, b)
		require.Empty(t, found, p)
		require.True(t, decodes(t, providerChecker(t), manifest.Decode, doc), p)
	}
	entries, err := filepath.Glob("../../catalog/*.yaml")
	require.NoError(t, err)
	catalog, err := schemacheck.Catalog()
	require.NoError(t, err)
	for _, p := range entries {
		b, err := os.ReadFile(p)
		require.NoError(t, err)
		doc, found := yamldoc.Parse(p, b)
		require.Empty(t, found, p)
		require.True(t, decodes(t, catalog, manifest.DecodeCatalogEntry, doc), p)
	}
}

// What a schema refuses has no type to decode into.
func TestDecodeIsStrict(t *testing.T) {
	for _, document := range []any{
		map[string]any{"id": "acme", "nmae": "Acme"},
		map[string]any{"exec": map[string]any{"streems": map[string]any{}}},
		map[string]any{"labels": map[string]any{"max": map[string]any{"value": "many"}}},
	} {
		_, err := manifest.Decode(document)
		require.Error(t, err)
	}
	_, err := manifest.DecodeCatalogEntry(map[string]any{"stauts": "verified"})
	require.Error(t, err)
}

// Random cuts and replacements of a manifest that uses every section: those the
// schema still accepts have to survive the types.
func TestMutatedManifestsDecode(t *testing.T) {
	checker := providerChecker(t)
	accepted := 0
	for seed := range uint64(1500) {
		if decodes(t, checker, manifest.Decode, mutant(t, seed)) {
			accepted++
		}
	}
	require.Greater(t, accepted, 200, "too few mutants are valid for this to say much")
}

func mutant(tb testing.TB, seed uint64) *yamldoc.Doc {
	tb.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	var document map[string]any
	require.NoError(tb, json.Unmarshal(fullManifest(tb), &document))
	for range 1 + r.IntN(2) {
		mutate(r, document)
	}
	b, err := json.Marshal(document)
	require.NoError(tb, err)
	doc, found := yamldoc.Parse("mutated.json", b)
	require.Empty(tb, found)
	return doc
}

// mutate changes one random place below v.
func mutate(r *rand.Rand, v any) {
	switch c := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(c))
		for k := range c {
			keys = append(keys, k)
		}
		if len(keys) == 0 {
			return
		}
		slices.Sort(keys)
		key := keys[r.IntN(len(keys))]
		if isLeaf(c[key]) || r.IntN(4) == 0 {
			replace(r, c, key)
			return
		}
		mutate(r, c[key])
	case []any:
		if len(c) > 0 {
			mutate(r, c[r.IntN(len(c))])
		}
	}
}

func replace(r *rand.Rand, c map[string]any, key string) {
	fact, _ := c[key].(map[string]any)
	_, isFact := fact["value"]
	switch choice := r.IntN(6); {
	case isFact && choice < 4:
		c[key] = map[string]any{"unknown": fmt.Sprintf("reason %d", r.IntN(9))}
	case choice == 0:
		delete(c, key)
	case choice == 1:
		c[key] = []any{}
	case choice == 2:
		c[key] = map[string]any{}
	case choice == 3:
		c[key] = ""
	case choice == 4:
		c[key] = []any{0, 0.5, 1, false, true, 9007199254740991}[r.IntN(6)]
	default:
		delete(c, key)
	}
}

func isLeaf(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

func FuzzManifestTypes(f *testing.F) {
	f.Add(uint64(1))
	checker := providerChecker(f)
	f.Fuzz(func(t *testing.T, seed uint64) { decodes(t, checker, manifest.Decode, mutant(t, seed)) })
}
