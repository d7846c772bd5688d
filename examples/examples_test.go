// Package examples runs the programs in its folders the way a reader would.
package examples

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/internal/testengine"
)

// programs builds every example into one folder.
func programs(t *testing.T) string {
	t.Helper()
	bin := t.TempDir() + string(filepath.Separator)
	out, err := exec.Command("go", "build", "-o", bin, "./...").CombinedOutput()
	require.NoError(t, err, string(out))
	return bin
}

// result is how a program ended.
type result struct {
	out, err string
	code     int
}

// environ is this process's environment without settings of sbx and Docker.
func environ() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return strings.HasPrefix(name, "SBX_") || strings.HasPrefix(name, "DOCKER_")
	})
}

// run runs a program with a state directory and settings of its own.
func run(t *testing.T, program string, args []string, env ...string) result {
	t.Helper()
	c := exec.Command(program, args...)
	c.Env = append(environ(), env...)
	var stdout, stderr strings.Builder
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	if _, exited := err.(*exec.ExitError); !exited {
		require.NoError(t, err)
	}
	return result{stdout.String(), stderr.String(), c.ProcessState.ExitCode()}
}

// isolations are those that work here. none always does.
func isolations(t *testing.T) []string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the local provider refuses on Windows")
	}
	_, err := exec.LookPath("bwrap")
	if err == nil {
		return []string{"none", "bwrap"}
	}
	require.False(t, slices.Contains(strings.Split(os.Getenv("SBX_REQUIRE"), ","), "bwrap"), "SBX_REQUIRE names bwrap: %v", err)
	return []string{"none"}
}

// sandboxes are the folders of local sandboxes below a state directory.
func sandboxes(t *testing.T, state string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(state, "sbx", "local", "*"))
	require.NoError(t, err)
	return slices.DeleteFunc(found, func(p string) bool {
		_, err := os.Stat(filepath.Join(p, "meta.json"))
		return err != nil
	})
}

// ledgers is the text of every run below a state directory.
func ledgers(t *testing.T, state string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(state, "sbx", "ledger", "*", "*.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, found)
	var all strings.Builder
	for _, f := range found {
		body, err := os.ReadFile(f)
		require.NoError(t, err)
		all.Write(body)
	}
	return all.String()
}

func TestPrograms(t *testing.T) {
	bin := programs(t)
	for name, test := range map[string]func(*testing.T, string){
		"hello/local": helloLocal, "hello/engine": helloEngine, "hello/unknown": helloUnknownProvider,
		"typed": typed, "fallback": fallback,
	} {
		t.Run(name, func(t *testing.T) { test(t, bin) })
	}
}

func helloLocal(t *testing.T, bin string) {
	for _, isolation := range isolations(t) {
		state := t.TempDir()
		r := run(t, bin+"hello", []string{"local"}, "SBX_STATE_DIR="+state, "SBX_LOCAL_ISOLATION="+isolation)
		require.Equal(t, 0, r.code, r.err)
		require.Regexp(t, `^hello from local\nno snapshot: local: CreateSnapshot \w+: unsupported \(snapshot: unsupported\): A folder is not captured[^\n]*\n$`, r.out)
		require.Empty(t, r.err)
		require.Empty(t, sandboxes(t, state))
		text := ledgers(t, state)
		require.Equal(t, 1, strings.Count(text, `"verified-gone"`))
		require.NotContains(t, text, `"kind":"snapshot"`, "what is unsupported has changed something")
	}
}

func helloEngine(t *testing.T, bin string) {
	for id, needs := range map[string][]string{"docker": nil, "gvisor": {"runsc"}} {
		t.Run(id, func(t *testing.T) {
			e := testengine.Require(t, needs...)
			state := t.TempDir()
			r := run(t, bin+"hello", []string{"-image", testengine.Image, id}, engineEnv(e, state)...)
			require.Equal(t, 0, r.code, r.err)
			require.Regexp(t, `^hello from `+id+`\nsnapshot sha256:[0-9a-f]{64}\n$`, r.out)
			require.Equal(t, 2, strings.Count(ledgers(t, state), `"verified-gone"`), "the sandbox and its snapshot")
			owner := "sbx.owner=" + ownerOf(t, state)
			require.Empty(t, e.Containers(t, owner))
			require.Empty(t, e.Images(t, owner))
		})
	}
}

func engineEnv(e *testengine.Engine, state string) []string {
	env := []string{"SBX_STATE_DIR=" + state, "SBX_DOCKER_NETWORK=none", "SBX_LOCAL_ISOLATION=none"}
	if e.Host != "" {
		env = append(env, "DOCKER_HOST="+e.Host)
	}
	return env
}

func ownerOf(t *testing.T, state string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(state, "sbx", "ledger", "*"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	return filepath.Base(found[0])
}

func helloUnknownProvider(t *testing.T, bin string) {
	r := run(t, bin+"hello", []string{"never-heard-of"}, "SBX_STATE_DIR="+t.TempDir())
	require.Equal(t, 1, r.code)
	require.Contains(t, r.err, "never-heard-of")
	require.Empty(t, r.out)
}

// The whole of it fits on a card.
func TestHelloIsShort(t *testing.T) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, filepath.Join("hello", "main.go"), nil, 0)
	require.NoError(t, err)
	lines := map[string]int{}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			lines[fn.Name.Name] = fset.Position(fn.Body.Rbrace).Line - fset.Position(fn.Body.Lbrace).Line - 1
		}
	}
	require.NotZero(t, lines["hello"])
	require.LessOrEqual(t, lines["hello"], 15)
}

func typed(t *testing.T, bin string) {
	for _, isolation := range isolations(t) {
		state := t.TempDir()
		r := run(t, bin+"typed", []string{"local"}, "SBX_STATE_DIR="+state, "SBX_LOCAL_ISOLATION="+isolation)
		require.Equal(t, result{out: "hello\n"}, r)
		require.Empty(t, sandboxes(t, state))
	}
	e := testengine.Require(t)
	state := t.TempDir()
	r := run(t, bin+"typed", []string{"-image", testengine.Image, "docker"}, engineEnv(e, state)...)
	require.Equal(t, result{out: "stopped and running again\nhello\n"}, r)
	require.Empty(t, e.Containers(t, "sbx.owner="+ownerOf(t, state)))
}

func fallback(t *testing.T, bin string) {
	isolations(t)
	nowhere := "DOCKER_HOST=unix://" + filepath.Join(t.TempDir(), "none.sock")
	state := t.TempDir()
	local := []string{nowhere, "SBX_STATE_DIR=" + state, "SBX_LOCAL_ISOLATION=none"}

	r := run(t, bin+"fallback", []string{"-image", testengine.Image}, local...)
	require.Equal(t, result{out: "first choice: docker\nran on local, exit code 0\nhello\n"}, r)
	require.Empty(t, sandboxes(t, state))

	r = run(t, bin+"fallback", []string{"-image", testengine.Image, "--", "sh", "-c", "exit 7"}, local...)
	require.Equal(t, result{out: "first choice: docker\nran on local, exit code 7\n"}, r)

	r = run(t, bin+"fallback", []string{"-image", testengine.Image, "-need", "files,snapshot"}, local...)
	require.Equal(t, 1, r.code)
	require.Regexp(t, `no provider can be used; docker: .*unavailable.*; local: .*unsupported \(snapshot: unsupported\)`, r.err)

	r = run(t, bin+"fallback", []string{"-image", testengine.Image, "-need", "ssh"}, local...)
	require.Equal(t, 1, r.code)
	require.Empty(t, r.out, "neither has it, so nothing is even tried")

	e := testengine.Require(t)
	r = run(t, bin+"fallback", []string{"-image", testengine.Image, "-need", "files,snapshot"}, engineEnv(e, t.TempDir())...)
	require.Equal(t, result{out: "first choice: docker\nran on docker, exit code 0\nhello\n"}, r)
}
