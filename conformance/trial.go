package conformance

import (
	"context"
	"errors"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// trial is one execution of one check: what it made, and what reached the
// adapter under its context.
type trial struct {
	s  *suite
	id string // of the check

	mu       sync.Mutex
	calls    map[string]int
	requests map[string][]any // data arguments of each call, by operation
	panics   []*panicError
	made     []string // IDs that the adapter said it made
	cleanups []func(context.Context) error
}

func (t *trial) count(op string, args []reflect.Value) {
	var data []any
	for _, a := range args[1:] {
		data = append(data, a.Interface())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls[op]++
	t.requests[op] = append(t.requests[op], data)
}

func (t *trial) panicked(err *panicError) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.panics = append(t.panics, err)
}

// reached is how often an operation reached the adapter under this check.
func (t *trial) reached(op string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.calls[op]
}

// changes is how many calls that can change something reached the adapter.
func (t *trial) changes() int {
	n := 0
	for _, op := range contract.Operations() {
		if op.Effect != contract.EffectRead {
			n += t.reached(op.Name)
		}
	}
	return n
}

// request returns the data arguments of the latest call of op.
func (t *trial) request(op string) []any {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.requests[op]
	if len(all) == 0 {
		return nil
	}
	data, _ := all[len(all)-1].([]any)
	return data
}

// cleanup runs fn when the check ends, last one first.
func (t *trial) cleanup(fn func(context.Context) error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, fn)
}

// teardown runs every cleanup, whatever the ones before it returned.
func (t *trial) teardown(ctx context.Context) error {
	t.mu.Lock()
	fns := slices.Clone(t.cleanups)
	t.cleanups = nil
	t.mu.Unlock()
	var errs []error
	for _, fn := range slices.Backward(fns) {
		errs = append(errs, fn(ctx))
	}
	return joinErrors(errs...)
}

// open opens the harness's provider a further time: a run of its own in the
// same state directory. It is closed when the check ends.
func (t *trial) open(ctx context.Context, more ...sandbox.Option) (*sandbox.Provider, error) {
	p, err := t.s.open(ctx, t.s.h.Driver, more...)
	if err != nil {
		return nil, err
	}
	t.cleanup(func(context.Context) error { return p.Close() })
	return p, nil
}

// create makes a sandbox that is only a precondition of what the check is about.
func (t *trial) create(ctx context.Context, opts ...sandbox.CreateOption) (*sandbox.Sandbox, error) {
	sb, err := t.attempt(ctx, t.s.p, opts...)
	if err != nil && port.CodeOf(err) != port.CodeNotImplemented {
		return nil, unknown(NoInstanceCreated, "the sandbox that the check needs was not created: %v", err)
	}
	return sb, err
}

// attempt makes a sandbox with p; its error is the check's to judge.
func (t *trial) attempt(ctx context.Context, p *sandbox.Provider, opts ...sandbox.CreateOption) (*sandbox.Sandbox, error) {
	sb, err := p.Create(ctx, append(slices.Clone(t.s.h.Create), opts...)...)
	if err != nil {
		return nil, err
	}
	t.destroyLater(sb)
	return sb, nil
}

// destroyLater destroys sb when the check ends, if it has not been by then.
func (t *trial) destroyLater(sb *sandbox.Sandbox) {
	t.cleanup(func(ctx context.Context) error { return t.s.destroy(ctx, sb) })
}

// shared is the sandbox of the checks that leave no trace in it.
func (t *trial) shared() (*sandbox.Sandbox, error) {
	if sb := t.s.sharedSandbox(); sb != nil {
		return sb, nil
	}
	return nil, unknown(NoInstanceCreated, "there is no sandbox to run it in")
}

// run is a script in sb that has to end with exit code 0; it returns standard output.
func (t *trial) run(ctx context.Context, sb *sandbox.Sandbox, script string) (string, error) {
	return t.exec(ctx, sb, contract.Command{Script: script})
}

func (t *trial) exec(ctx context.Context, sb *sandbox.Sandbox, command contract.Command) (string, error) {
	if command.Timeout == 0 {
		command.Timeout = execLimit
	}
	res, err := sb.Exec(ctx, command)
	if err != nil {
		return "", err
	}
	if res.ExitCode != 0 {
		return "", fmt.Errorf("%s ended with exit code %d: stdout %s, stderr %s", brief(command), res.ExitCode,
			quoteHead(res.Stdout), quoteHead(res.Stderr))
	}
	return string(res.Stdout), nil
}

// dir makes a fresh directory in sb and returns its absolute path.
func (t *trial) dir(ctx context.Context, sb *sandbox.Sandbox) (string, error) {
	name := "sbxc-" + t.s.nonce()
	out, err := t.run(ctx, sb, "mkdir "+name+" && cd "+name+" && pwd -P")
	if err != nil {
		return "", fmt.Errorf("making a directory to work in: %w", err)
	}
	dir := strings.TrimSuffix(out, "\n")
	if !path.IsAbs(dir) {
		return "", fmt.Errorf("pwd -P printed %q", dir)
	}
	return dir, nil
}

// gone requires that a look-up of id, past the library, says not_found.
func (t *trial) gone(ctx context.Context, id string) error {
	i, err := t.s.table().Inspect(ctx, id)
	if isAbsent(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking up %s after its destroy: %w", id, err)
	}
	return fmt.Errorf("%s is still there, state %s", id, i.State)
}

// alive requires that sb runs a command.
func (t *trial) alive(ctx context.Context, sb *sandbox.Sandbox) error {
	out, err := t.run(ctx, sb, "echo alive")
	if err != nil {
		return fmt.Errorf("it does not run commands any more: %w", err)
	}
	return equal("output of echo", "alive\n", out)
}

// destroyed destroys sb now and requires the outcome to be settled.
func (t *trial) destroyed(ctx context.Context, sb *sandbox.Sandbox) error {
	if err := t.s.destroy(ctx, sb); err != nil {
		return fmt.Errorf("destroy: %w", err)
	}
	return nil
}

// destroy is Sandbox.Destroy, content with an acknowledgement where the
// manifest says that nothing can prove absence.
func (s *suite) destroy(ctx context.Context, sb *sandbox.Sandbox) error {
	_, err := sb.Destroy(ctx)
	if u, ok := errors.AsType[*sandbox.UnverifiedError](err); ok && u.Report.Acknowledged && !s.canProveGone() {
		return nil
	}
	return err
}

func (s *suite) canProveGone() bool {
	switch s.h.Driver.Manifest.GoneProof {
	case contract.GoneProofInspect, contract.GoneProofList, contract.GoneProofBoth:
		return true
	}
	return false
}
