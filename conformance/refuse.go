package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// declared reports whether the run may use c. If not, it sees that the library
// refuses c and nothing reaches the adapter, and returns the verdict for a check
// of c.
func (t *trial) declared(ctx context.Context, c contract.Capability) (bool, error) {
	if t.s.callable(c) {
		return true, nil
	}
	r := t.s.refusals[c]
	if r == nil {
		return false, fmt.Errorf("%q is not in the vocabulary", c)
	}
	r.once.Do(func() { r.err = t.refuses(ctx, c) })
	if r.err != nil {
		return false, r.err
	}
	claim := t.s.p.Claim(c)
	if claim.Support == contract.SupportUnknown {
		return false, unknown(NotAttempted, "whether the provider has %s is not known: %s", c, claim.Reason)
	}
	return false, refused("%s is %s: %s", c, claim.Support, claim.Reason)
}

// refuses calls everything that c consists of.
func (t *trial) refuses(ctx context.Context, c contract.Capability) error {
	sb, err := t.shared()
	if err != nil {
		return err
	}
	before := t.changes()
	var errs []error
	for _, op := range contract.Operations() {
		if op.Capability != c {
			continue
		}
		reached := t.reached(op.Name)
		err := callUndeclared(ctx, t.s.p, sb, op.Name)
		errs = append(errs, wantUnsupported(err, c, op.Name))
		if n := t.reached(op.Name) - reached; n > 0 {
			errs = append(errs, fmt.Errorf("%s is not declared and reached the adapter %d times", op.Name, n))
		}
	}
	if opt := undeclaredField(c); opt != nil {
		_, err := t.attempt(ctx, t.s.p, opt)
		errs = append(errs, wantUnsupported(err, c, "Create with a field of it"))
	}
	if n := t.changes() - before; n > 0 {
		errs = append(errs, fmt.Errorf("%d calls that change something reached the adapter", n))
	}
	return errors.Join(errs...)
}

func wantUnsupported(err error, c contract.Capability, what string) error {
	if err := wantCode(err, port.CodeUnsupported, what); err != nil {
		return err
	}
	e, ok := errors.AsType[*port.Error](err)
	switch {
	case !ok:
		return fmt.Errorf("%s: the error is no *port.Error: %w", what, err)
	case e.Capability != string(c) || e.Support == "" || e.Reason == "":
		return fmt.Errorf("%s: the error does not say capability, support and reason: %w", what, err)
	case e.Outcome != port.OutcomeUnchanged:
		return fmt.Errorf("%s: the error's outcome is %q, want unchanged", what, e.Outcome)
	}
	return nil
}

// undeclaredField is a create option that needs c, nil when there is none.
func undeclaredField(c contract.Capability) sandbox.CreateOption {
	switch c {
	case contract.CapabilityLabels:
		return sandbox.WithLabels(map[string]string{"team": "blue"})
	case contract.CapabilityPorts:
		return sandbox.WithPorts(8080)
	case contract.CapabilityLifetime:
		return sandbox.WithLifetime(time.Hour)
	case contract.CapabilityMounts:
		return sandbox.WithMounts(contract.Mount{Backend: "none", Reference: "none", Path: "/mnt/none"})
	}
	return nil
}

// callUndeclared calls one operation through the library with arguments that
// are valid in themselves.
func callUndeclared(ctx context.Context, p *sandbox.Provider, sb *sandbox.Sandbox, op string) error {
	const path = "/tmp/sbx-conformance-undeclared"
	none := port.WriteStream{Reader: emptyReader{}, Size: 0}
	command := contract.Command{Script: "exit 0", Timeout: execLimit}
	calls := map[string]func() error{
		"List":      func() error { return second(p.List(ctx, contract.ListRequest{})) },
		"ReadFile":  func() error { return second(sb.ReadFile(ctx, path)) },
		"WriteFile": func() error { return sb.WriteFile(ctx, path, 0o600, none) },
		"Stat":      func() error { return second(sb.Stat(ctx, path)) },
		"ReadDir":   func() error { return second(sb.ReadDir(ctx, path)) },
		"Mkdir":     func() error { return sb.Mkdir(ctx, path, 0o700) },
		"Remove":    func() error { return sb.Remove(ctx, path, false) },
		"Rename":    func() error { return sb.Rename(ctx, path, path+"2") },
		"Stream":    func() error { return second(sb.Stream(ctx, command)) },
		"OpenPTY": func() error {
			return second(sb.OpenPTY(ctx, contract.PTYRequest{Command: command, Cols: 80, Rows: 24}))
		},
		"Stop":    func() error { return second(sb.Stop(ctx)) },
		"Start":   func() error { return second(sb.Start(ctx)) },
		"Suspend": func() error { return second(sb.Suspend(ctx)) },
		"Resume":  func() error { return second(sb.Resume(ctx)) },
		"CreateSnapshot": func() error {
			return second(sb.CreateSnapshot(ctx, contract.SnapshotRequest{}))
		},
		"InspectSnapshot": func() error { return second(p.InspectSnapshot(ctx, "none")) },
		"ListSnapshots":   func() error { return second(p.ListSnapshots(ctx)) },
		"DeleteSnapshot":  func() error { return second(p.DeleteSnapshot(ctx, "none")) },
		"Fork":            func() error { return second(sb.Fork(ctx, contract.ForkRequest{})) },
		"PortURL":         func() error { return second(sb.PortURL(ctx, 8080)) },
		"Logs":            func() error { return second(sb.Logs(ctx, contract.LogsRequest{})) },
		"Metrics":         func() error { return second(sb.Metrics(ctx)) },
		"Restart":         func() error { return second(sb.Restart(ctx)) },
	}
	call, ok := calls[op]
	if !ok {
		return fmt.Errorf("the suite does not know how to call %s", op)
	}
	return call()
}

// second drops a value and keeps its error.
func second[T any](_ T, err error) error { return err }
