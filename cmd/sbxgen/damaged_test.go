package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const writtenItem = "no method of the adapter answers not_implemented"

// What cannot be read is unknown, and nothing unknown is ticked.
func TestNoTickForAnAdapterThatDoesNotParse(t *testing.T) {
	dir := acmeModule(t)
	name := filepath.Join(dir, "adapter.go")
	src, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, append(src, "func (\n"...), 0o644))

	code, out, stderr := command(nil, t.TempDir(), "checklist", "--chdir", dir)
	require.Equal(t, exitClean, code, stderr)
	require.Contains(t, out, "- [ ] "+writtenItem+": unknown, because adapter.go does not parse")
	code, out = generate(t, dir)
	require.Equal(t, exitClean, code, out)
	kept, err := os.ReadFile(filepath.Join(dir, "CHECKLIST.md"))
	require.NoError(t, err)
	require.Contains(t, string(kept), "- [ ] "+writtenItem+": unknown, because adapter.go does not parse")
	code, out = generate(t, dir, "--check")
	require.Equal(t, exitClean, code, out)

	require.NoError(t, os.WriteFile(name, src, 0o644))
	code, out = generate(t, dir)
	require.Equal(t, exitClean, code, out)
	kept, err = os.ReadFile(filepath.Join(dir, "CHECKLIST.md"))
	require.NoError(t, err)
	require.Contains(t, string(kept), "- [ ] "+writtenItem+": to write: ")
}

// A native provider cannot do without its adapter: that it is gone is said, and
// generate scaffolds it again.
func TestAdapterThatIsGone(t *testing.T) {
	dir := acmeModule(t)
	name := filepath.Join(dir, "adapter.go")
	scaffolded, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, os.Remove(name))

	for _, paths := range [][]string{{"."}, nil} {
		code, out, _ := command(nil, t.TempDir(), append([]string{"validate", "--no-cache", "--chdir", dir}, paths...)...)
		require.Equal(t, exitFindings, code)
		require.Contains(t, out, "[SBX414]")
		require.Contains(t, out, "run sbxgen generate, which scaffolds it again")
	}
	code, out, stderr := command(nil, t.TempDir(), "checklist", "--chdir", dir)
	require.Equal(t, exitClean, code, stderr)
	require.Contains(t, out, "- [ ] "+writtenItem+": unknown, because there is no adapter.go")
	code, out = generate(t, dir, "--check")
	require.Equal(t, exitFindings, code)
	require.Contains(t, out, "missing adapter.go")
	code, out = generate(t, dir)
	require.Equal(t, exitClean, code)
	require.Contains(t, out, "created  adapter.go")
	again, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, string(scaffolded), string(again))
	code, out = generate(t, dir, "--check")
	require.Equal(t, exitClean, code, out)
}

// Methods may stand in other files than adapter.go.
func TestAdapterUnderAnotherName(t *testing.T) {
	dir := acmeModule(t)
	require.NoError(t, os.Rename(filepath.Join(dir, "adapter.go"), filepath.Join(dir, "acme.go")))
	code, out := generate(t, dir, "--check")
	require.Equal(t, exitClean, code, out)
	code, out, _ = command(nil, t.TempDir(), "validate", "--no-cache", "--chdir", dir, ".")
	require.NotContains(t, out, "SBX414", "exit %d", code)
}
