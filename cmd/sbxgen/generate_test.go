package main

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// acmeModule is a module with one scaffolded provider in its root.
func acmeModule(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "acme")
	code, _, stderr := command(nil, t.TempDir(), append([]string{"new", "provider", "--module", "example.com/acme", "--dir", dir}, acmeFlags()...)...)
	require.Equal(t, exitClean, code, stderr)
	return dir
}

func generate(t *testing.T, dir string, args ...string) (code int, stdout string) {
	t.Helper()
	code, out, stderr := command(nil, t.TempDir(), append([]string{"generate", "--chdir", dir}, args...)...)
	return code, out + stderr
}

func edit(t *testing.T, path string, change func(string) string) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	changed := change(string(b))
	require.NotEqual(t, string(b), changed, "the edit changes nothing")
	require.NoError(t, os.WriteFile(path, []byte(changed), 0o644))
}

// supportStop is the edit a contributor makes when the methods work.
func supportStop(manifest string) string {
	before, after, _ := strings.Cut(manifest, "\n  stop:")
	_, rest, _ := strings.Cut(after, "\n  snapshot:")
	return before + "\n  stop: {support: supported}\n  snapshot:" + rest
}

func TestCheckNamesWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name, word, file string
		harm             func(t *testing.T, dir string)
	}{
		{"one byte", "hand-edited", "zz_generated_client.go", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "zz_generated_client.go"), func(s string) string { return strings.Replace(s, "package", "pachage", 1) })
		}},
		{"deleted", "missing", "zz_generated_driver.go", func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "zz_generated_driver.go")))
		}},
		{"beside them", "orphan", "zz_generated_extra.go", func(t *testing.T, dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "zz_generated_extra.go"), []byte("package acme\n"), 0o644))
		}},
		{"the manifest", "changed", "zz_generated_driver.go", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "provider.yaml"), supportStop)
		}},
		{"inside markers", "hand-edited", "README.md", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "README.md"), func(s string) string {
				return strings.Replace(s, "<!-- sbxgen:begin facts -->\n", "<!-- sbxgen:begin facts -->\nmine\n", 1)
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := acmeModule(t)
			code, out := generate(t, dir, "--check")
			require.Equal(t, exitClean, code, out)
			c.harm(t, dir)
			code, out = generate(t, dir, "--check")
			require.Equal(t, exitFindings, code)
			require.Contains(t, out, c.word+" "+c.file)
			require.Equal(t, c.word == "orphan", strings.Contains(out, "by hand"), out)
			code, diff := generate(t, dir, "--check", "--diff")
			require.Equal(t, exitFindings, code)
			if c.word == "hand-edited" || c.word == "changed" {
				require.Contains(t, diff, "\n+")
			}
			code, out = generate(t, dir)
			if c.word == "orphan" { // nobody's lock lists it: a person has to look
				require.Equal(t, exitFindings, code, out)
				return
			}
			require.Equal(t, exitClean, code, out)
			code, out = generate(t, dir, "--check")
			require.Equal(t, exitClean, code, out)
		})
	}
}

func TestTextOutsideTheMarkersIsKept(t *testing.T) {
	dir := acmeModule(t)
	for _, name := range []string{"README.md", "CHECKLIST.md"} {
		edit(t, filepath.Join(dir, name), func(s string) string {
			return strings.Replace(s, "- [ ] ", "- [x] ", 99) + "\nMine, with odd   spaces\t\n"
		})
	}
	edit(t, filepath.Join(dir, "provider.yaml"), supportStop)
	code, out := generate(t, dir)
	require.Equal(t, exitClean, code, out)
	for _, name := range []string{"README.md", "CHECKLIST.md"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Contains(t, string(b), "\nMine, with odd   spaces\t\n")
	}
	b, err := os.ReadFile(filepath.Join(dir, "CHECKLIST.md"))
	require.NoError(t, err)
	require.Contains(t, string(b), "- [x] Each `from`")
	require.Contains(t, string(b), "- [ ] `stop`:", "the new capability's question is added, not ticked")
}

func TestANewCapabilityAppendsAndKeepsEveryByte(t *testing.T) {
	dir := acmeModule(t)
	adapter := filepath.Join(dir, "adapter.go")
	// Somebody removed the planned stubs, and wrote their own things.
	edit(t, adapter, func(s string) string {
		i := strings.Index(s, "// Stop ends")
		require.Positive(t, i)
		return s[:i] + "// mine\nvar   oddly = 1 // formatted\n"
	})
	before, err := os.ReadFile(adapter)
	require.NoError(t, err)
	edit(t, filepath.Join(dir, "provider.yaml"), func(s string) string {
		return strings.Replace(s, "capabilities:\n", "capabilities:\n  restart: {support: supported}\n  metrics: {support: supported}\n", 1)
	})
	code, out := generate(t, dir)
	require.Equal(t, exitClean, code, out)
	after, err := os.ReadFile(adapter)
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(after, before), "hand-written bytes moved")
	require.Contains(t, string(after), "func (a *Adapter) Restart(")
	require.Contains(t, string(after), "func (a *Adapter) Metrics(")
	code, out = generate(t, dir, "--check")
	require.Equal(t, exitClean, code, out)
	build := exec.Command("go", "build", "./...")
	build.Dir, build.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod")
	text, err := build.CombinedOutput()
	require.NoError(t, err, string(text))
}

// TestKilledGenerate kills the real command at 50 random moments while it moves
// a tree between two states. It must find the old tree, or say interrupted, and
// one more run must give exactly what the manifest asks for.
func TestKilledGenerate(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "sbxgen")
	text, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput()
	require.NoError(t, err, string(text))
	dir := acmeModule(t)
	manifest := filepath.Join(dir, "provider.yaml")
	states := [2]string{}
	b, err := os.ReadFile(manifest)
	require.NoError(t, err)
	states[0], states[1] = string(b), supportStop(string(b))
	var want [2]map[string]string
	for i := range states {
		require.NoError(t, os.WriteFile(manifest, []byte(states[i]), 0o644))
		code, out := generate(t, dir)
		require.Equal(t, exitClean, code, out)
		want[i] = generated(t, dir)
	}
	life := timed(t, bin, dir)
	killed, interrupted := 0, 0
	for n := range 50 {
		next := n % 2
		require.NoError(t, os.WriteFile(manifest, []byte(states[next]), 0o644))
		cmd := exec.Command(bin, "generate", "--chdir", dir)
		require.NoError(t, cmd.Start())
		time.AfterFunc(time.Duration(rand.Float64()*1.1*float64(life)), func() {
			if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Error(err)
			}
		})
		if cmd.Wait() != nil {
			killed++
		}
		code, out := generate(t, dir, "--check")
		switch {
		case strings.Contains(out, "interrupted"):
			interrupted++
			require.Equal(t, exitFindings, code)
		case code == exitClean:
			require.Equal(t, want[next], generated(t, dir))
		default:
			require.Equal(t, want[1-next], generated(t, dir), "neither the old tree, nor the new one, nor interrupted:\n%s", out)
		}
		code, out = generate(t, dir)
		require.Equal(t, exitClean, code, out)
		require.Equal(t, want[next], generated(t, dir))
	}
	t.Logf("%d of 50 runs were killed before they ended, %d of them left a journal", killed, interrupted)
	require.Greater(t, killed, 10)
}

// generated are the files that belong to sbxgen, by name.
func generated(t *testing.T, dir string) map[string]string {
	all := files(t, dir)
	for name := range all {
		if !strings.HasPrefix(filepath.Base(name), "zz_generated_") && !strings.HasPrefix(name, "testdata") {
			delete(all, name)
		}
	}
	return all
}

// timed is how long the command takes when it writes.
func timed(t *testing.T, bin, dir string) time.Duration {
	require.NoError(t, os.Remove(filepath.Join(dir, "zz_generated_client.go")))
	began := time.Now()
	text, err := exec.Command(bin, "generate", "--chdir", dir).CombinedOutput()
	require.NoError(t, err, string(text))
	return time.Since(began)
}
