package hooktest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The hooks are built by pre-commit from this checkout, as it stands, and run
// on a provider that is right, whose manifest is wrong, and whose generated
// code was edited.
func TestHooks(t *testing.T) {
	need(t, "git", "pre-commit")
	p := newProject(t)
	hooks, rev := p.hooksRepository()
	config := fmt.Sprintf("repos:\n  - repo: %s\n    rev: %s\n    hooks: [{id: sbxgen-validate}, {id: sbxgen-generate-check}]\n", hooks, rev)
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, ".pre-commit-config.yaml"), []byte(config), 0o600))
	p.commit()

	r := p.in(p.dir, "pre-commit", "run", "--all-files", "--color", "never")
	require.Zero(t, r.code, r.out+r.err)
	verdicts(t, r.out, "Passed", "Passed")

	t.Run("nothing of a provider changed", func(t *testing.T) {
		p.change("NOTES", "x\n")
		p.ok("git", "add", "NOTES")
		r := p.in(p.dir, "pre-commit", "run", "--color", "never")
		require.Zero(t, r.code, r.out)
		verdicts(t, r.out, "Skipped", "Skipped")
		p.commit()
	})
	t.Run("a wrong manifest", func(t *testing.T) {
		line := p.change("provider.yaml", "nonsense: true\n")
		p.ok("git", "add", "-A")
		r := p.in(p.dir, "pre-commit", "run", "--color", "never")
		require.Equal(t, 1, r.code, r.out)
		verdicts(t, r.out, "Failed", "Failed")
		want := fmt.Sprintf("provider.yaml:%d:1: error: unknown property \"nonsense\"", line)
		require.Equal(t, 2, strings.Count(r.out, want), r.out)
		require.Contains(t, r.out, "[SBX120]")
		p.ok("git", "reset", "-q", "--hard")
	})
	t.Run("an edited generated file", func(t *testing.T) {
		p.change("zz_generated_client.go", "// edited\n")
		p.ok("git", "add", "-A")
		r := p.in(p.dir, "pre-commit", "run", "--color", "never")
		require.Equal(t, 1, r.code, r.out)
		verdicts(t, r.out, "Skipped", "Failed") // no manifest is among the files
		require.Regexp(t, `(?m)^hand-edited +zz_generated_client\.go`, r.out)
		p.ok("git", "reset", "-q", "--hard")
	})
	t.Run("a commit is refused", func(t *testing.T) {
		p.ok("pre-commit", "install")
		p.change("provider.yaml", "nonsense: true\n")
		before := p.ok("git", "rev-parse", "HEAD")
		r := p.in(p.dir, "git", "commit", "-q", "-a", "-m", "acme: break")
		require.NotZero(t, r.code)
		require.Contains(t, r.out+r.err, "SBX120")
		require.Equal(t, before, p.ok("git", "rev-parse", "HEAD"))
	})
}

// verdicts requires what pre-commit says of the two hooks, in order.
func verdicts(t *testing.T, out string, want ...string) {
	t.Helper()
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^sbxgen (?:validate|generate --check)\.+.*?(Passed|Failed|Skipped)$`).FindAllStringSubmatch(out, -1) {
		got = append(got, m[1])
	}
	require.Equal(t, want, got, out)
}

// hooksRepository commits a copy of this checkout, also what is not committed
// yet, because pre-commit builds from a commit.
func (p *project) hooksRepository() (dir, rev string) {
	p.t.Helper()
	from, dir := checkout(p.t), p.t.TempDir()
	list := p.in(from, "git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	require.Zero(p.t, list.code, list.err)
	for name := range strings.SplitSeq(strings.Trim(list.out, "\x00"), "\x00") {
		body, err := os.ReadFile(filepath.Join(from, name))
		if os.IsNotExist(err) {
			continue // deleted, and git has not been told yet
		}
		require.NoError(p.t, err)
		to := filepath.Join(dir, name)
		require.NoError(p.t, os.MkdirAll(filepath.Dir(to), 0o700))
		require.NoError(p.t, os.WriteFile(to, body, 0o600))
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A", "-f"}, {"commit", "-q", "-m", "all: copy"}} {
		r := p.in(dir, "git", args...)
		require.Zero(p.t, r.code, r.err)
	}
	return dir, strings.TrimSpace(p.in(dir, "git", "rev-parse", "HEAD").out)
}
