package hooktest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// act runs the action's script as the runner does: in the module, with a file
// for the summary.
func (p *project) act(env ...string) (r result, summary string) {
	p.t.Helper()
	file := filepath.Join(p.t.TempDir(), "summary.md")
	old := p.env
	p.env = append(append(slices.Clone(old), "GITHUB_STEP_SUMMARY="+file, "TMPDIR="+p.t.TempDir()), env...)
	r = p.in(p.dir, filepath.Join(checkout(p.t), "scripts", "action.sh"))
	p.env = old
	body, err := os.ReadFile(file)
	require.NoError(p.t, err, r.err)
	return r, string(body)
}

// annotations are GitHub's lines in the output.
func annotations(out string) []string {
	return regexp.MustCompile(`(?m)^::(?:error|warning|notice) .*$`).FindAllString(out, -1)
}

func TestAction(t *testing.T) {
	need(t, "git", "bash")
	p := newProject(t)

	r, summary := p.act()
	require.Zero(t, r.code, r.out+r.err)
	require.Empty(t, annotations(r.out))
	require.True(t, strings.HasPrefix(r.out, "::group::generated files\n"), r.out)
	require.Contains(t, r.out, "::endgroup::\n")
	checklist, err := os.ReadFile(filepath.Join(p.dir, "CHECKLIST.md"))
	require.NoError(t, err)
	require.Contains(t, summary, "- [")
	require.Equal(t, 1, strings.Count(summary, strings.SplitN(string(checklist), "\n", 2)[0]), "one checklist for one provider")

	t.Run("a wrong manifest", func(t *testing.T) {
		line := p.change("provider.yaml", "nonsense: true\n")
		r, summary := p.act()
		require.Equal(t, 1, r.code)
		got := annotations(r.out)
		require.Len(t, got, 1, r.out)
		require.Regexp(t, fmt.Sprintf(`^::error file=provider\.yaml,line=%d,col=1,endColumn=\d+,title=SBX120::unknown property "nonsense"[^\n]*$`, line), got[0])
		require.Contains(t, got[0], "%0A", "lines of one annotation are escaped")
		require.Contains(t, summary, "acme")
		require.NotContains(t, summary, "- [x]", "no checklist can be told of a manifest that is wrong")
		p.ok("git", "checkout", "-q", ".")
	})
	t.Run("an edited generated file", func(t *testing.T) {
		p.change("zz_generated_client.go", "// edited\n")
		r, summary := p.act()
		require.Equal(t, 1, r.code)
		require.Regexp(t, `(?m)^hand-edited +zz_generated_client\.go`, r.out)
		require.Contains(t, r.out, "-// edited", "the difference is shown")
		got := annotations(r.out)
		require.Len(t, got, 1, r.out)
		require.Contains(t, got[0], "file=zz_generated_client.go")
		require.Contains(t, summary, "- [")
		p.ok("git", "checkout", "-q", ".")
	})
	t.Run("not a module", func(t *testing.T) {
		require.NoError(t, os.Rename(filepath.Join(p.dir, "go.mod"), filepath.Join(p.dir, "gone")))
		r := p.in(p.dir, filepath.Join(checkout(t), "scripts", "action.sh"))
		require.Equal(t, 3, r.code, "it says that it could not look, not that it found something")
		require.NoError(t, os.Rename(filepath.Join(p.dir, "gone"), filepath.Join(p.dir, "go.mod")))
	})
	t.Run("another day", func(t *testing.T) {
		r, _ := p.act("SBXGEN_AS_OF=no day")
		require.NotZero(t, r.code)
		require.Contains(t, r.err, "--as-of")
	})
	t.Run("no commit to take the day from", func(t *testing.T) {
		require.NoError(t, os.Rename(filepath.Join(p.dir, ".git"), filepath.Join(p.dir, ".gone")))
		r := p.in(p.dir, filepath.Join(checkout(t), "scripts", "action.sh"))
		require.Zero(t, r.code, r.out+r.err)
		require.NoError(t, os.Rename(filepath.Join(p.dir, ".gone"), filepath.Join(p.dir, ".git")))
	})
}

// action.yml hands every input to the script under the name that it reads.
func TestActionInputs(t *testing.T) {
	here := checkout(t)
	body, err := os.ReadFile(filepath.Join(here, "action.yml"))
	require.NoError(t, err)
	var action struct {
		Inputs map[string]struct{ Description, Default string }
		Runs   struct {
			Using string
			Steps []struct {
				Run string
				Env map[string]string
				Dir string `yaml:"working-directory"`
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(body, &action))
	require.Equal(t, "composite", action.Runs.Using)
	require.Len(t, action.Runs.Steps, 1)
	step := action.Runs.Steps[0]
	require.Equal(t, "${{ github.action_path }}/scripts/action.sh", step.Run)
	script, err := os.ReadFile(filepath.Join(here, "scripts", "action.sh"))
	require.NoError(t, err)
	passed := step.Dir
	for name, value := range step.Env {
		require.Contains(t, string(script), "${"+name+":-", "the script does not read %s", name)
		passed += value
	}
	for name, input := range action.Inputs {
		require.NotEmpty(t, input.Description)
		require.Contains(t, passed, "inputs."+name+" ")
	}
	info, err := os.Stat(filepath.Join(here, "scripts", "action.sh"))
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&0o100, "the script is not executable")
}
