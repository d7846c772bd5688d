package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// compile builds one file of package main as a part of this module.
func compile(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "main.go")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	// -e: every error and not only the first ten.
	out, err := exec.Command("go", "build", "-gcflags=-e", "-o", filepath.Join(dir, "out"), file).CombinedOutput()
	if err == nil {
		return ""
	}
	require.NotEmpty(t, out, err)
	return string(out)
}

// calls is a program that calls methods of a typed client's sandbox.
func calls(provider string, lines []string) string {
	return `package main

import (
	"context"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/providers/` + provider + `"
)

func use(ctx context.Context, p *` + provider + `.Provider, sb *` + provider + `.Sandbox) {
	var _ contract.State
	` + strings.Join(lines, "\n\t") + `
}

func main() { _ = use }
`
}

// What a provider lacks does not compile through its own client, and the same
// text does compile through the client of a provider that has it.
func TestLackDoesNotCompile(t *testing.T) {
	lacks := []string{
		"sb.Stop(ctx)", "sb.Start(ctx)", "sb.Suspend(ctx)", "sb.Resume(ctx)", "sb.Restart(ctx)", "sb.Metrics(ctx)", "sb.PortURL(ctx, 80)",
		"sb.CreateSnapshot(ctx, contract.SnapshotRequest{})", "sb.Fork(ctx, contract.ForkRequest{})", "sb.Logs(ctx, contract.LogsRequest{})",
		"p.ListSnapshots(ctx)", `p.DeleteSnapshot(ctx, "x")`,
	}
	has := []string{`sb.Run(ctx, "true")`, `sb.ReadFile(ctx, "/x")`, "sb.Destroy(ctx)", "p.List(ctx, contract.ListRequest{})", "p.Close()"}
	require.Empty(t, compile(t, calls("docker", append(lacks, has...))))
	require.Empty(t, compile(t, calls("local", has)))
	refused := compile(t, calls("local", append(lacks, has...)))
	for _, call := range lacks {
		name, _, _ := strings.Cut(call, "(")
		require.Contains(t, refused, name+" undefined", "it compiles")
	}
	require.Equal(t, len(lacks), strings.Count(refused, " undefined "), refused)
	for _, call := range has {
		name, _, _ := strings.Cut(call, "(")
		require.NotContains(t, refused, name+" undefined")
	}

	gvisor := compile(t, calls("gvisor", append(has, "sb.Stop(ctx)", "sb.PortURL(ctx, 80)")))
	require.Contains(t, gvisor, "sb.PortURL undefined")
	require.Equal(t, 1, strings.Count(gvisor, " undefined "), gvisor)
}
