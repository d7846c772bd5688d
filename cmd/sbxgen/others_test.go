package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// otherFlags are acmeFlags of a provider with another ID.
func otherFlags(id string) []string { return append([]string{id}, acmeFlags()[1:]...) }

// breakManifest makes a mistake in a manifest.
func breakManifest(t *testing.T, dir, id string) {
	t.Helper()
	edit(t, filepath.Join(dir, "providers", id, "provider.yaml"), func(s string) string { return strings.Replace(s, "kind: native", "kind: nothing", 1) })
}

// A mistake in one provider is in nobody else's way.
func TestMistakesOfOthersAreNotInTheWay(t *testing.T) {
	dir := acmeModule(t)
	for _, id := range []string{"globex", "initech"} {
		code, _, stderr := command(nil, t.TempDir(), append([]string{"new", "provider", "--chdir", dir}, otherFlags(id)...)...)
		require.Equal(t, exitClean, code, stderr)
	}
	breakManifest(t, dir, "initech")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "catalog"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "catalog", "initech.yaml"), []byte("reason: "+dummyKeys()[0]+"\n"), 0o644))
	for _, args := range [][]string{{"status", "globex"}, {"status", "acme", "globex"}, {"checklist", "globex"}, {"generate", "globex"}, {"generate", "acme", "--check"},
		append([]string{"new", "provider"}, otherFlags("umbrella")...)} {
		code, out, stderr := command(nil, t.TempDir(), append(args, "--chdir", dir)...)
		require.Equal(t, exitClean, code, "%s: %s%s", args, out, stderr)
		require.NotContains(t, stderr, "initech", args)
	}
	for _, args := range [][]string{{"status"}, {"generate"}, {"status", "initech"}, {"status", "globex", "initech"}, {"checklist", "initech"}, {"generate", "initech"}} {
		code, _, stderr := command(nil, t.TempDir(), append(args, "--chdir", dir)...)
		require.Equal(t, exitFindings, code, args)
		require.Contains(t, stderr, "providers/initech/provider.yaml:", args)
	}
	code, _, stderr := command(nil, t.TempDir(), append([]string{"new", "provider", "--chdir", dir}, otherFlags("initech")...)...)
	require.Equal(t, exitUsage, code, "its folder is taken, although it cannot be read")
	require.Contains(t, stderr, "initech")
}

// One that builds on a provider with a mistake cannot do without it.
func TestMistakesOfABaseAreInTheWay(t *testing.T) {
	dir := acmeModule(t)
	for _, id := range []string{"globex", "initech"} {
		code, _, stderr := command(nil, t.TempDir(), append([]string{"new", "provider", "--chdir", dir}, otherFlags(id)...)...)
		require.Equal(t, exitClean, code, stderr)
	}
	edit(t, filepath.Join(dir, "providers", "globex", "provider.yaml"), func(s string) string {
		return strings.Replace(s, "kind: native", "kind: native\n  base: initech", 1)
	})
	breakManifest(t, dir, "initech")
	code, _, stderr := command(nil, t.TempDir(), "generate", "globex", "--chdir", dir)
	require.Equal(t, exitFindings, code, stderr)
	require.Contains(t, stderr, "providers/initech/provider.yaml:")
	code, _, stderr = command(nil, t.TempDir(), "generate", "acme", "--check", "--chdir", dir)
	require.Equal(t, exitClean, code, stderr)
}

// In the sbx module the lists of all providers stay whole.
func TestNewProviderBesideAMistakeInTree(t *testing.T) {
	root := copyOfRepository(t)
	manifest := filepath.Join(root, "providers", "gvisor", "provider.yaml")
	edit(t, manifest, func(s string) string { return s + "nonsense: 1\n" })
	registry := filepath.Join(root, "generated", "registry", "registry.go")
	before, err := os.ReadFile(registry)
	require.NoError(t, err)
	require.Contains(t, string(before), "gvisor")
	code, out, stderr := command(nil, t.TempDir(), append([]string{"--chdir", root, "new", "provider"}, acmeFlags()...)...)
	require.Equal(t, exitClean, code, stderr)
	require.Contains(t, out, "  providers/acme/adapter.go ")
	require.Contains(t, stderr, "sbxgen validate")
	after, err := os.ReadFile(registry)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
	require.FileExists(t, filepath.Join(root, "docs", "providers", "gvisor.md"))
}
