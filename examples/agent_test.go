package examples

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAgent(t *testing.T) {
	program := programs(t) + "agent"
	for name, test := range map[string]func(*testing.T, string, place){"done": agentDone, "interrupted": agentInterrupted} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, func(t *testing.T, p place) { test(t, program, p) })
		})
	}
	for name, test := range map[string]func(*testing.T, string, place){"budget": agentBudget, "time": agentTime, "script": agentScript} {
		t.Run(name, func(t *testing.T) { test(t, program, onLocal(t, isolations(t)[0])) })
	}
}

// model writes a script of one turn that asks for these commands.
func model(t *testing.T, commands ...string) string {
	t.Helper()
	var calls []string
	for _, c := range commands {
		calls = append(calls, `{"tool": "run", "command": "`+c+`"}`)
	}
	file := filepath.Join(t.TempDir(), "model.json")
	require.NoError(t, os.WriteFile(file, []byte(`[{"say": "Go.", "calls": [`+strings.Join(calls, ",")+`]}]`), 0o600))
	return file
}

func agentDone(t *testing.T, program string, p place) {
	r := p.run(t, program, p.id)
	require.Equal(t, 0, r.code, r.err)
	require.Empty(t, r.err)
	for _, said := range []string{"write_file: sum.sh\n   written\n", "run: sh sum.sh\n   exit 0: -42\n", "   exit 0: 42\nmodel: The sum is 42.\n"} {
		require.Contains(t, r.out, said)
	}
	p.nothingLeft(t)
}

func agentBudget(t *testing.T, program string, p place) {
	r := p.run(t, program, "-calls", "3", p.id)
	require.Equal(t, 1, r.code)
	require.Equal(t, "agent: the budget is spent\n", r.err)
	require.True(t, strings.HasSuffix(r.out, "   exit 0: -42\nmodel: It subtracts. I repair that and try again.\n"), r.out)
	p.nothingLeft(t)
}

func agentTime(t *testing.T, program string, p place) {
	r := p.run(t, program, "-time", "3s", "-model", model(t, "exec sleep 600"), p.id)
	require.Equal(t, 1, r.code)
	require.Contains(t, r.err, "timeout")
	p.nothingLeft(t)
}

// agentScript: a command that fails is told to the model, and a script that hears
// something else than it expects says so.
func agentScript(t *testing.T, program string, p place) {
	r := p.run(t, program, "-model", model(t, "echo no >&2; exit 9"), p.id)
	require.Equal(t, result{out: "model: Go.\nrun: echo no >&2; exit 9\n   exit 9: no\nmodel: \n"}, r)

	file := filepath.Join(t.TempDir(), "model.json")
	require.NoError(t, os.WriteFile(file, []byte(`[{"calls": [{"tool": "dance"}]}, {"after": "danced"}]`), 0o600))
	r = p.run(t, program, "-model", file, p.id)
	require.Equal(t, 1, r.code)
	require.Contains(t, r.err, `the script expects "danced", not ["there is no tool dance"]`)
	p.nothingLeft(t)
}

// agentInterrupted presses Ctrl-C while a command runs.
func agentInterrupted(t *testing.T, program string, p place) {
	c := exec.Command(program, append(append([]string{}, p.flags...), "-model", model(t, "exec sleep 600"), p.id)...)
	c.Env = append(environ(), p.env...)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "run: exec sleep 600" {
	}
	require.NoError(t, lines.Err())
	require.NoError(t, c.Process.Signal(os.Interrupt))
	require.Error(t, c.Wait())
	require.Equal(t, 1, c.ProcessState.ExitCode(), "it ended by itself, after it had tidied up")
	p.nothingLeft(t)
}
