package docs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/internal/testrepo"
)

func readme(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "README.md"))
	require.NoError(t, err)
	return string(page)
}

// stranger is somebody who has just cloned the repository.
func stranger(t *testing.T, dir string) []string {
	t.Helper()
	env := append(environ(), "SBX_STATE_DIR="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir(), "XDG_CACHE_HOME="+t.TempDir(), "PWD="+dir,
		"GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"))
	if _, err := exec.LookPath("bwrap"); err != nil {
		env = append(env, "SBX_LOCAL_ISOLATION=none")
	}
	return env
}

// The recorded refusal is what the two commands say, to the letter.
func TestReadmeRefusal(t *testing.T) {
	_, recording, ok := strings.Cut(readme(t), "<!-- recording:begin -->\n```console\n")
	require.True(t, ok)
	recording, _, ok = strings.Cut(recording, "```\n<!-- recording:end -->")
	require.True(t, ok)
	lines := strings.SplitN(recording, "\n", 3)
	require.Len(t, lines, 3)
	dir := testrepo.Copy(t)
	var said string
	for _, line := range lines[:2] {
		command, ok := strings.CutPrefix(line, "$ ")
		require.True(t, ok, line)
		cmd := exec.Command("bash", "-c", command)
		cmd.Dir, cmd.Env = dir, stranger(t, dir)
		out, err := cmd.CombinedOutput()
		require.Equal(t, strings.HasPrefix(command, "go run"), err != nil, "%s: %s", command, out)
		said += string(out)
	}
	require.Equal(t, lines[2], strings.TrimSuffix(said, "exit status 1\n")) // go run adds that
}

// The shell commands run as they stand; "exits N" in a comment is believed only
// when it is so.
func TestReadmeCommands(t *testing.T) {
	block := ""
	for _, b := range shellBlocks(readme(t)) {
		if strings.HasPrefix(b, "go build ") {
			block = b
		}
	}
	require.NotEmpty(t, block)
	script := "set -euo pipefail\n"
	for line := range strings.Lines(block + "\n") {
		command, comment, _ := strings.Cut(line, " # ")
		if m := regexp.MustCompile(`exits (\d+)`).FindStringSubmatch(comment); m != nil {
			code, err := strconv.Atoi(m[1])
			require.NoError(t, err)
			command = "code=0; " + command + " || code=$?; [ $code = " + strconv.Itoa(code) + " ]"
		}
		script += strings.TrimSpace(command) + "\n"
	}
	require.Contains(t, script, "[ $code = 3 ]")
	dir := testrepo.Copy(t)
	cmd := exec.Command("bash", "-c", script+"bin/sbx reap\n")
	cmd.Dir, cmd.Env = dir, stranger(t, dir)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	require.NoError(t, cmd.Run(), "%s%s", out.String(), errOut.String())
	require.Regexp(t, `^hello\n\S+ .*\nlocal:\w+\nnothing is owed\n$`, out.String())
}

// The Go of the page compiles.
func TestReadmeGoCompiles(t *testing.T) {
	_, code, ok := strings.Cut(readme(t), "```go\n")
	require.True(t, ok)
	code, _, ok = strings.Cut(code, "```")
	require.True(t, ok)
	file := filepath.Join(t.TempDir(), "main.go")
	text := "package main\n\nimport (\n\t\"context\"\n\n\t\"github.com/agentworkforce/sbx/generated/registry\"\n\t\"github.com/agentworkforce/sbx/sandbox\"\n)\n\n" +
		"func use(ctx context.Context) error {\n" + code + "\t_ = res\n\treturn err\n}\n\nfunc main() { _ = use }\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	out, err := exec.Command("go", "build", "-o", filepath.Join(t.TempDir(), "out"), file).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// What a page links inside this repository is there.
func TestLinks(t *testing.T) {
	dir := testrepo.Copy(t)
	links := regexp.MustCompile(`\]\(([^)#: ]+)(#[^)]*)?\)`)
	fenced := regexp.MustCompile("(?ms)^```.*?^```$")
	pages, found := 0, 0
	require.NoError(t, filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".md" || strings.Contains(name, "testdata") {
			return err
		}
		body, err := os.ReadFile(name)
		pages++
		for _, m := range links.FindAllStringSubmatch(fenced.ReplaceAllString(string(body), ""), -1) {
			found++
			_, err := os.Stat(filepath.Join(filepath.Dir(name), m[1]))
			require.NoError(t, err, "%s links %s", name, m[1])
		}
		return err
	}))
	require.Greater(t, pages, 30)
	require.Greater(t, found, 100)
}
