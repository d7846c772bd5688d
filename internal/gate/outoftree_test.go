package gate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// In a module of its own a provider may build on one of this module's, and a
// program beside it is no adapter.
func TestAProviderElsewhere(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	manifest, err := os.ReadFile("../../providers/gvisor/provider.yaml")
	require.NoError(t, err)
	write("gvisor/provider.yaml", string(manifest))
	write("gvisor/app/main.go", "package main\n\nimport \"os\"\n\nfunc main() { os.Exit(len(os.Getenv(\"X\"))) }\n")

	rules := func() (found []string) {
		set, _, err := Validate(t.Context(), Options{Root: root, NoCache: true})
		require.NoError(t, err)
		for _, d := range set.All() {
			found = append(found, d.Rule)
		}
		return found
	}
	write("go.mod", "module github.com/agentworkforce/sbx\n")
	require.Contains(t, rules(), ruleNoBase)
	write("go.mod", "module example.com/elsewhere\n")
	require.NotContains(t, rules(), ruleNoBase)
	require.NotContains(t, rules(), ruleProcess)
	write("gvisor/adapter.go", "package gvisor\n\nimport \"os\"\n\nfunc end() { os.Exit(1) }\n")
	require.Contains(t, rules(), ruleProcess)
}
