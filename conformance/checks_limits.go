package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/agentworkforce/sbx/conformance/faults"
	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// limitChecks are about a vendor that says no, or that never comes to an end.
func limitChecks() map[string]proof {
	return map[string]proof{
		"honesty.wrong-key-refused":    {run: wrongKeyRefused, method: "Inspect"},
		"honesty.quota-is-not-retried": {run: quotaIsNotRetried, method: "Create"},
		"honesty.pull-is-bounded":      {run: pullIsBounded, method: "Create"},
		"honesty.busy-is-not-idle":     {run: busyIsNotIdle, method: "Exec"},
	}
}

// secrets are the values of the secret settings that the provider was opened with.
func (s *suite) secrets() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]string{}
	for _, rule := range s.h.Driver.Manifest.Settings {
		if v := s.settings.Secret(rule.Key); rule.Secret && !v.IsZero() {
			out[rule.Key] = v.Reveal()
		}
	}
	return out
}

// past opens the provider and returns its Table, past the library.
func (t *trial) past(ctx context.Context, opts ...sandbox.Option) (table contract.Table, err error) {
	_, err = t.open(ctx, append(opts, sandbox.WithTable(func(bound contract.Table) contract.Table {
		table = bound
		return bound
	}))...)
	return table, err
}

// wrongKeyRefused opens the provider with keys that differ in one sign from the
// right ones, and changes nothing that exists.
func wrongKeyRefused(ctx context.Context, t *trial) error {
	var opts []sandbox.Option
	for key, value := range t.s.secrets() {
		opts = append(opts, sandbox.WithSecret(key, port.NewSecret(neverExisted(value))))
	}
	if len(opts) == 0 {
		return unknown(NotAttempted, "it does not apply: the provider was opened without a key that could be wrong")
	}
	sb, err := t.shared()
	if err != nil {
		return err
	}
	table, err := t.past(ctx, opts...)
	if err != nil {
		if c := port.CodeOf(err); c == port.CodeUnauthenticated || c == port.CodePermissionDenied || c == port.CodeInvalidArgument {
			return nil // it did not even open
		}
		return err
	}
	calls := map[string]func() error{
		"Inspect": func() error { return second(table.Inspect(ctx, sb.ID())) },
		"Destroy": func() error { return second(table.Destroy(ctx, neverExisted(sb.ID()))) },
		"Exec": func() error {
			return second(table.Exec(ctx, sb.ID(), contract.Command{Script: "exit 0", Timeout: execLimit}))
		},
	}
	if t.s.callable(contract.CapabilityList) {
		calls["List"] = func() error { return second(table.List(ctx, contract.ListRequest{})) }
	}
	if t.s.callable(contract.CapabilitySnapshot) {
		calls["ListSnapshots"] = func() error { return second(table.ListSnapshots(ctx)) }
		calls["DeleteSnapshot"] = func() error { return second(table.DeleteSnapshot(ctx, "none")) }
	}
	for op, call := range calls {
		err := call()
		if c := port.CodeOf(err); c == port.CodeUnauthenticated || c == port.CodePermissionDenied {
			continue
		}
		if err == nil {
			return fmt.Errorf("%s with a wrong key succeeded: whoever answers accepts any key", op)
		}
		return wantCode(err, port.CodeUnauthenticated, op+" with a wrong key")
	}
	return nil
}

// quotaIsNotRetried has creates answered as the vendor does when a limit is reached.
func quotaIsNotRetried(ctx context.Context, t *trial) error {
	b, err := t.stand(ctx)
	if err != nil {
		return err
	}
	if len(t.s.h.Endpoint.Limits) == 0 {
		return unknown(NotAttempted, "nobody says what this vendor answers when a limit is reached")
	}
	for _, f := range t.s.h.Endpoint.Limits {
		f.Only = changing
		err := b.under(f, func() error {
			sb, err := b.attempt(ctx, b.p, sandbox.SkipReady())
			what := fmt.Sprintf("a create at a limit, answered with status %d,", f.Status)
			if err == nil {
				return fmt.Errorf("%s gave %s", what, sb.ID())
			}
			if err := wantCode(err, port.CodeQuotaExceeded, what); err != nil {
				return err
			}
			if e, ok := errors.AsType[*port.Error](err); ok && e.Retryable {
				return fmt.Errorf("%s is called retryable: %w", what, err)
			}
			for _, r := range twice(b.proxy.Seen()) {
				return fmt.Errorf("%s was sent again: %s %s", what, r.Method, r.Path)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// mostTransfers is how often a transfer that makes no progress may be begun.
const mostTransfers = 12

// pullIsBounded breaks the transfer of an image each time, so that it never gets on.
func pullIsBounded(ctx context.Context, t *trial) error {
	b, err := t.stand(ctx)
	if err != nil {
		return err
	}
	e := t.s.h.Endpoint
	if e.Transfer == nil || e.Absent == "" {
		return unknown(NotAttempted, "it does not apply: no image is transferred by a request of the adapter")
	}
	for what, f := range map[string]faults.Fault{
		"is refused each time": {Only: e.Transfer, Status: http.StatusInternalServerError, Body: `{"message":"unexpected EOF"}`},
		"breaks off each time": {Only: e.Transfer, Lose: true},
	} {
		err := b.under(f, func() error {
			return promptly(2*time.Minute, "a create whose transfer "+what, func() error {
				opts := append(slices.Clone(t.s.h.Create), sandbox.WithImage(e.Absent), sandbox.SkipReady())
				sb, err := b.p.Create(ctx, opts...)
				if err == nil {
					b.destroyLater(sb)
					return fmt.Errorf("a create whose transfer %s succeeded", what)
				}
				if n := b.proxy.Spoiled(); n > mostTransfers {
					return fmt.Errorf("a transfer that %s and makes no progress was begun %d times", what, n)
				}
				return nil
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

const (
	idleTime = 3 * time.Second
	busyTime = 8 * time.Second
)

// busyIsNotIdle runs a command that is silent for longer than the idle time, where
// one can be set, and leaves the sandbox alone meanwhile.
func busyIsNotIdle(ctx context.Context, t *trial) error {
	sb, refusal := t.attempt(ctx, t.s.p, sandbox.WithIdleTimeout(idleTime))
	if refusal != nil {
		if port.CodeOf(refusal) != port.CodeUnsupported {
			return refusal
		}
		var err error
		if sb, err = t.create(ctx); err != nil {
			return err
		}
	}
	before, err := t.s.table().Inspect(ctx, sb.ID())
	if err != nil {
		return err
	}
	out, err := t.run(ctx, sb, fmt.Sprintf("sleep %d; echo done", int(busyTime/time.Second)))
	if err := joinErrors(err, equal("what a command of "+busyTime.String()+" writes at its end", "done\n", out)); err != nil {
		return err
	}
	after, err := t.s.table().Inspect(ctx, sb.ID())
	switch {
	case err != nil:
		return fmt.Errorf("after a silent command of %s: %w", busyTime, err)
	case after.State != before.State:
		return fmt.Errorf("a silent command of %s took the sandbox from %s to %s", busyTime, before.State, after.State)
	case refusal == nil:
		return nil
	}
	claim := t.s.p.Claim(contract.CapabilityLifetime)
	if claim.Support == contract.SupportUnknown {
		return unknown(NotAttempted, "whether the vendor stops what is idle is not known; a silent command of %s ran to its end", busyTime)
	}
	return refused("an idle time is refused, lifetime is %s: %s; a silent command of %s ran to its end", claim.Support, claim.Reason, busyTime)
}
