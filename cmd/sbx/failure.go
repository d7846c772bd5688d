package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/secretscan"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/spf13/cobra"
)

// Exit codes that are not those of an error code; schema/errors.json has all.
const (
	exitDone       = 0
	exitFailed     = 1
	exitUsage      = 2
	exitUnverified = 3
	exitUnknown    = 7
	// exitSbx is every failure of sbx where the exit code is otherwise the
	// command's: exec, run, ssh.
	exitSbx = 125
)

// usageError: the program was called wrongly and did nothing.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitError carries an exit code whose reason has been printed already.
type exitError struct{ code int }

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// shownError is a failure that is in the JSON already: only its words for a
// person are still owed.
type shownError struct{ err error }

func (e shownError) Error() string { return e.err.Error() }
func (e shownError) Unwrap() error { return e.err }

// The exit code of a verb with this annotation is the command's.
const annotationExit = "exit"

func commandExit() map[string]string { return map[string]string{annotationExit: "command"} }

// failureView is a failure in JSON.
type failureView struct {
	Code       string   `json:"code"` // of schema/errors.json, or usage
	Exit       int      `json:"exit"` // what schema/errors.json gives it, also where sbx exits with 125
	Message    string   `json:"message"`
	Op         string   `json:"op,omitempty"`
	Provider   string   `json:"provider,omitempty"`
	ID         string   `json:"id,omitempty"`
	Capability string   `json:"capability,omitempty"`
	Support    string   `json:"support,omitempty"`
	Reason     string   `json:"reason,omitempty"`
	Outcome    string   `json:"outcome,omitempty"`
	Retryable  bool     `json:"retryable"`
	Supporting []string `json:"supportedBy,omitempty"` // providers that have the capability
	Signal     string   `json:"signal,omitempty"`      // what ended it
	Next       []string `json:"next,omitempty"`        // what to do about it
}

// failure describes err.
func (a *app) failure(ctx context.Context, err error) failureView {
	v := failureView{Exit: exitCode(err), Message: err.Error(), Code: string(port.CodeOf(err)), Next: advice(err)}
	if _, ok := errors.AsType[usageError](err); ok {
		// It may repeat an argument, and that may be a key that was put in the wrong
		// place. Of what was done nothing is hidden: an ID may have to be cleaned up.
		v.Code, v.Message = "usage", secretscan.Hide(v.Message, secretscan.Options{})
	}
	if v.Code == "" {
		v.Code = "failed"
	}
	if e, ok := errors.AsType[*port.Error](err); ok {
		v.Op, v.Provider, v.ID, v.Reason = e.Op, e.Provider, e.ID, e.Reason
		v.Capability, v.Support, v.Outcome, v.Retryable = e.Capability, e.Support, string(e.Outcome), e.Retryable
	}
	if v.Capability != "" && v.Code == string(port.CodeUnsupported) {
		v.Supporting = a.supporting(contract.Capability(v.Capability), v.Provider)
	}
	if e, ok := interruption(ctx); ok {
		v.Signal = e.sig.String()
	}
	return v
}

// supporting are the other providers, by ID, that say they have c.
func (a *app) supporting(c contract.Capability, but string) []string {
	out := []string{}
	for _, d := range a.all() {
		if d.ID != but && d.Manifest.Claims[string(c)].Support == contract.SupportSupported {
			out = append(out, d.ID)
		}
	}
	return out
}

// report prints a failure and returns the exit code.
func (a *app) report(ctx context.Context, cmd *cobra.Command, err error) int {
	if exit, ok := err.(exitError); ok { // joined with something else it would hide that
		return exit.code
	}
	if unread(err) {
		return exitPipe
	}
	v := a.failure(ctx, err)
	_, shown := errors.AsType[shownError](err)
	if a.json && !shown {
		if printErr := printJSON(a.out, map[string]failureView{"error": v}); printErr != nil {
			v.Message += "; the JSON could not be printed: " + printErr.Error()
		}
	}
	exit := v.Exit
	ofCommand := cmd != nil && cmd.Annotations[annotationExit] != ""
	text := "sbx: " + strings.ReplaceAll(v.Message, "\n", "\nsbx: ")
	if v.Signal != "" {
		text += " (" + v.Signal + ")"
	}
	if ofCommand {
		text += fmt.Sprintf(" [%s, %d]", v.Code, v.Exit)
		exit = exitSbx
	}
	if v.Capability != "" && v.Code == string(port.CodeUnsupported) {
		text += "\nsbx: " + v.Capability + " is supported by " + orNone(v.Supporting)
	}
	for _, next := range v.Next {
		text += "\nsbx: " + next
	}
	if _, printErr := fmt.Fprintln(a.err, diag.PrintableLines(text)); printErr != nil && exit == exitDone {
		return exitFailed
	}
	return exit
}

func orNone(ids []string) string {
	if len(ids) == 0 {
		return "no other provider that is built in"
	}
	return strings.Join(ids, ", ")
}

// exitCode turns an error into the exit code schema/errors.json gives it.
func exitCode(err error) int {
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*ledger.InvalidError](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*sandbox.UnverifiedError](err); ok {
		return exitUnverified
	}
	return port.CodeOf(err).ExitCode()
}
