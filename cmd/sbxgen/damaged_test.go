package main

import (
	"bytes"
	"context"
	"errors"
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

// Something else in the place of a file of the generator is a finding with what
// to do, not a failure of the program; nothing is written and nothing is lost.
func TestSomethingInPlaceOfAGeneratedFile(t *testing.T) {
	const lock, client = ".sbxgen.lock", "zz_generated_client.go"
	for name, c := range map[string]struct {
		file, reason string
		spoil        func(path string) error
	}{
		"folder for the lock": {lock, "a folder where the lock belongs", func(p string) error { return os.Mkdir(p, 0o755) }},
		"link for the lock":   {lock, "a symbolic link or special file", func(p string) error { return os.Symlink("/nowhere", p) }},
		"folder for a file":   {client, "the folder " + client + " is in the way", func(p string) error { return os.Mkdir(p, 0o755) }},
		"folder with a file": {client, "a folder that holds " + client + "/mine is in the way", func(p string) error {
			if err := os.Mkdir(p, 0o755); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(p, "mine"), nil, 0o644)
		}},
		"link for a file": {client, "a symbolic link or special file", func(p string) error { return os.Symlink("/nowhere", p) }},
	} {
		t.Run(name, func(t *testing.T) {
			dir := acmeModule(t)
			file := filepath.Join(dir, c.file)
			require.NoError(t, os.Remove(file))
			require.NoError(t, c.spoil(file))
			edit(t, filepath.Join(dir, "adapter.go"), func(s string) string { return s + "\nfunc init() {}\n" })
			code, out, stderr := command(nil, t.TempDir(), "validate", "--no-cache", "--chdir", dir)
			require.Equal(t, exitFindings, code, stderr)
			require.Contains(t, out, c.reason)
			require.Contains(t, out, "[SBX407]", "the other findings are there, too")
			require.Contains(t, out, "move it away, then sbxgen generate")
			for _, args := range [][]string{{"--check"}, nil, {"--check"}} {
				code, out = generate(t, dir, args...)
				require.Equal(t, exitFindings, code, out)
				require.Contains(t, out, "missing "+c.file+" ("+c.reason)
				require.NotContains(t, out, "interrupted")
			}
			require.NoError(t, os.RemoveAll(file))
			code, out = generate(t, dir)
			require.Equal(t, exitClean, code, out)
			code, out = generate(t, dir, "--check")
			require.Equal(t, exitClean, code, out)
		})
	}
}

// A signal is no failure of the program.
func TestInterruptedCommands(t *testing.T) {
	dir := acmeModule(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"generate"}, {"generate", "--check"}, {"validate", "--no-cache"}} {
		var out, stderr bytes.Buffer
		code := run(ctx, append(args, "--chdir", dir), streams{out: &out, err: &stderr, getenv: environ(t.TempDir())})
		require.Equal(t, exitInterrupted, code, "%v", args)
		require.Equal(t, "sbxgen: interrupted; run it again\n", stderr.String())
	}
}

// What failed besides is not hidden by it.
func TestInterruptedAndFailed(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stderr bytes.Buffer
	require.True(t, interrupted(ctx, errors.Join(context.Canceled, errors.New("the disk is full")), streams{err: &stderr}))
	require.Equal(t, "sbxgen: the disk is full\nsbxgen: interrupted; run it again\n", stderr.String())
	require.False(t, interrupted(ctx, errors.New("the disk is full"), streams{err: &stderr}))
}

// Places where nothing can be are the caller's mistake, and named.
func TestPlacesThatAreNone(t *testing.T) {
	dir := acmeModule(t)
	for _, more := range [][]string{nil, {"--module", "example.com/other"}} {
		code, _, stderr := command(nil, t.TempDir(), append(append([]string{"new", "provider", "--chdir", dir, "--dir", "go.mod/x"}, acmeFlags()...), more...)...)
		require.Equal(t, exitUsage, code, stderr)
		require.Contains(t, stderr, "--dir go.mod/x: ")
		require.Contains(t, stderr, "go.mod is a file, not a folder")
	}
	gone := filepath.Join(t.TempDir(), "gone")
	require.NoError(t, os.Mkdir(gone, 0o755))
	t.Chdir(gone)
	require.NoError(t, os.Remove(gone))
	for _, args := range [][]string{{"generate"}, {"validate"}, {"checklist"}, append([]string{"new", "provider"}, acmeFlags()...)} {
		code, _, stderr := command(nil, t.TempDir(), args...)
		require.Equal(t, exitUsage, code, "%v: %s", args, stderr)
		require.Contains(t, stderr, "the folder this was started in is gone")
	}
}

// A lock is repaired whole, and that is said: what was written is not current.
func TestRepairedLock(t *testing.T) {
	dir := acmeModule(t)
	lock := filepath.Join(dir, ".sbxgen.lock")
	want, err := os.ReadFile(lock)
	require.NoError(t, err)
	require.Contains(t, string(want), `"go.mod": "`)
	for _, spoil := range []func() error{
		func() error { return os.Remove(lock) },
		func() error { return os.WriteFile(lock, []byte("{}\n"), 0o644) },
		func() error { return os.WriteFile(lock, want[:len(want)/2], 0o644) },
	} {
		require.NoError(t, spoil())
		code, out := generate(t, dir)
		require.Equal(t, exitClean, code, out)
		require.Equal(t, "repaired .sbxgen.lock\n", out)
		got, err := os.ReadFile(lock)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
		_, out = generate(t, dir)
		require.Equal(t, "everything is current\n", out)
	}
}

// What new provider refuses is said without a flag that it does not have.
func TestFileInTheWayOfANewProvider(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/acme\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "README.md"), []byte("# Mine\n"), 0o644))
	code, out, stderr := command(nil, t.TempDir(), append([]string{"new", "provider", "--chdir", dir, "--dir", "."}, acmeFlags()...)...)
	require.Equal(t, exitFindings, code, out)
	require.Contains(t, stderr, "README.md")
	require.Contains(t, stderr, "move it away first")
	require.NotContains(t, stderr, "force")
}
