package conformance

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// closing gives a reader a Close that does nothing.
type closing struct{ *strings.Reader }

func (closing) Close() error { return nil }

// commandLines are those of this machine's processes that can be read.
func commandLines() (string, bool) {
	own, err := os.ReadFile("/proc/" + strconv.Itoa(os.Getpid()) + "/cmdline")
	if err != nil || len(own) == 0 {
		return "", false
	}
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return "", false
	}
	var all strings.Builder
	for _, name := range names {
		if b, err := os.ReadFile(name); err == nil { // it may have ended
			all.Write(b)
			all.WriteByte('\n')
		}
	}
	return all.String(), true
}

// noSecretInArgv runs a command that is given a secret, and looks at the command
// lines of all processes meanwhile, of this machine and inside of the sandbox.
func noSecretInArgv(ctx context.Context, t *trial) error {
	secret, planted := dummy(), dummy()
	env := map[string]string{"SBXC_SECRET": secret}
	sb, err := t.attempt(ctx, t.s.p, sandbox.WithEnv(env))
	if port.CodeOf(err) == port.CodeUnsupported {
		sb, err = t.attempt(ctx, t.s.p)
	}
	if err != nil {
		return unknown(NoInstanceCreated, "%v", err)
	}
	const inside = `for f in /proc/[0-9]*/cmdline; do tr '\0' ' ' < "$f" 2> /dev/null; echo; done; sleep 2`
	type answer struct {
		out string
		err error
	}
	ran := make(chan answer, 1)
	began := make(chan struct{})
	go func() {
		close(began)
		out, err := t.exec(ctx, sb, contract.Command{Argv: []string{"sh", "-c", inside, planted}, Env: env, Stdin: []byte(secret)})
		ran <- answer{out, err}
	}()
	<-began
	watched := map[string]string{"given to a command": secret}
	for key, value := range t.s.secrets() {
		watched["setting "+key] = value
	}
	for {
		all, readable := commandLines()
		for what, value := range watched {
			if strings.Contains(all, value) {
				return fmt.Errorf("the secret of %s is in the command line of a process of this machine", what)
			}
		}
		select {
		case got := <-ran:
			return judgeLines(got.out, got.err, secret, planted, readable)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// judgeLines judges what a command saw of the processes around it. That it sees
// what was planted in its own command line shows that it can.
func judgeLines(out string, err error, secret, planted string, host bool) error {
	switch {
	case port.CodeOf(err) == port.CodeUnsupported:
		return unknown(NotAttempted, "a command cannot be given a variable and an input: %v", err)
	case err != nil:
		return err
	case strings.Contains(out, secret):
		return fmt.Errorf("a secret given to a command is in the command line of a process inside of the sandbox")
	case !strings.Contains(out, planted) && !host:
		return unknown(NotAttempted, "no command line can be read here, neither outside nor inside")
	case !strings.Contains(out, planted):
		return noted("command lines of this machine only: inside of the sandbox none can be read")
	case !host:
		return noted("command lines inside of the sandbox only: those of this machine cannot be read")
	}
	return nil
}
