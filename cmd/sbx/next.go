package main

import (
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// adviceError is a failure with what to do about it.
type adviceError struct {
	err  error
	next string
}

func (e adviceError) Error() string { return e.err.Error() }
func (e adviceError) Unwrap() error { return e.err }

// advice are the next steps that the parts of a failure name, each once.
func advice(err error) []string {
	var out []string
	each := func(err error) bool {
		if e, ok := err.(adviceError); ok && !slices.Contains(out, e.next) {
			out = append(out, e.next)
		}
		return true
	}
	walk(err, each)
	return out
}

// walk visits an error and what it wraps while fn says so. It returns whether fn
// has said so of everything.
func walk(err error, fn func(error) bool) bool {
	if err == nil {
		return true
	}
	if !fn(err) {
		return false
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return walk(e.Unwrap(), fn)
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			if !walk(part, fn) {
				return false
			}
		}
	}
	return true
}

// absent says where the things are that there are.
func absent(err error, verb string) error {
	if port.CodeOf(err) != port.CodeNotFound {
		return err
	}
	return adviceError{err, verb + " shows which there are"}
}

// advised says what to do when a sandbox refused.
func advised(sb *sandbox.Sandbox, err error) error {
	switch code, state := port.CodeOf(err), sb.Instance().State; {
	case code == port.CodeForeign:
		return adviceError{err, fmt.Sprintf("sbx adopt %s makes it yours", sb.Ref())}
	case code != port.CodeFailedPrecondition && code != port.CodeUnavailable:
	case state == contract.StateStopped:
		return adviceError{err, fmt.Sprintf("it is stopped: sbx start %s", sb.Ref())}
	case state == contract.StateSuspended:
		return adviceError{err, fmt.Sprintf("it is suspended: sbx resume %s", sb.Ref())}
	}
	return err
}

// unreached makes of a removal whose provider did not answer what it is: nobody
// knows what is there. An answer, such as a refusal, stays what it is, and so does
// an acknowledged destroy without a proof.
func (a *app) unreached(err error, verb, ref string) error {
	if _, ok := errors.AsType[usageError](err); ok {
		return err
	}
	if _, ok := errors.AsType[*sandbox.UnverifiedError](err); ok {
		return err
	}
	e, ok := errors.AsType[*port.Error](err)
	if !ok {
		return err
	}
	switch e.Code {
	case port.CodeUnavailable, port.CodeTimeout, port.CodeCanceled, port.CodeRateLimited:
	case port.CodeProvider:
		if e.Outcome == port.OutcomeUnchanged && e.Op == "Destroy" {
			return err
		}
	case port.CodeFailedPrecondition:
		if e.Op != "Open" {
			return err
		}
	default:
		return err
	}
	unknown := &port.Error{Code: port.CodeOutcomeUnknown, Op: "Destroy", Provider: e.Provider, ID: e.ID, Outcome: port.OutcomeUnknown,
		Reason: "nobody knows whether it is still there", Err: err}
	return adviceError{unknown, fmt.Sprintf("ask again when %s answers: %s %s", or(e.Provider, "the provider"), verb, ref)}
}

// exitPipe is what a program exits with that SIGPIPE ends. sbx ignores the signal,
// so that what it owns is torn down first.
const exitPipe = 128 + 13

// mattersError: that something could not be printed had a consequence, so it is
// told, also when nobody reads the output.
type mattersError struct{ err error }

func (e mattersError) Error() string { return e.err.Error() }
func (e mattersError) Unwrap() error { return e.err }

// unread reports whether a failure is nothing but that nobody reads the output any
// more, and that the command which wrote it was ended for that.
func unread(err error) bool {
	closed := false
	only := walk(err, func(part error) bool {
		switch e := part.(type) {
		case syscall.Errno:
			closed = closed || e == syscall.EPIPE
			return e == syscall.EPIPE
		case mattersError, *sandbox.UnverifiedError, usageError:
			return false
		case *port.Error:
			return e.Code == port.CodeCanceled && e.Op == "Stream" && e.Err == nil
		}
		return wraps(part)
	})
	return only && closed
}

func wraps(err error) bool {
	switch err.(type) {
	case interface{ Unwrap() error }, interface{ Unwrap() []error }:
		return true
	}
	return false
}
