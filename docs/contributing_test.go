package docs

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/internal/testrepo"
)

// TestContributing runs every sh block of CONTRIBUTING-provider.md in order, in
// one shell, in a copy of the repository. A line that starts with "!" must fail.
func TestContributing(t *testing.T) {
	page, err := os.ReadFile("CONTRIBUTING-provider.md")
	require.NoError(t, err)
	blocks := shellBlocks(string(page))
	require.Greater(t, len(blocks), 7, "the page lost its commands")

	dir := testrepo.Copy(t)
	var script bytes.Buffer
	script.WriteString("set -euo pipefail\n")
	for _, block := range blocks {
		for _, command := range strings.Split(block, "\n") {
			if rest, ok := strings.CutPrefix(command, "! "); ok {
				// Under set -e a negated command never ends the script by itself.
				command = "if " + rest + "; then echo 'expected to fail: " + rest + "' >&2; exit 1; fi"
			}
			script.WriteString(command + "\n")
		}
	}
	cmd := exec.Command("bash", "-x", "-c", script.String())
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SBX_STATE_DIR="+t.TempDir(), "XDG_CACHE_HOME="+t.TempDir(), "GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}

// TestContributingCompiles builds and vets every go block of the page, each as a
// package of its own.
func TestContributingCompiles(t *testing.T) {
	page, err := os.ReadFile("CONTRIBUTING-provider.md")
	require.NoError(t, err)
	blocks := codeBlocks(string(page), "go")
	require.NotEmpty(t, blocks, "the page lost its example")
	dir := testrepo.Copy(t)
	for i, block := range blocks {
		folder := filepath.Join(dir, "docs", fmt.Sprintf("block%d", i))
		require.NoError(t, os.Mkdir(folder, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "block.go"), []byte(block+"\n"), 0o600))
		formatted, err := format.Source([]byte(block + "\n"))
		require.NoError(t, err, block)
		require.Equal(t, block+"\n", string(formatted), "the example is formatted")
		vet := exec.Command("go", "vet", "./"+filepath.ToSlash(strings.TrimPrefix(folder, dir+string(filepath.Separator))))
		vet.Dir = dir
		out, err := vet.CombinedOutput()
		require.NoError(t, err, string(out))
	}
}

// shellBlocks returns the contents of the page's sh blocks.
func shellBlocks(page string) []string { return codeBlocks(page, "sh") }

// codeBlocks returns the contents of the page's blocks in a language.
func codeBlocks(page, language string) []string {
	var out []string
	for _, part := range strings.Split(page, "```"+language+"\n")[1:] {
		block, _, _ := strings.Cut(part, "```")
		out = append(out, strings.TrimRight(block, "\n"))
	}
	return out
}

func goEnv(t *testing.T, name string) string {
	out, err := exec.Command("go", "env", name).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}
