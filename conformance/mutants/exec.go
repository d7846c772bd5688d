package mutants

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

type execFunc = func(context.Context, string, contract.Command) (contract.ExecResult, error)

// execMutants break commands.
func execMutants() []Mutant {
	return []Mutant{
		{Name: "lost exit code is 0", Seen: "exitCode ?? 0", Kills: "exec.exit-codes",
			Make: onResult(func(_ contract.Command, r *contract.ExecResult) { r.ExitCode = 0 })},
		{Name: "exit codes are 0 or 1", Seen: "success booleans turned back into numbers", Kills: "exec.exit-codes",
			Make: onResult(func(_ contract.Command, r *contract.ExecResult) { r.ExitCode = min(r.ExitCode, 1) })},
		{Name: "exit 127 is an error", Seen: "a missing program thrown as a transport failure", Kills: "exec.exit-codes",
			Make: onExec(func(next execFunc, ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
				r, err := next(ctx, id, c)
				if err == nil && r.ExitCode == 127 {
					return contract.ExecResult{}, &port.Error{Code: port.CodeNotFound, Op: "Exec"}
				}
				return r, err
			})},
		{Name: "signals are exit -1", Seen: "a process library's null code", Kills: "exec.signals",
			Make: onResult(func(_ contract.Command, r *contract.ExecResult) {
				if r.ExitCode > 128 && r.ExitCode < 160 {
					r.ExitCode = -1
				}
			})},
		{Name: "merged output undeclared", Seen: "one stream for both", Kills: "exec.streams-apart",
			Make: onResult(func(_ contract.Command, r *contract.ExecResult) {
				r.Stdout, r.Stderr = append(r.Stdout, r.Stderr...), nil
			})},
		{Name: "merged and marked, not declared", Seen: "a manifest that says separate", Kills: "exec.streams-apart",
			Make: onResult(func(_ contract.Command, r *contract.ExecResult) {
				r.Stdout, r.Stderr, r.Streams = append(r.Stdout, r.Stderr...), nil, contract.StreamsMerged
			})},
		{Name: "standard error dropped", Seen: "only stdout in the answer", Kills: "exec.streams-apart",
			Make: onResult(func(_ contract.Command, r *contract.ExecResult) { r.Stderr = nil })},
		{Name: "output trimmed", Seen: "stdout.trim()", Kills: "exec.exit-zero",
			Make: onExec(func(next execFunc, ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
				r, err := next(ctx, id, c)
				if c.Script == "printf hello" {
					r.Stdout = append(r.Stdout, '\n')
				}
				return r, err
			})},
		{Name: "output is text", Seen: "JSON strings that replace invalid UTF-8", Kills: "exec.binary",
			Make: onResult(func(_ contract.Command, r *contract.ExecResult) {
				r.Stdout = bytes.ToValidUTF8(r.Stdout, []byte("\uFFFD"))
			})},
		{Name: "output ends at a NUL", Seen: "C strings on the way", Kills: "exec.binary",
			Make: onResult(func(_ contract.Command, r *contract.ExecResult) { r.Stdout, _, _ = bytes.Cut(r.Stdout, []byte{0}) })},
		{Name: "output limited to 128 KiB", Seen: "pipes read once", Kills: "exec.large-output",
			Make: onResult(func(_ contract.Command, r *contract.ExecResult) { r.Stdout = r.Stdout[:min(len(r.Stdout), 128<<10)] })},
		{Name: "output chunk lost", Seen: "a stream resumed at the wrong offset", Kills: "exec.large-output",
			Make: onResult(func(_ contract.Command, r *contract.ExecResult) {
				if len(r.Stdout) > 1<<20 {
					r.Stdout = append(r.Stdout[:1<<20:1<<20], r.Stdout[1<<20+4096:]...)
				}
			})},
		{Name: "truncation not flagged", Seen: "log buffers that drop silently", Kills: "exec.truncation-flagged",
			Make: onResult(func(_ contract.Command, r *contract.ExecResult) { no := false; r.Truncated = &no })},
		{Name: "output limit ignored", Seen: "an option that is not passed on", Kills: "exec.truncation-flagged",
			Make: onCommand(func(c *contract.Command) { c.OutputLimit = 0 })},
		{Name: "unicode as latin-1", Seen: "base64 decoded byte by byte", Kills: "exec.unicode",
			Make: onResult(func(_ contract.Command, r *contract.ExecResult) {
				var out []byte
				for _, b := range r.Stdout {
					out = append(out, string(rune(b))...)
				}
				r.Stdout = out
			})},
		{Name: "argv joined with blanks", Seen: "args.join(' ')", Kills: "exec.quoting",
			Make: onCommand(func(c *contract.Command) {
				if len(c.Argv) > 0 {
					c.Script, c.Argv = strings.Join(c.Argv, " "), nil
				}
			})},
		{Name: "argv in double quotes", Seen: "JSON.stringify as shell quoting", Kills: "exec.quoting",
			Make: onCommand(func(c *contract.Command) {
				if len(c.Argv) > 0 {
					c.Script, c.Argv = `"`+strings.Join(c.Argv, `" "`)+`"`, nil
				}
			})},
		{Name: "empty arguments dropped", Seen: "filter(Boolean)", Kills: "exec.quoting",
			Make: onCommand(func(c *contract.Command) {
				var argv []string
				for _, a := range c.Argv {
					if a != "" {
						argv = append(argv, a)
					}
				}
				c.Argv = argv
			})},
		{Name: "command env dropped", Seen: "an option that is not passed on", Kills: "exec.env",
			Make: onCommand(func(c *contract.Command) { c.Env = nil })},
		{Name: "env values interpolated", Seen: "export X=\"value\" in a script", Kills: "exec.env",
			Make: onCommand(func(c *contract.Command) {
				for k, v := range c.Env {
					c.Script = "export " + k + `="` + v + `"` + "\n" + c.Script
				}
				if len(c.Argv) > 0 && len(c.Env) > 0 {
					c.Script, c.Argv = c.Script+wire.QuoteArgs(c.Argv), nil
				}
				c.Env = nil
			})},
		{Name: "env stays for the next command", Seen: "one shell session for all commands", Kills: "exec.env", Make: stickyEnv},
		{Name: "directory ignored", Seen: "an option that is not passed on", Kills: "exec.dir",
			Make: onCommand(func(c *contract.Command) { c.Dir = "" })},
		{Name: "directory in front with &&", Seen: "cd dir && script", Kills: "exec.dir-unusable",
			Make: onCommand(func(c *contract.Command) {
				if c.Dir != "" && c.Script != "" {
					c.Script, c.Dir = "cd "+wire.Quote(c.Dir)+" && "+c.Script, ""
				}
			})},
		{Name: "directory unquoted", Seen: "cd ${dir}", Kills: "exec.dir",
			Make: onCommand(func(c *contract.Command) {
				if c.Dir != "" && c.Script != "" {
					c.Script, c.Dir = "cd "+c.Dir+"\n"+c.Script, ""
				}
			})},
		{Name: "missing directory made", Seen: "mkdir -p to be helpful", Kills: "exec.dir-unusable",
			Make: onExec(func(next execFunc, ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
				r, err := next(ctx, id, c)
				if port.CodeOf(err) == port.CodeWorkdirUnusable {
					c.Dir = ""
					return next(ctx, id, c)
				}
				return r, err
			})},
		{Name: "commands begin in the home directory", Seen: "cd ~ in front of every script", Kills: "exec.posix-sh",
			Make: onCommand(func(c *contract.Command) {
				if c.Script != "" && c.Dir == "" {
					c.Script = "cd ~ || exit 1\n" + c.Script
				}
			})},
		{Name: "stdin dropped", Seen: "an option that is not passed on", Kills: "exec.stdin",
			Make: onCommand(func(c *contract.Command) { c.Stdin = nil })},
		{Name: "stdin limited to 64 KiB", Seen: "one write to a pipe", Kills: "exec.stdin",
			Make: onCommand(func(c *contract.Command) { c.Stdin = c.Stdin[:min(len(c.Stdin), 64<<10)] })},
		{Name: "stdin never ends", Seen: "a terminal as standard input", Kills: "exec.no-stdin-does-not-hang",
			Make: onCommand(func(c *contract.Command) {
				if c.Script == "cat; echo done" {
					c.Script = "sleep 30 | cat; echo done"
				}
			})},
		{Name: "timeout ignored", Seen: "an option that is not passed on", Kills: "exec.timeout-is-typed",
			Make: onCommand(func(c *contract.Command) { c.Timeout = time.Hour })},
		{Name: "timeout ends the call only", Seen: "an HTTP abort", Kills: "exec.timeout-ends-children", Make: plain(abortOnly)},
		{Name: "timeout is exit 124", Seen: "timeout(1) around the command", Kills: "exec.timeout-is-typed",
			Make: onExec(func(next execFunc, ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
				r, err := next(ctx, id, c)
				if port.CodeOf(err) == port.CodeTimeout {
					return contract.ExecResult{ExitCode: 124, Streams: contract.StreamsSeparate}, nil
				}
				return r, err
			})},
		{Name: "cancel says unchanged", Seen: "AbortError mapped to a clean cancellation", Kills: "exec.cancel-says-unknown",
			Make: onExec(func(next execFunc, ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
				r, err := next(ctx, id, c)
				if port.CodeOf(err) == port.CodeCanceled {
					return r, &port.Error{Code: port.CodeCanceled, Op: "Exec", Outcome: port.OutcomeUnchanged}
				}
				return r, err
			})},
		{Name: "cancel is not heard", Seen: "no way to abort", Kills: "exec.cancel-says-unknown",
			Make: onExec(func(next execFunc, ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
				return next(context.WithoutCancel(ctx), id, c)
			})},
		{Name: "background child holds the command", Seen: "waiting for the end of output", Kills: "exec.background-child-does-not-hold",
			Make: onCommand(func(c *contract.Command) {
				if strings.HasPrefix(c.Script, "sleep 40 &") {
					c.Script = "sleep 40; echo out; exit 3"
				}
			})},
		{Name: "parallel commands share output", Seen: "one log per sandbox", Kills: "exec.parallel-16", Make: sharedOutput},
		{Name: "dead sandbox runs commands", Seen: "a client that recreates what is missing", Kills: "exec.absent-sandbox",
			Make: onExec(func(next execFunc, ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
				r, err := next(ctx, id, c)
				if absent(err) {
					return contract.ExecResult{Streams: contract.StreamsSeparate}, nil
				}
				return r, err
			})},
		{Name: "dead sandbox is unavailable", Seen: "404 mapped to a transient error", Kills: "exec.absent-sandbox",
			Make: onExec(func(next execFunc, ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
				r, err := next(ctx, id, c)
				if absent(err) {
					err = &port.Error{Code: port.CodeUnavailable, Op: "Exec", Outcome: port.OutcomeUnchanged}
				}
				return r, err
			})},
		{Name: "ready without a shell", Seen: "a health check that answers for the command", Kills: "ready.functional",
			Make: onExec(func(next execFunc, ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
				return contract.ExecResult{Streams: contract.StreamsSeparate}, nil
			})},
		{Name: "adapter panics", Seen: "a nil pointer in an answer", Kills: "exec.stdin",
			Make: onExec(func(next execFunc, ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
				if len(c.Stdin) > 0 {
					panic(errors.New("mutant"))
				}
				return next(ctx, id, c)
			})},
	}
}

func stickyEnv() func(contract.Table) contract.Table {
	var mu sync.Mutex
	kept := map[string]string{}
	return func(t contract.Table) contract.Table {
		next := t.Exec
		t.Exec = func(ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
			mu.Lock()
			for k, v := range c.Env {
				kept[k] = v
			}
			env := map[string]string{}
			for k, v := range kept {
				env[k] = v
			}
			mu.Unlock()
			c.Env = env
			return next(ctx, id, c)
		}
		return t
	}
}

// abortOnly lets the caller go when the time is up, and the command run on.
func abortOnly(t contract.Table) contract.Table {
	next := t.Exec
	t.Exec = func(ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
		life := c.Timeout
		c.Timeout = 15 * time.Second
		type answer struct {
			r   contract.ExecResult
			err error
		}
		got := make(chan answer, 1)
		go func() {
			r, err := next(context.WithoutCancel(ctx), id, c)
			got <- answer{r, err}
		}()
		timer := time.NewTimer(life)
		defer timer.Stop()
		select {
		case a := <-got:
			return a.r, a.err
		case <-timer.C:
			return contract.ExecResult{}, &port.Error{Code: port.CodeTimeout, Op: "Exec", Outcome: port.OutcomeUnknown}
		}
	}
	return t
}

// sharedOutput gives every command the output of the one that ended before it.
func sharedOutput() func(contract.Table) contract.Table {
	var mu sync.Mutex
	var last []byte
	return func(t contract.Table) contract.Table {
		next := t.Exec
		t.Exec = func(ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
			r, err := next(ctx, id, c)
			if err == nil && strings.HasPrefix(c.Script, "sleep 1; echo out-") {
				mu.Lock()
				defer mu.Unlock()
				r.Stdout, last = last, r.Stdout
			}
			return r, err
		}
		return t
	}
}
