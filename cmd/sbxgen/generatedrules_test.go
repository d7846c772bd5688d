package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/internal/gate"
)

// generatedMistakes are the ways in which generated files are not what they
// should be, each with the finding that validate shows first.
func generatedMistakes() map[string]struct {
	spoil func(t *testing.T, dir string)
	want  string
} {
	change := func(name string, f func(string) string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			file := filepath.Join(dir, filepath.FromSlash(name))
			src, err := os.ReadFile(file)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(file, []byte(f(string(src))), 0o644))
		}
	}
	remove := func(names ...string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			for _, name := range names {
				found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(name)))
				require.NoError(t, err)
				require.NotEmpty(t, found)
				for _, f := range found {
					require.NoError(t, os.RemoveAll(f))
				}
			}
		}
	}
	both := func(s string) string { return "<<<<<<< HEAD\n" + s + "=======\n" + s + ">>>>>>> other\n" }
	const driver, lock = "zz_generated_driver.go", ".sbxgen.lock"
	return map[string]struct {
		spoil func(t *testing.T, dir string)
		want  string
	}{
		"changed": {change("provider.yaml", func(s string) string { return strings.Replace(s, "name: Acme", "name: Acne", 1) }),
			"zz_generated_driver.go: error: generated file is changed [SBX301]"},
		"missing": {remove(driver), "zz_generated_driver.go: error: generated file is missing [SBX302]"},
		"orphan": {change("provider.yaml", func(s string) string { return strings.Replace(s, "kind: native", "kind: none", 1) }),
			"zz_generated_driver.go: error: generated file is orphan [SBX303]"},
		"hand-edited": {change(driver, func(s string) string { return s + "// mine\n" }),
			"zz_generated_driver.go: error: generated file is hand-edited [SBX304]"},
		"interrupted": {func(t *testing.T, dir string) {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, ".sbxgen", "work"), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, ".sbxgen", "work", "journal"), []byte("x"), 0o644))
		}, ".sbxgen/work/journal: error: an earlier generate was interrupted [SBX305]"},
		"lock with both sides": {change(lock, both), ".sbxgen.lock:1:1: error: generated file is changed [SBX306]"},
		"file with both sides": {change(driver, func(s string) string { return "// a\n" + both(s) }),
			"zz_generated_driver.go:2:1: error: generated file is changed [SBX307]"},
		"block with both sides": {change("CHECKLIST.md", func(s string) string {
			return strings.Replace(s, "<!-- sbxgen:begin machine -->\n", "<!-- sbxgen:begin machine -->\n"+both("x\n"), 1)
		}), `CHECKLIST.md:9:1: error: generated part "machine" is changed [SBX307]`},
		"marker without its end": {change("CHECKLIST.md", func(s string) string {
			return strings.Replace(s, "<!-- sbxgen:end machine -->\n", "", 1)
		}), `CHECKLIST.md:8:1: error: generated part "machine" is hand-edited [SBX308]`},
		"markers gone": {change("CHECKLIST.md", func(string) string { return "# Mine\n" }),
			`CHECKLIST.md: error: generated part "machine" is missing [SBX308]`},
		"never generated": {remove(lock, "zz_generated_*", ".sbxgen", "adapter*.go", "testdata", "*.md"),
			"provider.yaml: error: nothing was generated for this manifest yet [SBX309]"},
	}
}

// Every way of being out of date has a rule of its own, and validate says it at
// the file, or at the line where one is wrong.
func TestRulesOfGeneratedFiles(t *testing.T) {
	shown := map[string]bool{}
	for name, c := range generatedMistakes() {
		shown[c.want[len(c.want)-7:len(c.want)-1]] = true
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			code, _, stderr := command(nil, t.TempDir(), append([]string{"new", "provider", "--module", "example.com/acme",
				"--dir", dir, "--replace", repository(t)}, acmeFlags()...)...)
			require.Equal(t, exitClean, code, stderr)
			c.spoil(t, dir)
			code, out, _ := command(nil, t.TempDir(), "validate", "--no-cache", "--chdir", dir)
			require.Equal(t, exitFindings, code)
			place, rule := c.want[:len(c.want)-len(" [SBX000]")], c.want[len(c.want)-len("[SBX000]"):]
			require.Regexp(t, `(?m)^`+regexp.QuoteMeta(place)+`(: .*)? `+regexp.QuoteMeta(rule)+`$`, out)
		})
	}
	for _, rule := range gate.GeneratedRules() {
		require.True(t, shown[rule], "no case shows %s", rule)
	}
}
