package docker

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// do makes one engine call and turns its failure into a *port.Error. It knows
// whether the request left this process, which decides what a lost connection
// means for a change.
func (a *Adapter) do(ctx context.Context, op, id string, effect wire.Effect, call func(context.Context) error) error {
	if err := a.negotiate(ctx, op, id); err != nil {
		return err
	}
	var sent atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) },
		GotConn: func(g httptrace.GotConnInfo) { a.used(g.Conn) }})
	var pause atomic.Int64
	if err := call(context.WithValue(traced, pauseKey{}, &pause)); err != nil {
		err = a.translate(ctx, op, id, effect, sent.Load(), err)
		if c := port.CodeOf(err); c == port.CodeUnavailable || c == port.CodeOutcomeUnknown {
			a.forget()
		}
		if e, ok := errors.AsType[*port.Error](err); ok && e.Code == port.CodeRateLimited {
			e.RetryAfter = time.Duration(pause.Load())
		}
		return err
	}
	return nil
}

// pauseKey finds where a call wants to know how long the engine, or what stands
// before it, says to wait.
type pauseKey struct{}

// notePause keeps that from a response: the client library drops headers.
func notePause(r *http.Response) {
	if r == nil || r.Request == nil || r.StatusCode != http.StatusTooManyRequests {
		return
	}
	if pause, ok := r.Request.Context().Value(pauseKey{}).(*atomic.Int64); ok {
		pause.Store(int64(wire.RetryAfter(r.Header, time.Now())))
	}
}

// negotiate agrees on the API version before the first call, so that a failure
// to reach the engine is never taken for a change that may have happened.
func (a *Adapter) negotiate(ctx context.Context, op, id string) error {
	if a.cfg.APIVersion != "" || a.negotiated.Load() {
		return nil
	}
	if _, err := a.cli.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true}); err != nil {
		return a.translate(ctx, op, id, wire.Read, false, err)
	}
	a.negotiated.Store(true)
	return nil
}

// code is the adapter's one table from the engine's answers to port codes. The
// engine's answers are told apart by HTTP status, never by text; "" is not
// mapped.
func code(err error) port.Code {
	switch {
	case cerrdefs.IsNotFound(err):
		return port.CodeNotFound
	case cerrdefs.IsConflict(err), cerrdefs.IsFailedPrecondition(err):
		return port.CodeFailedPrecondition
	case cerrdefs.IsAlreadyExists(err):
		return port.CodeAlreadyExists
	case cerrdefs.IsInvalidArgument(err), cerrdefs.IsOutOfRange(err):
		return port.CodeInvalidArgument
	case cerrdefs.IsUnauthorized(err):
		return port.CodeUnauthenticated
	case cerrdefs.IsPermissionDenied(err):
		return port.CodePermissionDenied
	case cerrdefs.IsResourceExhausted(err):
		return port.CodeRateLimited
	case cerrdefs.IsNotImplemented(err):
		return port.CodeUnsupported
	}
	return ""
}

func (a *Adapter) translate(ctx context.Context, op, id string, effect wire.Effect, sent bool, err error) error {
	if e, ok := errors.AsType[*port.Error](err); ok {
		return e
	}
	e := &port.Error{Op: op, Provider: a.variant.ProviderID, ID: id, Outcome: port.OutcomeUnchanged, Err: err}
	if c := code(err); c != "" {
		e.Code = c
		return e
	}
	if effect == wire.Mutate && sent {
		e.Outcome = port.OutcomeUnknown
	}
	if ended, ok := errors.AsType[*port.Error](wire.ContextError(ctx, op, e.Outcome)); ok {
		ended.Provider, ended.ID = a.variant.ProviderID, id
		return ended
	}
	switch {
	case e.Outcome == port.OutcomeUnknown:
		e.Code, e.Reason = port.CodeOutcomeUnknown, "the engine did not say whether it happened"
	case sent:
		e.Code, e.Reason = port.CodeUnavailable, "the engine failed to answer"
	default:
		e.Code, e.Reason, e.Retryable = port.CodeUnavailable, "the engine cannot be reached", true
	}
	return e
}

// errorf makes an error of this adapter's own finding.
func (a *Adapter) errorf(op, id string, c port.Code, outcome port.Outcome, format string, args ...any) *port.Error {
	return &port.Error{Code: c, Op: op, Provider: a.variant.ProviderID, ID: id, Outcome: outcome,
		Reason: fmt.Sprintf(format, args...)}
}

// refuse says that a request can never work; nothing was sent.
func (a *Adapter) refuse(op, id, format string, args ...any) *port.Error {
	return a.errorf(op, id, port.CodeInvalidArgument, port.OutcomeUnchanged, format, args...)
}

// unsupported says that the engine cannot do what the request asks for.
func (a *Adapter) unsupported(op string, capability, reason string) *port.Error {
	e := a.errorf(op, "", port.CodeUnsupported, port.OutcomeUnchanged, "%s", reason)
	e.Capability = capability
	return e
}
