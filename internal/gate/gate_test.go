package gate

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/agentworkforce/sbx/internal/diag"
)

// write makes a tree of files and returns its root.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, src := range files {
		p := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
		require.NoError(t, os.WriteFile(p, []byte(src), 0o644))
	}
	return root
}

// goodManifest is the schema's full manifest as YAML, without the few things the
// rules of meaning have to say about it.
func goodManifest(t testing.TB, id string) string {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("..", "..", "schema", "testdata", "manifest-full.json"))
	require.NoError(t, err)
	text := strings.NewReplacer(
		`"id": "acme"`, `"id": "`+id+`"`,
		`"from": "sdk", "class": "observed"`, `"from": "sdk", "class": "documented"`,
		`"files": {"support": "supported"`, `"list": {"support": "supported", "from": "run", "class": "observed"}, "files": {"support": "supported"`,
		`"wakesOn": {"value": ["exec"]}`, `"floor": {"value": "1m"}`,
		`"hazards": [`, `"hazards": [{"id": "egress-hosts-only", "summary": "Hosts only, no addresses.", "mitigation": "Policies of addresses are refused.", "check": "egress.address-only-refused"}, `,
	).Replace(string(src))
	var v any
	require.NoError(t, yaml.Unmarshal([]byte(text), &v))
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	require.NoError(t, enc.Encode(v))
	return out.String()
}

func rules(set *diag.Set) []string {
	var out []string
	for _, d := range set.All() {
		out = append(out, d.File+" "+d.Rule)
	}
	return out
}

func TestACleanTreeHasNoFindings(t *testing.T) {
	root := write(t, map[string]string{"providers/acme/provider.yaml": goodManifest(t, "acme"),
		"catalog/acme.yaml": "provider: acme\nstatus: unknown\nreason: No live run has been made.\n"})
	set, stats := check(t, Options{Root: root, NoCache: true}, newCheckers())
	require.Empty(t, set.All())
	require.NoError(t, set.Err())
	require.Equal(t, 2, stats.Files)
	require.Positive(t, stats.Bytes)
}

func TestOnlyGivenPathsAreReported(t *testing.T) {
	bad := strings.Replace(goodManifest(t, "acme"), "license: Apache-2.0", "licence: Apache-2.0", 1)
	root := write(t, map[string]string{
		"providers/acme/provider.yaml": bad,
		"providers/zeta/provider.yaml": strings.Replace(goodManifest(t, "zeta"), "kind: native", "kind: native\n  base: acme", 1),
		"providers/zeta/adapter.go":    "package zeta\n\nimport _ \"github.com/agentworkforce/sbx/providers/acme\"\n\nfunc init() {}\n",
		"catalog/zeta.yaml":            "provider: zeta\nstatus: unknown\nreason: No live run has been made.\n",
		"notes.yaml":                   "a: b\n",
	})
	c := newCheckers()
	set, _ := check(t, Options{Root: root, NoCache: true}, c)
	require.Equal(t, []string{"providers/acme/provider.yaml SBX202", "providers/acme/provider.yaml SBX120", "providers/zeta/adapter.go SBX407"}, rules(set))
	for _, paths := range [][]string{{"providers/zeta"}, {"providers/zeta/provider.yaml", filepath.Join(root, "providers", "zeta", "adapter.go")}} {
		set, _ = check(t, Options{Root: root, NoCache: true, Paths: paths}, c)
		require.Equal(t, []string{"providers/zeta/adapter.go SBX407"}, rules(set))
	}
	set, stats := check(t, Options{Root: root, NoCache: true, Paths: []string{"catalog/zeta.yaml", "notes.yaml"}}, c)
	require.Empty(t, set.All())
	require.Equal(t, 1, stats.Files)
	require.Equal(t, 1, stats.Ignored)
}

// What the compiler and the generator read through a link is judged through it.
func TestLinksToFilesAreFollowed(t *testing.T) {
	root := write(t, map[string]string{
		"hidden/adapter": "package acme\n\nimport \"os\"\n\nvar home = os.Getenv(\"HOME\")\n",
		"hidden/folder":  "id: acme\nnmae: Acme\n",
	})
	require.NoError(t, os.MkdirAll(filepath.Join(root, "providers", "acme"), 0o755))
	require.NoError(t, os.Symlink("../../hidden/adapter", filepath.Join(root, "providers", "acme", "adapter.go")))
	require.NoError(t, os.Symlink("../../hidden/folder", filepath.Join(root, "providers", "acme", ManifestName)))
	require.NoError(t, os.Symlink("/dev/zero", filepath.Join(root, "providers", "acme", "README.md")))
	for _, paths := range [][]string{nil, {"providers/acme"}} {
		set, _ := check(t, Options{Root: root, NoCache: true, Paths: paths}, newCheckers())
		require.Contains(t, rules(set), "providers/acme/adapter.go SBX404")
		require.Contains(t, rules(set), "providers/acme/provider.yaml SBX120")
	}
}

func TestAManifestThatIsNoFile(t *testing.T) {
	root := write(t, map[string]string{"providers/acme/adapter.go": "package acme\n",
		"catalog/acme.yaml": "provider: acme\nstatus: unknown\nreason: No live run has been made.\n"})
	require.NoError(t, os.Mkdir(filepath.Join(root, "providers", "acme", ManifestName), 0o755))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(root, "catalog", "zeta.yaml")))
	for _, paths := range [][]string{nil, {"providers"}, {"providers/acme"}, {"providers/acme/provider.yaml"}, {"providers/acme/adapter.go"}, {"catalog"}} {
		set, _ := check(t, Options{Root: root, NoCache: true, Paths: paths}, newCheckers())
		want := []string{"providers/acme/provider.yaml SBX136"}
		switch {
		case paths == nil:
			want = []string{"catalog/zeta.yaml SBX136", "providers/acme/provider.yaml SBX136"}
		case paths[0] == "catalog":
			want = []string{"catalog/zeta.yaml SBX136"}
		case paths[0] == "providers/acme/adapter.go":
			want = nil // of no provider as far as is known
		}
		require.Subset(t, rules(set), want, paths)
	}
}

// What the generator remembers of files is not judged, not even by name.
func TestTheGeneratorsMemoryIsNotJudged(t *testing.T) {
	root := write(t, map[string]string{"providers/acme/provider.yaml": goodManifest(t, "acme"),
		"providers/acme/.sbxgen/base/adapter.go": "package acme\n\nimport \"os\"\n\nvar home = os.Getenv(\"HOME\")\n"})
	for _, paths := range [][]string{nil, {"providers/acme/.sbxgen"}, {"providers/acme/.sbxgen/base/adapter.go"}} {
		set, _ := check(t, Options{Root: root, NoCache: true, Paths: paths}, newCheckers())
		require.NotContains(t, rules(set), "providers/acme/.sbxgen/base/adapter.go SBX404", paths)
	}
}

// The scanner is the one that evidence goes through: a key behind a prefix is one.
func TestAKeyBehindAPrefix(t *testing.T) {
	key := "token-gh" + "p_" + strings.Repeat("aB3dE9", 6)
	root := write(t, map[string]string{"catalog/acme.yaml": "provider: acme\nstatus: unknown\nreason: Use " + key + " for it.\n"})
	set, _ := check(t, Options{Root: root, NoCache: true}, newCheckers())
	require.Contains(t, rules(set), "catalog/acme.yaml SBX501")
}

func TestABaseNeedsAnAdapter(t *testing.T) {
	manifest, err := os.ReadFile("../../providers/e2b/provider.yaml")
	require.NoError(t, err)
	root := write(t, map[string]string{
		"providers/e2b/provider.yaml":  string(manifest),
		"providers/acme/provider.yaml": strings.Replace(goodManifest(t, "acme"), "kind: native", "kind: native\n  base: e2b", 1),
	})
	set, _ := check(t, Options{Root: root, NoCache: true, Paths: []string{"providers/acme"}}, newCheckers())
	require.Contains(t, rules(set), "providers/acme/provider.yaml SBX147")
}

func TestPathsThatCannotBe(t *testing.T) {
	root := t.TempDir()
	var pathErr *PathError
	_, _, err := Validate(context.Background(), Options{Root: root, NoCache: true, Paths: []string{"nowhere.yaml"}})
	require.ErrorAs(t, err, &pathErr)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, _, err = Validate(context.Background(), Options{Root: root, NoCache: true, Paths: []string{"../x"}})
	require.ErrorAs(t, err, &pathErr)
	require.ErrorIs(t, err, ErrOutside)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _, err = Validate(ctx, Options{Root: root, NoCache: true})
	require.ErrorIs(t, err, context.Canceled)
}

func TestTheCacheIsUsedAndNeverTrustedWhenDamaged(t *testing.T) {
	bad := strings.Replace(goodManifest(t, "acme"), "license: Apache-2.0", "licence: Apache-2.0", 1)
	root := write(t, map[string]string{"providers/acme/provider.yaml": bad, "providers/zeta/provider.yaml": goodManifest(t, "zeta")})
	dir, c := t.TempDir(), newCheckers()
	want, stats := check(t, Options{Root: root, CacheDir: dir}, c)
	require.NoError(t, stats.CacheError)
	require.Equal(t, 0, stats.Cached)
	again, stats := check(t, Options{Root: root, CacheDir: dir}, c)
	require.Equal(t, 2, stats.Cached)
	require.Equal(t, want.All(), again.All())

	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	file := filepath.Join(dir, entries[0].Name())
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	for at := 0; at < len(whole); at += 1 + len(whole)/97 {
		broken := bytes.Clone(whole)
		broken[at] ^= 0x40
		for _, src := range [][]byte{broken, whole[:at]} {
			require.NoError(t, os.WriteFile(file, src, 0o600))
			got, stats := check(t, Options{Root: root, CacheDir: dir}, c)
			require.Equal(t, want.All(), got.All())
			require.Equal(t, 0, stats.Cached, "byte %d", at)
		}
	}

	require.NoError(t, os.WriteFile(filepath.Join(root, "providers", "acme", "provider.yaml"), []byte(goodManifest(t, "acme")), 0o644))
	set, stats := check(t, Options{Root: root, CacheDir: dir}, c)
	require.Empty(t, set.All())
	require.Equal(t, 1, stats.Cached)
}

func TestTimeIsNotCached(t *testing.T) {
	root := write(t, map[string]string{"providers/acme/provider.yaml": goodManifest(t, "acme")})
	dir, c := t.TempDir(), newCheckers()
	set, _ := check(t, Options{Root: root, CacheDir: dir}, c)
	require.Empty(t, set.All())
	set, stats := check(t, Options{Root: root, CacheDir: dir, AsOf: asOf().AddDate(2, 0, 0)}, c)
	require.Equal(t, 1, stats.Cached)
	require.Equal(t, []string{"providers/acme/provider.yaml SBX177"}, rules(set))
	require.NoError(t, set.Err(), "an old price is a warning")
	set, _ = check(t, Options{Root: root, CacheDir: dir, AsOf: asOf().AddDate(2, 0, 0), Strict: true}, c)
	require.Error(t, set.Err())
	set, _ = check(t, Options{Root: root, CacheDir: dir, AsOf: asOf().AddDate(-2, 0, 0)}, c)
	require.Contains(t, rules(set), "providers/acme/provider.yaml SBX146")
}

func TestEvidenceOutsideTheTreeIsNotRead(t *testing.T) {
	outside := write(t, map[string]string{"statement.json": "{}\n"})
	root := write(t, map[string]string{
		"providers/acme/provider.yaml": goodManifest(t, "acme"),
		"catalog/acme.yaml": "provider: acme\nstatus: verified\nevidence:\n  - path: evidence/acme/run-1/statement.json\n    sha256: " +
			"ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356\nverifiedAt: 2026-08-21T10:00:00Z\nverifiedBy: A. Person\nexpiresAt: 2026-11-01T10:00:00Z\n",
		"evidence/acme/run-1/note.md": "note\n",
	})
	require.NoError(t, os.Symlink(filepath.Join(outside, "statement.json"), filepath.Join(root, "evidence", "acme", "run-1", "statement.json")))
	set, _ := check(t, Options{Root: root, NoCache: true}, newCheckers())
	require.Equal(t, []string{"catalog/acme.yaml SBX224"}, rules(set))
}

func TestAProviderOfAnotherModuleMayBeTheBaseOnly(t *testing.T) {
	root := write(t, map[string]string{
		"go.mod":             "module example.com/acme\n\ngo 1.26\n",
		"zeta/provider.yaml": goodManifest(t, "zeta"),
		"beta/provider.yaml": goodManifest(t, "beta"),
		"acme/provider.yaml": strings.Replace(goodManifest(t, "acme"), "kind: native", "kind: native\n  base: zeta", 1),
		"acme/adapter.go":    "package acme\n\nimport (\n\t_ \"example.com/acme/beta\"\n\t_ \"example.com/acme/zeta\"\n\t_ \"example.com/acme/tool\"\n)\n",
	})
	set, _ := check(t, Options{Root: root, NoCache: true}, newCheckers())
	require.Equal(t, []string{"acme/adapter.go SBX403"}, rules(set))
	require.Equal(t, 4, set.All()[0].Line)
}

func TestSourcesAreMerged(t *testing.T) {
	root := write(t, map[string]string{"providers/acme/provider.yaml": goodManifest(t, "acme")})
	src := SourceFunc(func(_ context.Context, at string, paths []string) ([]diag.Diagnostic, error) {
		require.True(t, filepath.IsAbs(at))
		require.Equal(t, []string{"providers/acme"}, paths)
		return []diag.Diagnostic{Generated(GeneratedFile{Path: "providers/acme/zz_generated_driver.go", Word: "hand-edited", Detail: "Its text is not what was recorded."})}, nil
	})
	set, _ := check(t, Options{Root: root, NoCache: true, Paths: []string{"providers/acme"}, Sources: []Source{src}}, newCheckers())
	require.Equal(t, "providers/acme/zz_generated_driver.go: error: generated file is hand-edited: Its text is not what was recorded [SBX304]", set.Error())
	failing := SourceFunc(func(context.Context, string, []string) ([]diag.Diagnostic, error) { return nil, fs.ErrPermission })
	_, _, err := Validate(context.Background(), Options{Root: root, NoCache: true, Sources: []Source{failing}})
	require.ErrorIs(t, err, fs.ErrPermission)
}

func TestGeneratedKnowsEveryWord(t *testing.T) {
	for word, rule := range map[string]string{"changed": "SBX301", "missing": "SBX302", "orphan": "SBX303", "hand-edited": "SBX304", "interrupted": "SBX305"} {
		require.Equal(t, rule, Generated(GeneratedFile{Path: "x", Word: word}).Rule)
		_, err := Explain(rule)
		require.NoError(t, err)
	}
}

func TestExplain(t *testing.T) {
	r, err := Explain("SBX203")
	require.NoError(t, err)
	require.NotEmpty(t, r.Why)
	_, err = Explain("SBX2O3")
	var unknown *UnknownRuleError
	require.True(t, errors.As(err, &unknown))
	require.NotEmpty(t, unknown.Suggestion)
}

// FuzzDocument asserts that no document makes the rules panic, and that every
// finding lies inside the document.
func FuzzDocument(f *testing.F) {
	f.Add([]byte(goodManifest(f, "acme")))
	f.Add([]byte("provider: acme\nstatus: verified\nevidence: [{path: a, sha256: b}]\nwaivers: [{until: x}]\n"))
	f.Add([]byte("capabilities: {snapshot: {createsObject: {support: unsupported}, listable: 3}}\nhazards: [[], {id: 4}]\n"))
	f.Add([]byte("package acme\n\nfunc (a *Adapter) Stop() { _ = x.Y(); panic(1) }\n"))
	c := newCheckers()
	f.Fuzz(func(t *testing.T, src []byte) {
		lines := bytes.Count(src, []byte{'\n'}) + 1
		for _, k := range []target{{"providers/acme/provider.yaml", kindManifest}, {"catalog/acme.yaml", kindCatalog},
			{"providers/acme/adapter.go", kindGo}, {"evidence/acme/r/x.json", kindData}} {
			e, err := c.examine(k, bytes.Clone(src))
			require.NoError(t, err)
			for _, d := range e.found {
				require.LessOrEqual(t, d.Line, lines)
			}
		}
	})
}
