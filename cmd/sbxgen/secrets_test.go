package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// dummyKeys are put together at run time, so that no file holds one.
func dummyKeys() []string {
	return []string{"gh" + "p_" + strings.Repeat("aB3dE9", 6), "e2" + "b_" + strings.Repeat("0a1b2c3d", 5)}
}

// requireHidden fails when a text shows a key or a name that is made of one.
func requireHidden(t *testing.T, key, text string) {
	t.Helper()
	letters := strings.ToLower(strings.ReplaceAll(key, "_", ""))
	require.NotContains(t, strings.ToLower(strings.ReplaceAll(text, "_", "")), letters)
}

// tree is every file of a module, by name.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.Contains(name, ".sbxgen") {
			b, readErr := os.ReadFile(name)
			files[name], err = string(b), readErr
		}
		return err
	}))
	return files
}

// A key in a manifest or an entry is refused at its place by everything that
// loads the project, is generated into nothing and is shown nowhere.
func TestSecretsAreNotGeneratedFrom(t *testing.T) {
	for _, key := range dummyKeys() {
		for _, c := range []struct{ name, file, old, new string }{
			{"credential", "provider.yaml", "ACME_API_KEY", key},
			{"kind", "provider.yaml", "kind: native", "kind: " + key},
			{"id", "provider.yaml", "\nid: acme", "\nid: " + key},
			{"property", "provider.yaml", "\nid: acme", "\nid: acme\n" + key + ": 1"},
			{"apiVersion", "provider.yaml", "apiVersion: ", "apiVersion: " + key},
			{"alias", "provider.yaml", "\nid: acme", "\nid: *" + key},
			{"tag", "provider.yaml", "\nid: acme", "\nid: !" + key + " acme"},
			{"reason", "catalog/acme.yaml", "", "provider: acme\nstatus: unknown\nreason: " + key + "\n"},
		} {
			t.Run(key[:3]+c.name, func(t *testing.T) {
				dir := acmeModule(t)
				file := filepath.Join(dir, filepath.FromSlash(c.file))
				if c.old == "" {
					require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
					require.NoError(t, os.WriteFile(file, []byte(c.new), 0o644))
				} else {
					edit(t, file, func(s string) string { return strings.Replace(s, c.old, c.new, 1) })
				}
				before := treeOf(t, dir)
				for _, args := range [][]string{{"generate"}, {"generate", "acme"}, {"generate", "--check", "--diff"}, {"checklist", "acme"},
					{"status"}, {"status", "acme"}, {"status", "--json"}, {"conformance", "acme"}, {"bench", "acme"}, {"evidence", "collect", "acme"}} {
					code, out, stderr := command(strings.NewReader(""), t.TempDir(), append(args, "--chdir", dir)...)
					require.Equal(t, exitFindings, code, "%s: %s%s", args, out, stderr)
					require.Contains(t, stderr, "[SBX501]", args)
					require.Contains(t, stderr, c.file+":", args)
					requireHidden(t, key, out+stderr)
				}
				for _, format := range []string{"text", "json", "sarif", "github"} {
					code, out, stderr := command(nil, t.TempDir(), "validate", "--no-cache", "--format", format, "--chdir", dir)
					require.Equal(t, exitFindings, code, stderr)
					requireHidden(t, key, out+stderr)
				}
				require.Equal(t, before, treeOf(t, dir), "something was written")
			})
		}
	}
}

// Files that an older generator made of a key are shown without the names that
// were made of it, too.
func TestDerivedNamesAreNotShown(t *testing.T) {
	key := dummyKeys()[0]
	dir := acmeModule(t)
	edit(t, filepath.Join(dir, "README.md"), func(s string) string {
		return s + "\n| `ghP" + strings.ToLower(key[4:]) + "` | `" + key + "` |\n"
	})
	code, out, stderr := command(nil, t.TempDir(), "validate", "--no-cache", "--chdir", dir)
	require.Equal(t, exitFindings, code, stderr)
	require.Contains(t, out, "README.md:")
	require.Contains(t, out, "[SBX501]")
	requireHidden(t, key, out+stderr)
}

// What a status repeats of an entry is hidden even where nothing refuses it.
func TestStatusHidesReasons(t *testing.T) {
	key := dummyKeys()[0]
	st := providerStatus{Reason: "see " + key, Run: "evidence/" + key, Until: key, Next: "link " + key}
	st.hide()
	require.Equal(t, providerStatus{Reason: "see (hidden)", Run: "evidence/(hidden)", Until: "(hidden)", Next: "link (hidden)"}, st)
}

// A key that was put in the wrong place of a command line is not repeated.
func TestArgumentsThatAreKeysAreNotRepeated(t *testing.T) {
	dir := acmeModule(t)
	for _, key := range dummyKeys() {
		for _, args := range [][]string{{key}, {"--" + key}, {"--" + key + "=x"}, {"-" + key}, {"explain", key}, {"validate", key}, {"validate", "a/" + key},
			{"validate", "--as-of", key}, {"validate", "--format", key}, {"status", key}, {"status", "--as-of", key}, {"checklist", key}, {"generate", key},
			{"conformance", key}, {"bench", key}, {"schema", key}, {"schema", "print", key}, {"new", key}, {"new", "provider", key},
			{"new", "provider", "acme", "--from", key}, {"evidence", key}, {"evidence", "verify", key}, {"evidence", "show", key},
			{"evidence", "collect", key}, {"evidence", "key", "file", "--owner", key}, {"--chdir", key, "status"}} {
			code, out, stderr := command(strings.NewReader(""), t.TempDir(), append([]string{"--chdir", dir}, args...)...)
			require.NotEqual(t, exitClean, code, "%s", args)
			requireHidden(t, key, out+stderr)
		}
		code, _, stderr := command(nil, t.TempDir(), "--chdir", dir, "evidence", "key", filepath.Join(t.TempDir(), "key"), "--owner", key)
		require.Equal(t, exitUsage, code)
		require.Contains(t, stderr, "--owner")
	}
}
