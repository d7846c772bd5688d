package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// goIn runs the go command offline in a folder. Without paths in what it builds,
// the build cache serves copies of the same source too.
func goIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "go", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=-trimpath", "GOPROXY=off", "GOWORK=off", "SBX_STATE_DIR="+t.TempDir(), "ACME_API_KEY=")
	out, err := c.CombinedOutput()
	require.NoError(t, err, "go %s\n%s", strings.Join(args, " "), out)
	return string(out)
}

func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	return root
}

// everyCapability is every capability that a provider can be made with.
func everyCapability(t *testing.T) string {
	t.Helper()
	vocabulary, err := loadVocabulary()
	require.NoError(t, err)
	var ids []string
	for _, c := range vocabulary.Capabilities {
		if c.Interface != "" {
			ids = append(ids, c.ID)
		}
	}
	require.Contains(t, ids, "ports", "whose method has a parameter called like a package")
	return strings.Join(ids, ",")
}

// A provider that was just made compiles, passes vet and its tests, offline, in
// a module of its own, without and with capabilities and credentials.
func TestNewProviderOutOfTreeIsGreen(t *testing.T) {
	for name, extra := range map[string][]string{
		"bare":         nil,
		"capabilities": {"--credential-env", "ACME_API_KEY", "--capability", everyCapability(t)},
		"base":         {"--base", "docker"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "acme")
			args := append([]string{"new", "provider", "acme", "--name", "Acme", "--summary", "Small virtual machines.",
				"--homepage", "https://acme.example", "--kind", "native", "--module", "example.com/acme", "--dir", dir,
				"--replace", repository(t)}, extra...)
			code, _, stderr := command(nil, t.TempDir(), args...)
			require.Equal(t, exitClean, code, stderr)
			goIn(t, dir, "vet", "./...")
			if name == "base" { // the engine of the base may be here or not: what it answers is not this test's
				goIn(t, dir, "test", "-run", "TestContract", "./...")
				return
			}
			out := goIn(t, dir, "test", "-v", "./...")
			require.Contains(t, out, "unknown", "what is not proven is counted")
			require.NotContains(t, out, "SKIP")
		})
	}
}

// In the sbx module a new provider is registered, and nothing is left for
// generate to do.
func TestNewProviderInTree(t *testing.T) {
	root := copyOfRepository(t)
	code, out, stderr := command(nil, t.TempDir(), append([]string{"--chdir", root, "new", "provider"}, acmeFlags()...)...)
	require.Equal(t, exitClean, code, stderr)
	require.Contains(t, out, "  providers/acme/adapter.go ")
	goIn(t, root, "vet", "./providers/acme", "./generated/registry")
	goIn(t, root, "test", "./providers/acme")
	registry, err := os.ReadFile(filepath.Join(root, "generated", "registry", "registry.go"))
	require.NoError(t, err)
	require.Contains(t, string(registry), "acme.Driver()")
	require.FileExists(t, filepath.Join(root, "catalog", "acme.yaml"))

	code, out, stderr = command(nil, t.TempDir(), "--chdir", root, "generate", "acme", "--check")
	require.Equal(t, exitClean, code, out+stderr)
	code, out, stderr = command(nil, t.TempDir(), "--chdir", root, "validate", "--no-cache", "providers/acme", "catalog/acme.yaml")
	require.Equal(t, exitClean, code, out+stderr)
}

// copyOfRepository copies what git would, so that nothing here is touched.
func copyOfRepository(t *testing.T) string {
	t.Helper()
	from, to := repository(t), t.TempDir()
	require.NoError(t, filepath.WalkDir(from, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || rel == filepath.Join("internal", "gate", "testdata")):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), b, 0o644)
	}))
	return to
}
