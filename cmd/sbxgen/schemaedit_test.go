package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/internal/testrepo"
)

// touch is a method over existing types, as a contributor would add it.
const touch = `{"name": "Touch", "doc": "Touch sets a file's time to now.", "effect": "mutate", "retry": "safe",
        "params": [{"name": "id", "type": "ID"}, {"name": "path", "type": "string"}],
        "results": [{"name": "info", "type": {"$ref": "contract.schema.json#/$defs/FileInfo"}}]}`

// TestAMethodIsOneEdit gives a reserved capability an interface with one method:
// one edit of the schema and one `make generate`, and everything compiles.
func TestAMethodIsOneEdit(t *testing.T) {
	dir := testrepo.Copy(t)
	edit(t, filepath.Join(dir, "schema", "provider.schema.json"), func(s string) string {
		i := strings.Index(s, `"resize": {`)
		require.Positive(t, i)
		before, rest := s[:i], s[i:]
		return before + strings.Replace(rest, `"x-sbx": {`, `"x-sbx": {"interface": "Toucher", "methods": [`+touch+`], `, 1)
	})
	make := exec.Command("make", "generate")
	make.Dir = dir
	out, err := make.CombinedOutput()
	require.NoError(t, err, string(out))
	for name, want := range map[string]string{
		"generated/contract/capabilities.go": "type Toucher interface {",
		"generated/contract/table.go":        "Touch func(ctx context.Context, id string, path string) (FileInfo, error)",
		"sandbox/zz_generated_operations.go": "func (s *Sandbox) Touch(ctx context.Context, path string) (contract.FileInfo, error)",
		"docs/reference/capabilities.md":     "`Touch` (mutate)",
	} {
		b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		require.NoError(t, err)
		require.True(t, strings.Contains(strings.Join(strings.Fields(string(b)), " "), want), "%s lacks %q", name, want)
	}
	build := exec.Command("go", "build", "./...")
	build.Dir = dir
	out, err = build.CombinedOutput()
	require.NoError(t, err, string(out))
}

func TestAMisspeltSchemaIsRefusedAtItsPlace(t *testing.T) {
	dir := testrepo.Copy(t)
	file := filepath.Join(dir, "schema", "provider.schema.json")
	good, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, c := range []struct{ name, from, to, want string }{
		{"x-sbx key", `"question":`, `"quesiton":`, "quesiton"},
		{"keyword", `"additionalProperties": false`, `"aditionalProperties": false`, "aditionalProperties"},
		{"$ref", `"contract.schema.json#/$defs/Instance"`, `"contract.schema.json#/$defs/Instanz"`, "Instanz"},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := strings.Index(string(good), c.from)
			require.Positive(t, at)
			bad := string(good[:at]) + c.to + string(good[at+len(c.from):])
			require.NoError(t, os.WriteFile(file, []byte(bad), 0o644))
			code, _, stderr := command(nil, t.TempDir(), "generate", "--chdir", dir)
			require.Equal(t, exitFindings, code)
			line := 1 + strings.Count(string(good[:at]), "\n")
			require.Regexp(t, `(?m)^schema/provider\.schema\.json:`+strconv.Itoa(line)+`:\d+: error: .*`+c.want+`.*\[SBX310\]`, stderr)
		})
	}
}
