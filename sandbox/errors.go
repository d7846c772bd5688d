package sandbox

import (
	"context"
	"errors"
	"slices"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// fail makes err an *Error that names provider, operation and ID, says what is
// known about the effect, and shows no secret. ctx is the one the operation ran
// under: its cause names the deadline that fired.
func (p *Provider) fail(ctx context.Context, op operation, err error) error {
	if err == nil {
		return nil
	}
	out := describe(ctx, op.effect, err)
	out.Provider = first(out.Provider, p.driver.ID)
	out.Op = first(out.Op, op.name)
	out.ID = first(out.ID, op.id)
	return p.redact().Error(out)
}

func describe(ctx context.Context, effect contract.Effect, err error) *Error {
	known, typed := errors.AsType[*Error](err)
	var out Error
	switch {
	case typed:
		out = *known
		if error(known) != err { // something wraps it; keep what it says
			out = Error{Code: known.Code, Op: known.Op, ID: known.ID, Capability: known.Capability,
				Support: known.Support, Outcome: known.Outcome, Retryable: known.Retryable,
				RetryAfter: known.RetryAfter, Err: err}
		}
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		out = Error{Code: port.CodeTimeout, Err: err}
		if errors.Is(err, context.Canceled) && !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			out.Code = port.CodeCanceled
		}
	case effect == contract.EffectRead:
		out = Error{Code: port.CodeUnavailable, Err: err}
	default:
		out = Error{Code: port.CodeOutcomeUnknown, Err: err}
	}
	if out.Outcome == port.OutcomeNotStated {
		out.Outcome = impliedOutcome(effect, out.Code)
	}
	if out.Code == port.CodeTimeout || out.Code == port.CodeCanceled {
		if why := whyEnded(ctx); why != "" {
			out.Reason = why
		}
	}
	return &out
}

// whyEnded says in words what ended ctx, "" while it is live.
func whyEnded(ctx context.Context) string {
	cause := context.Cause(ctx)
	if fired, ok := errors.AsType[*firedError](cause); ok {
		return fired.Error()
	}
	switch {
	case errors.Is(cause, context.DeadlineExceeded):
		return "the caller's deadline passed"
	case cause != nil:
		return "the caller gave up"
	}
	return ""
}

// impliedOutcome is what a code alone says about a failed operation. Only codes
// that can be given before anything was done mean unchanged for a change.
func impliedOutcome(effect contract.Effect, code port.Code) port.Outcome {
	if effect == contract.EffectRead {
		return port.OutcomeUnchanged
	}
	switch code {
	case port.CodeNotFound, port.CodeAlreadyExists, port.CodeUnsupported, port.CodeUnauthenticated,
		port.CodePermissionDenied, port.CodeInvalidArgument, port.CodeFailedPrecondition,
		port.CodeQuotaExceeded, port.CodeRateLimited, port.CodeWorkdirUnusable, port.CodeForeign,
		port.CodeNotImplemented:
		return port.OutcomeUnchanged
	}
	return port.OutcomeUnknown
}

// refuse is an error of our own, before anything was sent.
func (p *Provider) refuse(op operation, code port.Code, reason string) *Error {
	return &Error{Code: code, Op: op.name, Provider: p.driver.ID, ID: op.id, Outcome: port.OutcomeUnchanged,
		Reason: p.redact().String(reason)}
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// UnverifiedError says that a destroy ended without proof of absence: the
// vendor acknowledged it, or not even that. Report holds what is known.
type UnverifiedError struct {
	Report DestroyReport
	Err    *Error
}

func (e *UnverifiedError) Error() string { return e.Err.Error() }

// Unwrap returns the *Error.
func (e *UnverifiedError) Unwrap() error { return e.Err }

// NotReadyError says that a sandbox was created and never ran a command. Its
// cause is the first failure; Diagnostics never replace it.
type NotReadyError struct {
	Diagnostics Diagnostics
	Err         *Error
}

func (e *NotReadyError) Error() string { return e.Err.Error() }

// Unwrap returns the *Error.
func (e *NotReadyError) Unwrap() error { return e.Err }

// join is errors.Join that leaves a single error as it is, so that its type
// still says what it is.
func join(errs ...error) error {
	errs = slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	return errors.Join(errs...)
}
