package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

func execChecks() map[string]proof {
	exec := func(fn func(context.Context, *trial, *sandbox.Sandbox) error) proof {
		return proof{method: "Exec", run: func(ctx context.Context, t *trial) error {
			sb, err := t.shared()
			if err != nil {
				return err
			}
			return fn(ctx, t, sb)
		}}
	}
	return map[string]proof{
		"exec.exit-zero":           exec(exitZero),
		"exec.exit-codes":          exec(exitCodes),
		"exec.signals":             exec(signals),
		"exec.env":                 exec(execEnv),
		"exec.env-names-validated": exec(envNamesValidated),
		"exec.dir":                 exec(execDir),
		"exec.dir-unusable":        exec(dirUnusable),
		"exec.quoting":             exec(quoting),
		"exec.binary":              exec(binaryOutput),
		"exec.large-output":        exec(largeOutput),
		"exec.unicode":             exec(unicodeText),
		"exec.streams-apart":       exec(streamsApart),
		"exec.truncation-flagged":  exec(truncationFlagged),
		"exec.stdin":               exec(execStdin),
		"exec.parallel-16":         exec(parallel16),
		"exec.absent-sandbox":      {run: absentSandbox, method: "Exec"},
	}
}

func exitZero(ctx context.Context, t *trial, sb *sandbox.Sandbox) error {
	for _, c := range []contract.Command{{Script: "printf hello"}, {Argv: []string{"printf", "hello"}}} {
		out, err := t.exec(ctx, sb, c)
		if err != nil {
			return err
		}
		if err := equal("output", "hello", out); err != nil {
			return err
		}
	}
	dir, err := t.dir(ctx, sb)
	if err != nil {
		return err
	}
	again := contract.Command{Dir: dir, Script: "echo x >> ran; wc -l < ran"}
	for _, want := range []string{"1", "2"} { // a command is run each time, and once
		out, err := t.exec(ctx, sb, again)
		if err := joinErrors(err, equal("lines that the same command has left", want, strings.TrimSpace(out))); err != nil {
			return err
		}
	}
	return nil
}

// exits requires that a command ends with a code.
func exits(ctx context.Context, sb *sandbox.Sandbox, c contract.Command, want int64) error {
	c.Timeout = execLimit
	res, err := sb.Exec(ctx, c)
	if err != nil {
		return fmt.Errorf("%s: %w", brief(c), err)
	}
	if res.ExitCode != want {
		return fmt.Errorf("%s: exit code %d, want %d", brief(c), res.ExitCode, want)
	}
	return nil
}

func exitCodes(ctx context.Context, t *trial, sb *sandbox.Sandbox) error {
	for _, code := range []int64{1, 2, 126, 127, 255} {
		script := fmt.Sprintf("exit %d", code)
		if err := exits(ctx, sb, contract.Command{Script: script}, code); err != nil {
			return err
		}
		if err := exits(ctx, sb, contract.Command{Argv: []string{"sh", "-c", script}}, code); err != nil {
			return err
		}
	}
	return exits(ctx, sb, contract.Command{Script: "sbxc-no-such-program"}, 127)
}

func signals(ctx context.Context, t *trial, sb *sandbox.Sandbox) error {
	for signal, number := range map[string]int64{"TERM": 15, "KILL": 9} {
		c := contract.Command{Argv: []string{"sh", "-c", "kill -" + signal + " $$; sleep 30"}}
		if err := exits(ctx, sb, c, 128+number); err != nil {
			return err
		}
	}
	return nil
}

func execEnv(ctx context.Context, t *trial, sb *sandbox.Sandbox) error {
	if err := t.envSeen(ctx, sb, oddValues(), oddValues()); err != nil {
		return err
	}
	all, err := t.exec(ctx, sb, contract.Command{Env: map[string]string{"SBXC_ALL": "x"},
		Script: `printf %s "$SBXC_ALL"; (printf %s "$SBXC_ALL"); sh -c 'printf %s "$SBXC_ALL"' & wait; printf %s "$SBXC_ALL"`})
	if err != nil {
		return err
	}
	if err := equal("a variable across one script", "xxxx", all); err != nil {
		return err
	}
	later, err := t.run(ctx, sb, `printf %s "${SBXC_PLAIN-unset}${SBXC_ALL-unset}"`)
	if err != nil {
		return err
	}
	return equal("variables in the next command", "unsetunset", later)
}

func envNamesValidated(ctx context.Context, t *trial, sb *sandbox.Sandbox) error {
	const value = "sbxc-value-nobody-may-repeat"
	for _, name := range []string{"", "1A", "A B", "A=B", "A;touch x", "$(id)", "A\nB", "Ä"} {
		_, err := sb.Exec(ctx, contract.Command{Script: "exit 0", Env: map[string]string{name: value}})
		if err := wantCode(err, port.CodeInvalidArgument, fmt.Sprintf("a variable named %q", name)); err != nil {
			return err
		}
		if strings.Contains(err.Error(), value) {
			return fmt.Errorf("the error repeats the value: %w", err)
		}
	}
	if n := t.reached("Exec"); n > 0 {
		return fmt.Errorf("%d of these commands reached the adapter", n)
	}
	return nil
}

func execDir(ctx context.Context, t *trial, sb *sandbox.Sandbox) error {
	base, err := t.dir(ctx, sb)
	if err != nil {
		return err
	}
	dir := base + "/with 'odd' $name"
	if _, err := t.exec(ctx, sb, contract.Command{Argv: []string{"mkdir", dir}}); err != nil {
		return err
	}
	out, err := t.exec(ctx, sb, contract.Command{Dir: dir, Script: "pwd -P; pwd -P & wait; (pwd -P); true && pwd -P; cd / ; false; pwd"})
	if err != nil {
		return err
	}
	if err := equal("directories of a script", strings.Repeat(dir+"\n", 4)+"/\n", out); err != nil {
		return err
	}
	out, err = t.exec(ctx, sb, contract.Command{Dir: dir, Argv: []string{"sh", "-c", "pwd -P"}})
	if err != nil {
		return err
	}
	return equal("directory of a program", dir+"\n", out)
}

func dirUnusable(ctx context.Context, t *trial, sb *sandbox.Sandbox) error {
	base, err := t.dir(ctx, sb)
	if err != nil {
		return err
	}
	mark := base + "/ran"
	if _, err := t.exec(ctx, sb, contract.Command{Dir: base, Script: "echo x > file"}); err != nil {
		return err
	}
	for _, dir := range []string{base + "/missing", base + "/file", base + "/file/below"} {
		for _, c := range []contract.Command{{Script: "echo x > " + mark}, {Argv: []string{"sh", "-c", "echo x > " + mark}}} {
			c.Dir, c.Timeout = dir, execLimit
			_, err := sb.Exec(ctx, c)
			if err := wantCode(err, port.CodeWorkdirUnusable, "a command in a directory that cannot be entered"); err != nil {
				return err
			}
		}
	}
	if err := exits(ctx, sb, contract.Command{Dir: base, Script: "exit 1"}, 1); err != nil {
		return fmt.Errorf("the command's own exit code 1: %w", err)
	}
	if err := exits(ctx, sb, contract.Command{Script: "test -e " + mark}, 1); err != nil {
		return fmt.Errorf("the command ran all the same: %w", err)
	}
	return nil
}

func quoting(ctx context.Context, t *trial, sb *sandbox.Sandbox) error {
	args := []string{"plain", "two  blanks", "it's", `"double"`, `back\slash\`, "$HOME ${PATH} $(id) `id`", "line\nbreak\n",
		"*", "?", "[a-z]", "~", "-n", "--", ";", "&", "|", ">", "#", "!", "{a,b}", "%s", "tab\tend", "", "last'"}
	want := strings.Join(args, "|") + "|"
	out, err := t.exec(ctx, sb, contract.Command{Argv: append([]string{"printf", "%s|"}, args...)})
	if err != nil {
		return err
	}
	if err := equal("arguments", want, out); err != nil {
		return err
	}
	out, err = t.exec(ctx, sb, contract.Command{Argv: append([]string{"sh", "-c", `printf '%s|' "$0" "$@"`}, args...)})
	if err != nil {
		return err
	}
	return equal("arguments of sh -c", want, out)
}

func binaryOutput(ctx context.Context, t *trial, sb *sandbox.Sandbox) error {
	script := "printf '" + octal(allBytes()) + "'"
	out, err := t.run(ctx, sb, script)
	if err != nil {
		return err
	}
	if err := equal("standard output", allBytes(), []byte(out)); err != nil {
		return err
	}
	res, err := sb.Exec(ctx, contract.Command{Script: script + " >&2", Timeout: execLimit})
	if err != nil {
		return err
	}
	if res.Streams == contract.StreamsMerged {
		return equal("standard error, merged", allBytes(), res.Stdout)
	}
	return equal("standard error", allBytes(), res.Stderr)
}

// numbered is 128 bytes per line, each line another one.
func numbered(lines int) []byte {
	var b bytes.Buffer
	for i := range lines {
		fmt.Fprintf(&b, "%0127d\n", i)
	}
	return b.Bytes()
}

func largeOutput(ctx context.Context, t *trial, sb *sandbox.Sandbox) error {
	const lines = 10 << 20 / 128
	res, err := sb.Exec(ctx, contract.Command{Timeout: 2 * execLimit,
		Script: fmt.Sprintf(`awk 'BEGIN { for (i = 0; i < %d; i++) printf "%%0127d\n", i }'`, lines)})
	switch {
	case err != nil:
		return err
	case res.ExitCode != 0:
		return fmt.Errorf("exit code %d: %s", res.ExitCode, quoteHead(res.Stderr))
	case res.Truncated != nil && *res.Truncated:
		return errors.New("exactly 10 MiB are reported as truncated")
	}
	return equal("10 MiB", numbered(lines), res.Stdout)
}

func unicodeText(ctx context.Context, t *trial, sb *sandbox.Sandbox) error {
	const text = "grüße, Ελληνικά, кириллица, עברית, العربية, हिन्दी, 日本語, 🦀👩‍👩‍👧, e\u0301"
	for _, c := range []contract.Command{{Script: "printf %s '" + text + "'"}, {Argv: []string{"printf", "%s", text}},
		{Script: "cat", Stdin: []byte(text)}} {
		out, err := t.exec(ctx, sb, c)
		if err != nil {
			return err
		}
		if err := equal("text", text, out); err != nil {
			return err
		}
	}
	return nil
}

func streamsApart(ctx context.Context, t *trial, sb *sandbox.Sandbox) error {
	declared := t.s.h.Driver.Manifest.ExecStreams
	res, err := sb.Exec(ctx, contract.Command{Script: "echo to-out; echo to-err >&2; exit 3", Timeout: execLimit})
	switch {
	case err != nil:
		return err
	case res.ExitCode != 3:
		return fmt.Errorf("exit code %d, want 3", res.ExitCode)
	case declared != "" && res.Streams != declared:
		return fmt.Errorf("the manifest says streams are %s, the result says %s", declared, res.Streams)
	}
	switch res.Streams {
	case contract.StreamsSeparate:
		return joinErrors(equal("standard output", []byte("to-out\n"), res.Stdout), equal("standard error", []byte("to-err\n"), res.Stderr))
	case contract.StreamsMerged:
		if !bytes.Contains(res.Stdout, []byte("to-out\n")) || !bytes.Contains(res.Stdout, []byte("to-err\n")) || len(res.Stderr) > 0 {
			return fmt.Errorf("merged streams: stdout %q, stderr %q", res.Stdout, res.Stderr)
		}
		return nil
	}
	return fmt.Errorf("the result says streams are %q", res.Streams)
}

func truncationFlagged(ctx context.Context, t *trial, sb *sandbox.Sandbox) error {
	full := numbered(64)
	script := `awk 'BEGIN { for (i = 0; i < 64; i++) printf "%0127d\n", i }'`
	for limit, cut := range map[int64]bool{1000: true, int64(len(full)): false} {
		res, err := sb.Exec(ctx, contract.Command{Script: script, OutputLimit: limit, Timeout: execLimit})
		switch {
		case err != nil:
			return err
		case res.ExitCode != 0:
			return fmt.Errorf("exit code %d, want 0", res.ExitCode)
		case cut && (res.Truncated == nil || !*res.Truncated):
			return fmt.Errorf("%d bytes of %d are not reported as truncated", len(res.Stdout), len(full))
		case !cut && res.Truncated != nil && *res.Truncated:
			return errors.New("complete output is reported as truncated")
		}
		if err := equal(fmt.Sprintf("output with a limit of %d", limit), full[:limit], res.Stdout); err != nil {
			return err
		}
	}
	return nil
}

func execStdin(ctx context.Context, t *trial, sb *sandbox.Sandbox) error {
	in := append(allBytes(), numbered(2048)...) // 256 KiB and all byte values
	out, err := t.exec(ctx, sb, contract.Command{Script: "cat; printf end", Stdin: in})
	if err != nil {
		return err
	}
	return equal("standard input", string(in)+"end", out)
}

func parallel16(ctx context.Context, t *trial, sb *sandbox.Sandbox) error {
	errs := make([]error, 16)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			want := fmt.Sprintf("out-%d\n", i)
			res, err := sb.Exec(ctx, contract.Command{Script: fmt.Sprintf("sleep 1; echo out-%d; exit %d", i, i+10), Timeout: execLimit})
			switch {
			case err != nil:
				errs[i] = err
			case res.ExitCode != int64(i+10):
				errs[i] = fmt.Errorf("command %d has exit code %d, want %d", i, res.ExitCode, i+10)
			default:
				errs[i] = equal(fmt.Sprintf("output of command %d", i), []byte(want), res.Stdout)
			}
		})
	}
	wg.Wait()
	return joinErrors(errs...)
}

func absentSandbox(ctx context.Context, t *trial) error {
	sb, err := t.create(ctx, sandbox.SkipReady())
	if err != nil {
		return err
	}
	if err := t.destroyed(ctx, sb); err != nil {
		return err
	}
	created := t.reached("Create")
	_, err = t.s.table().Exec(ctx, sb.ID(), contract.Command{Script: "echo still here", Timeout: execLimit})
	if err := wantCode(err, port.CodeNotFound, "a command for a sandbox that is gone"); err != nil {
		return err
	}
	if t.reached("Create") != created {
		return errors.New("the command made a sandbox")
	}
	return t.gone(ctx, sb.ID())
}
