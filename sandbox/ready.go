package sandbox

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// Diagnostics is what could be learned about a sandbox that did not become
// ready. What is absent is not known.
type Diagnostics struct {
	State        contract.State `json:"state,omitempty"`
	NativeState  string         `json:"nativeState,omitempty"`
	StatusReason string         `json:"statusReason,omitempty"`
	ExitCode     *int64         `json:"exitCode,omitempty"`
	Restarts     *int64         `json:"restarts,omitempty"`
	LogTail      string         `json:"logTail,omitempty"` // redacted, then cut to its last 4 KiB
	Problems     []string       `json:"problems,omitempty"`
}

const (
	logTail = 4 << 10 // bytes kept
	logRead = 1 << 20 // bytes read at most to find the tail
	// badExits in a row from `exit 0` mean that this shell will not do better.
	badExits = 5
)

// Ready runs a command in the sandbox, again and again until one succeeds: an
// open connection or a state word proves nothing. It stops early when the vendor
// says that the sandbox failed, stopped or is gone, or refuses for good. The
// error is a *NotReadyError with diagnostics.
func (s *Sandbox) Ready(ctx context.Context) error {
	op := operation{name: "Ready", effect: contract.EffectRead, limit: limitReady, id: s.ID()}
	rctx, cancel := context.WithTimeoutCause(ctx, s.p.opts.deadlines.Ready,
		&firedError{limit: limitReady, after: s.p.opts.deadlines.Ready})
	defer cancel()
	err := s.p.observed(op, func() error { return s.untilReady(rctx, op) })
	if err == nil {
		return nil
	}
	failure := describe(rctx, contract.EffectRead, err)
	failure.Provider, failure.Op, failure.ID = s.p.driver.ID, op.name, s.ID()
	if failure, _ = s.p.redact().Error(failure).(*Error); failure == nil {
		return s.p.refuse(op, port.CodeProvider, "the sandbox is not ready")
	}
	if ctx.Err() != nil { // nobody waits for diagnostics
		return &NotReadyError{Err: failure}
	}
	return &NotReadyError{Diagnostics: s.diagnose(ctx), Err: failure}
}

func (s *Sandbox) untilReady(ctx context.Context, op operation) error {
	wait := backoff{next: 20 * time.Millisecond, most: time.Second}
	bad := 0
	var last error
	for {
		res, err := s.p.table.Exec(ctx, s.ID(), contract.Command{Script: "exit 0", Timeout: s.p.opts.deadlines.Lookup})
		switch {
		case err == nil && res.ExitCode == 0:
			return nil
		case err == nil:
			bad++
			err = &Error{Code: port.CodeFailedPrecondition, Outcome: port.OutcomeUnchanged,
				Reason: fmt.Sprintf("a shell answered exit code %d to `exit 0`", res.ExitCode)}
		case ctx.Err() == nil:
			bad = 0
		}
		if ctx.Err() == nil || last == nil {
			last = err // what failed says more than that time ran out
		}
		if hopeless(port.CodeOf(err)) || bad >= badExits || s.ended(ctx) {
			return last
		}
		if !wait.wait(ctx, 0) {
			return &Error{Code: codeOfEnd(ctx), Op: op.name, Outcome: port.OutcomeUnchanged, Err: last}
		}
	}
}

// hopeless codes do not change by asking again.
func hopeless(c port.Code) bool {
	switch c {
	case port.CodeUnsupported, port.CodeUnauthenticated, port.CodePermissionDenied, port.CodeInvalidArgument,
		port.CodeNotImplemented, port.CodeForeign:
		return true
	}
	return false
}

// ended reports whether the vendor says, now, that the sandbox will not run.
func (s *Sandbox) ended(ctx context.Context) bool {
	i, err := s.p.table.Inspect(ctx, s.ID())
	if err != nil {
		return port.CodeOf(err) == port.CodeNotFound
	}
	s.saw(i)
	switch i.State {
	case contract.StateFailed, contract.StateStopped, contract.StateGone:
		return i.Freshness == contract.FreshnessLive
	}
	return false
}

// diagnose gathers what it can; its own failures are listed and replace nothing.
func (s *Sandbox) diagnose(ctx context.Context) Diagnostics {
	ctx, cancel := detached(ctx, limitLookup, s.p.opts.deadlines.Lookup)
	defer cancel()
	var d Diagnostics
	i, err := s.p.table.Inspect(ctx, s.ID())
	if err != nil {
		d.Problems = append(d.Problems, s.p.redact().String("inspect: "+err.Error()))
	} else {
		d.State, d.NativeState, d.ExitCode, d.Restarts = i.State, i.NativeState, i.ExitCode, i.Restarts
		d.StatusReason = s.p.redact().String(i.StatusReason)
	}
	if s.p.table.Logs == nil || !s.p.callable(contract.CapabilityLogs) {
		return d
	}
	tail := int64(200)
	stream, err := s.p.table.Logs(ctx, s.ID(), contract.LogsRequest{Tail: &tail})
	if err != nil {
		d.Problems = append(d.Problems, s.p.redact().String("logs: "+err.Error()))
		return d
	}
	raw, err := io.ReadAll(io.LimitReader(stream, logRead))
	if err != nil {
		d.Problems = append(d.Problems, s.p.redact().String("logs: "+err.Error()))
	}
	if err := stream.Close(); err != nil {
		d.Problems = append(d.Problems, s.p.redact().String("logs: "+err.Error()))
	}
	d.LogTail = string(s.p.redact().RedactTail(raw, logTail))
	return d
}
