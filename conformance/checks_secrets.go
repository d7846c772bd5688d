package conformance

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/agentworkforce/sbx/conformance/faults"
	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// secretChecks look for secrets where none may be.
func secretChecks() map[string]proof {
	return map[string]proof{
		"honesty.no-secret-in-output": {run: noSecretInOutput, method: "Exec"},
		"honesty.no-secret-in-argv":   {run: noSecretInArgv, method: "Exec"},
		"honesty.redacted-before-cut": {run: redactedBeforeCut, method: "Inspect"},
	}
}

// dummy is a secret that nobody has.
func dummy() string { return "sbxc" + strings.ToLower(rand.Text()) }

// heard collects text by where it was found. It is safe for concurrent use.
type heard struct {
	mu  sync.Mutex
	all []utterance
}

type utterance struct{ where, text string }

// value keeps how a value is printed and encoded.
func (h *heard) value(where string, v any) {
	text := fmt.Sprintf("%v %+v", v, v)
	if b, err := json.Marshal(v); err == nil {
		text += string(b)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, utterance{where, text})
}

// failure keeps the error of a call that has to fail.
func (h *heard) failure(where string, err error) error {
	if err == nil {
		return fmt.Errorf("%s succeeded", where)
	}
	h.value("the error of "+where, err)
	return nil
}

// holds names the first place where a secret is, without it.
func (h *heard) holds(secrets ...string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, u := range h.all {
		for _, s := range secrets {
			if strings.Contains(u.text, s) {
				return fmt.Errorf("a secret is in %s", u.where)
			}
		}
	}
	return nil
}

// piece names the first place where so much of a secret is that it is no accident.
func (h *heard) piece(secret string) error {
	n := max(8, len(secret)*3/5)
	for i := 0; i+n <= len(secret); i++ {
		if err := h.holds(secret[i : i+n]); err != nil {
			return fmt.Errorf("a piece of %w", err)
		}
	}
	return nil
}

// noSecretInOutput gives a secret in every way that there is, has things go
// wrong, and looks through everything that was said.
func noSecretInOutput(ctx context.Context, t *trial) error {
	said, secret := &heard{}, dummy()
	p, err := t.open(ctx, sandbox.WithObserver(func(e sandbox.Event) { said.value("an event of "+e.Op, e) }))
	if err != nil {
		return err
	}
	env := map[string]string{"SBXC_SECRET": secret}
	sb, err := t.attempt(ctx, p, sandbox.WithEnv(env))
	if port.CodeOf(err) == port.CodeUnsupported {
		said.value("the refusal of an environment", err)
		sb, err = t.attempt(ctx, p)
	}
	if err != nil {
		return unknown(NoInstanceCreated, "no sandbox was created; its error is not repeated here: %s", port.CodeOf(err))
	}
	said.value("an instance", sb.Instance())
	if err := t.failingCommands(ctx, sb, secret, said); err != nil {
		return err
	}
	_, err = t.attempt(ctx, p, sandbox.WithEnv(env), sandbox.WithImage("sbx-conformance.invalid/no-such-image:0"))
	if err := said.failure("a create from an image that does not exist", err); err != nil {
		return err
	}
	if t.s.callable(contract.CapabilityList) {
		rows, err := t.s.table().List(ctx, contract.ListRequest{})
		if err != nil {
			return err
		}
		said.value("a listing", rows)
	}
	if err := t.withKey(ctx, sb.ID(), secret, said); err != nil {
		return err
	}
	if err := t.echoed(ctx, said, 0); err != nil {
		return err
	}
	if err := said.ledgers(t.s.stateDir); err != nil {
		return err
	}
	all := []string{secret}
	for _, v := range t.s.secrets() {
		all = append(all, v)
	}
	return said.holds(all...)
}

// failingCommands has commands that are given a secret end badly.
func (t *trial) failingCommands(ctx context.Context, sb *sandbox.Sandbox, secret string, said *heard) error {
	table, env := t.s.table(), map[string]string{"SBXC_SECRET": secret}
	for where, call := range map[string]func() error{
		"a command in a directory that is not there": func() error {
			return second(table.Exec(ctx, sb.ID(), contract.Command{Script: "exit 0", Dir: "/sbxc-not-there", Env: env, Timeout: execLimit}))
		},
		"a command that runs out of time": func() error {
			return second(table.Exec(ctx, sb.ID(), contract.Command{Script: "sleep 20", Env: env, Stdin: []byte(secret), Timeout: time.Second}))
		},
		"a command for a sandbox that is not there": func() error {
			return second(table.Exec(ctx, neverExisted(sb.ID()), contract.Command{Script: "exit 0", Env: env, Stdin: []byte(secret), Timeout: execLimit}))
		},
		"a command with a variable of a bad name": func() error {
			return second(sb.Exec(ctx, contract.Command{Script: "exit 0", Env: map[string]string{"SBXC-SECRET": secret}, Timeout: execLimit}))
		},
	} {
		if err := said.failure(where, call()); err != nil {
			return err
		}
	}
	return nil
}

// withKey opens the provider with the secret in the place of its keys.
func (t *trial) withKey(ctx context.Context, id, secret string, said *heard) error {
	var opts []sandbox.Option
	for key := range t.s.secrets() {
		opts = append(opts, sandbox.WithSecret(key, port.NewSecret(secret)))
	}
	if len(opts) == 0 {
		return nil
	}
	table, err := t.past(ctx, opts...)
	said.value("the error of opening with a wrong key", fmt.Sprint(err))
	if err != nil {
		return nil
	}
	scope, err := table.Scope(ctx)
	said.value("the scope with a wrong key", scope+fmt.Sprint(err))
	i, err := table.Inspect(ctx, id)
	said.value("a look-up with a wrong key", fmt.Sprint(i, err))
	return nil
}

// echoed has the vendor repeat the key in its errors, after so much other text.
func (t *trial) echoed(ctx context.Context, said *heard, before int) error {
	if t.s.h.Endpoint.Through == nil || len(t.s.secrets()) == 0 {
		return nil
	}
	b, err := t.stand(ctx)
	if err != nil {
		return err
	}
	for _, status := range []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusInternalServerError} {
		b.proxy.Set(faults.Fault{Status: status, Body: strings.Repeat("x", before), Echo: true})
		err := said.failure(fmt.Sprintf("a look-up whose answer, status %d, repeats the request", status), second(b.table.Inspect(ctx, "none")))
		b.proxy.Set(faults.Fault{})
		if err != nil {
			return err
		}
	}
	return nil
}

// ledgers keeps what is on disk about the runs.
func (h *heard) ledgers(root string) error {
	return filepath.WalkDir(filepath.Join(root, "sbx", "ledger"), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		h.value("a ledger", string(b))
		return err
	})
}

// redactedBeforeCut has a sandbox not become ready, with a log and an error that are
// longer than what is kept of them and hold nothing but a secret over and over.
func redactedBeforeCut(ctx context.Context, t *trial) error {
	said := &heard{}
	looked := false
	if t.s.callable(contract.CapabilityLogs) {
		looked = true
		for _, logsFail := range []bool{false, true} {
			if err := t.unready(ctx, said, logsFail); err != nil {
				return err
			}
		}
	}
	for _, secret := range t.s.secrets() {
		looked = true
		for before := 0; before < 60; before += 9 {
			if err := t.echoed(ctx, said, before); err != nil {
				return err
			}
		}
		if err := said.failure("a look-up of what never existed", second(t.s.table().Inspect(ctx, neverExisted("none")))); err != nil {
			return err
		}
		if err := said.piece(secret); err != nil {
			return err
		}
	}
	if !looked {
		return unknown(NotAttempted, "it does not apply: the provider has neither a log nor a key that could be cut")
	}
	return nil
}

// unready requires of the error of a sandbox that does not become ready that the
// first thing that went wrong is in it and no piece of a secret is.
func (t *trial) unready(ctx context.Context, said *heard, logsFail bool) error {
	const first = "conformance: what went wrong first"
	secret := dummy()
	p, err := t.open(ctx, sandbox.WithDeadlines(quick()), sandbox.WithRedacted(port.NewSecret(secret)),
		sandbox.WithTable(func(table contract.Table) contract.Table {
			table.Exec = func(context.Context, string, contract.Command) (contract.ExecResult, error) {
				return contract.ExecResult{}, &port.Error{Code: port.CodePermissionDenied, Op: "Exec", Outcome: port.OutcomeUnchanged, Reason: first}
			}
			table.Logs = func(context.Context, string, contract.LogsRequest) (port.ReadStream, error) {
				text := strings.Repeat(secret, 1000)
				if logsFail {
					return port.ReadStream{}, errors.New(text)
				}
				return port.ReadStream{ReadCloser: closing{strings.NewReader(text)}, Size: int64(len(text))}, nil
			}
			return table
		}))
	if err != nil {
		return err
	}
	sb, err := t.attempt(ctx, p, sandbox.SkipReady())
	if err != nil {
		return unknown(NoInstanceCreated, "%v", err)
	}
	err = sb.Ready(ctx)
	failure, ok := errors.AsType[*sandbox.NotReadyError](err)
	switch {
	case !ok:
		return fmt.Errorf("waiting for a sandbox in which nothing runs: %w", err)
	case port.CodeOf(err) != port.CodePermissionDenied || !strings.Contains(err.Error(), first):
		return fmt.Errorf("the first error is hidden behind another: %w", err)
	case !logsFail && failure.Diagnostics.LogTail == "":
		return errors.New("the diagnostics have nothing of the log")
	}
	said.value("diagnostics", failure.Diagnostics)
	said.value("the error of Ready", err)
	return said.piece(secret)
}
