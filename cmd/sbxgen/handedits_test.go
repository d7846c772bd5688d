package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTwoFilesAreWrittenByHand goes from a scaffold to a provider that runs real
// commands, and counts the files that a person had to touch.
func TestTwoFilesAreWrittenByHand(t *testing.T) {
	dir := acmeModule(t)
	before := files(t, dir)

	// provider.yaml: what local's says, under this provider's name.
	manifest, err := os.ReadFile(filepath.Join("..", "..", "providers", "local", "provider.yaml"))
	require.NoError(t, err)
	text := strings.NewReplacer("\nid: local\n", "\nid: acme\n", "\nname: Local\n", "\nname: Acme\n").Replace(string(manifest))
	require.Contains(t, text, "\nid: acme\n")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "provider.yaml"), []byte(text), 0o644))

	// adapter.go: a real one in few lines.
	adapter := `// Package acme drives Acme.
package acme

import (
	"context"

	"github.com/agentworkforce/sbx/providers/local"
)

// Adapter is Acme.
type Adapter struct{ *local.Adapter }

// New makes an adapter.
func New(ctx context.Context, cfg Config) (*Adapter, error) {
	a, err := local.New(ctx, local.Config{Isolation: cfg.Isolation, StateDir: cfg.StateDir})
	if err != nil {
		return nil, err
	}
	return &Adapter{a}, nil
}
`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "adapter.go"), []byte(adapter), 0o644))
	var byHand []string
	for name, content := range files(t, dir) {
		if before[name] != content {
			byHand = append(byHand, name)
		}
	}
	require.ElementsMatch(t, []string{"provider.yaml", "adapter.go"}, byHand)

	code, out := generate(t, dir)
	require.Equal(t, exitClean, code, out)
	code, out = generate(t, dir, "--check")
	require.Equal(t, exitClean, code, out)
	test := exec.Command("go", "test", "-run", "TestContract|TestConformance/^(create|exec)\\.", ".")
	test.Dir = dir
	test.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "SBX_LOCAL_ISOLATION=none", "SBX_STATE_DIR="+t.TempDir())
	result, err := test.CombinedOutput()
	require.NoError(t, err, string(result))
}
