package port

import (
	"errors"
	"strings"
	"time"
)

// Code classifies an error. Programs act on the code, never on message text.
// The constants are generated from schema/errors.json.
type Code string

// Outcome says what is known about the effect of an operation that failed.
type Outcome string

const (
	// OutcomeNotStated is the zero value: the error says nothing about effects.
	OutcomeNotStated Outcome = ""
	// OutcomeUnchanged means the vendor's side was definitely not changed.
	OutcomeUnchanged Outcome = "unchanged"
	// OutcomeUnknown means the effect may or may not have happened.
	OutcomeUnknown Outcome = "unknown"
	// OutcomeDone means the effect happened although the call failed afterwards.
	OutcomeDone Outcome = "done"
)

// Error is the one error type that crosses the contract, in both directions.
// sandbox.Error is an alias of it.
type Error struct {
	Code       Code
	Op         string  // operation, as named in the contract: "Create", "Exec", ...
	Provider   string  // provider ID, empty when not known at this level
	ID         string  // native ID of the resource, empty when there is none
	Capability string  // capability ID, set when Code is CodeUnsupported
	Support    string  // the manifest's support value, set when Code is CodeUnsupported
	Reason     string  // one plain sentence, safe to show
	Outcome    Outcome // what is known about the effect
	Retryable  bool    // the vendor classified the failure as transient and nothing was changed
	RetryAfter time.Duration
	Err        error
}

// Error renders provider, operation, id, code and reason. It never contains a
// secret as long as Reason and the wrapped error do not; wire.Redactor scrubs both.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Provider != "" {
		b.WriteString(e.Provider + ": ")
	}
	if e.Op != "" {
		b.WriteString(e.Op)
		if e.ID != "" {
			b.WriteString(" " + e.ID)
		}
		b.WriteString(": ")
	}
	b.WriteString(string(e.Code))
	if e.Capability != "" {
		b.WriteString(" (" + e.Capability)
		if e.Support != "" {
			b.WriteString(": " + e.Support)
		}
		b.WriteString(")")
	}
	if e.Reason != "" {
		b.WriteString(": " + e.Reason)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is matches a target *Error that carries nothing but a Code, so that
// errors.Is(err, port.Is(port.CodeNotFound)) reads as intended.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Op == "" && t.ID == "" && t.Err == nil && t.Code == e.Code
}

// Is returns a target for errors.Is that matches any *Error with this code.
func Is(code Code) error { return &Error{Code: code} }

// CodeOf returns the code of the outermost *Error in err's chain, or "" when
// there is none.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// OutcomeOf returns the outcome of the outermost *Error in err's chain.
func OutcomeOf(err error) Outcome {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Outcome
	}
	return OutcomeNotStated
}

// Errorf-like constructors stay out on purpose: an *Error literal shows its
// fields where it is made.

// NotImplemented is what a scaffolded method answers until somebody writes it.
// Conformance reports it as unknown(not-implemented), never as a pass or a refusal.
func NotImplemented(op string) error {
	return &Error{Code: CodeNotImplemented, Op: op, Outcome: OutcomeUnchanged,
		Reason: "this adapter method has not been written yet"}
}
