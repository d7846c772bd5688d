package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tmux is a real terminal that a test can type into and look at.
type tmux struct {
	t      *testing.T
	socket string
}

func newTmux(t *testing.T, u *user) *tmux {
	t.Helper()
	_, err := exec.LookPath("tmux")
	needed(t, "tmux", err)
	m := &tmux{t: t, socket: filepath.Join(t.TempDir(), "tmux")}
	cmd := exec.Command("tmux", "-S", m.socket, "-f", "/dev/null", "new-session", "-d", "-x", "90", "-y", "30", "env PS1='outer> ' sh")
	cmd.Env, cmd.Dir = u.env, t.TempDir()
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	t.Cleanup(func() { m.do("kill-server") })
	return m
}

func (m *tmux) do(args ...string) string {
	m.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", m.socket}, args...)...).CombinedOutput()
	require.NoError(m.t, err, string(out))
	return string(out)
}

// enter types a line.
func (m *tmux) enter(line string) {
	m.t.Helper()
	m.do("send-keys", "-l", line)
	m.do("send-keys", "Enter")
}

// answers types line again and again until the screen holds text.
func (m *tmux) answers(line, text string) {
	m.t.Helper()
	until(m.t, line+" shows "+text, func() bool {
		m.enter(line)
		for range 10 {
			if strings.Contains(m.do("capture-pane", "-p"), text) {
				return true
			}
		}
		return false
	})
}

// sees waits until the screen holds text.
func (m *tmux) sees(text string) {
	m.t.Helper()
	last := ""
	defer func() {
		if m.t.Failed() {
			m.t.Log(last)
		}
	}()
	until(m.t, "the screen shows "+text, func() bool {
		last = m.do("capture-pane", "-p")
		return strings.Contains(last, text)
	})
}

// A shell on a terminal inside a terminal: its size follows, a program that fills
// the screen works, and afterwards the outer terminal is as it was.
func TestSSHOnARealTerminal(t *testing.T) {
	for _, provider := range []string{"local", "docker"} {
		t.Run(provider, func(t *testing.T) {
			u := newUser(t)
			if provider == "docker" {
				u.engine()
			}
			id := u.must("new", "--provider", provider)
			u.set("sbx="+u.shim(), "id="+id, "TERM=screen")
			m := newTmux(t, u)
			m.sees("outer>")
			m.enter("stty -g > before; $sbx ssh $id")
			m.sees("connected to " + id[:30])
			m.enter("PS1='inner''> '")
			m.sees("inner>")
			m.enter("stty size")
			m.sees("30 90")
			m.do("resize-window", "-x", "100", "-y", "40")
			m.answers("stty size", "40 100") // the change of size travels by itself

			m.enter("clear; seq 1 500 > numbers; vi numbers")
			m.sees("numbers")
			m.do("send-keys", "G")
			m.sees("500")
			m.do("send-keys", "dd", ":wq", "Enter")
			m.sees("inner>")
			m.enter("clear; tail -n 1 numbers | sed 's/^/last=/'")
			m.sees("last=499")
			m.enter("clear; echo sleep''ing; sleep 600")
			m.sees("sleeping")
			m.do("send-keys", "C-c") // goes to the program inside, not to sbx
			m.sees("inner>")
			m.enter("echo still''-there")
			m.sees("still-there")

			m.enter("clear; exit 5")
			m.sees("outer>")
			m.enter(`echo code=$?`)
			m.sees("code=5")
			m.enter(`stty -g | cmp - before && echo terminal''-restored`)
			m.sees("terminal-restored")
			m.enter("clear; $sbx ssh $id -- sh -c 'exit 6'; echo code=$?")
			m.sees("code=6")
			m.enter("clear; $sbx run --provider " + provider + " --tty -- sh -c 'tty; exit 3'; echo code=$?")
			m.sees("code=3")
			m.enter(fmt.Sprintf("clear; $sbx ssh $id -- sh -c 'kill -TERM %s'; echo code=$?", "$$"))
			m.sees("code=143")
			m.enter("clear; stty -g | cmp - before && echo again''-restored")
			m.sees("again-restored")
			u.must("rm", id)
		})
	}
}

// Without a terminal ssh says so and changes nothing.
func TestSSHNeedsATerminal(t *testing.T) {
	u := newUser(t)
	id := u.must("new", "--provider", "local")
	r := u.sbx("ssh", id)
	require.Equal(t, exitSbx, r.code)
	require.Contains(t, r.err, "a terminal is needed")
}
