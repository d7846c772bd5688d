package conformance

import (
	"context"
	"errors"
	"fmt"

	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/schema"
)

// check is a row of the list with the function that proves it.
type check struct {
	schema.Check
	proof
	order int
}

// proof says how a check is proven. The zero value is a check that nobody has
// written yet.
type proof struct {
	// run returns nil when the check's sentence held. A *verdictError is a
	// verdict of its own; any other error means that it did not hold.
	run func(ctx context.Context, t *trial) error
	// needs are the IDs of checks that have to pass first.
	needs []string
	// method is the operation of the adapter that the check is mostly about.
	method string
	// offline checks make no call to the vendor.
	offline bool
	// last checks run after everything else has ended and been torn down.
	last bool
}

// verdictError ends a check with another verdict than failed.
type verdictError struct {
	verdict Verdict
	reason  Reason
	message string
}

func (e *verdictError) Error() string { return e.message }

// unknown ends a check as unknown.
func unknown(reason Reason, format string, args ...any) error {
	return &verdictError{verdict: Unknown, reason: reason, message: fmt.Sprintf(format, args...)}
}

// refused ends a check as refused-as-declared.
func refused(format string, args ...any) error {
	return &verdictError{verdict: RefusedAsDeclared, message: fmt.Sprintf(format, args...)}
}

// noted ends a check as passed, with a remark.
func noted(format string, args ...any) error {
	return &verdictError{verdict: Passed, message: fmt.Sprintf(format, args...)}
}

// judge turns what a check returned into a verdict.
func judge(ctx context.Context, err error) (Verdict, Reason, string) {
	if err == nil {
		return Passed, "", ""
	}
	if v, ok := errors.AsType[*verdictError](err); ok {
		return v.verdict, v.reason, v.message
	}
	if port.CodeOf(err) == port.CodeNotImplemented {
		return Unknown, NotImplemented, err.Error()
	}
	if ctx.Err() != nil && errors.Is(context.Cause(ctx), errCheckDeadline) {
		return Unknown, TimedOut, "the check's deadline passed: " + err.Error()
	}
	return Failed, "", err.Error()
}

// deadlineError is why a check's context ended.
type deadlineError struct{}

func (deadlineError) Error() string { return "the check's deadline passed" }

// Is makes it a context.DeadlineExceeded, as the library expects of a deadline.
func (deadlineError) Is(target error) bool { return target == context.DeadlineExceeded }

var errCheckDeadline error = deadlineError{}

// wantCode says what is wrong when err does not have the code.
func wantCode(err error, want port.Code, what string) error {
	switch {
	case err == nil:
		return fmt.Errorf("%s succeeded; want %s", what, want)
	case port.CodeOf(err) == port.CodeNotImplemented && want != port.CodeNotImplemented:
		return err
	case port.CodeOf(err) != want:
		return fmt.Errorf("%s: got code %q, want %s: %w", what, port.CodeOf(err), want, err)
	}
	return nil
}

// registry joins the list of checks with their proofs. A proof without a row is
// a mistake of the suite.
func registry() ([]check, error) {
	rows, err := schema.Checks()
	if err != nil {
		return nil, err
	}
	proofs := map[string]proof{}
	for _, family := range []map[string]proof{
		shapeChecks(), createChecks(), resourceChecks(), readyChecks(), execChecks(), execTimeChecks(), cleanupChecks(),
		mustFireChecks(), mustNotFireChecks(), listChecks(), fileChecks(), fileManageChecks(), streamChecks(),
		ptyChecks(), stateChecks(), snapshotChecks(), forkChecks(), reachChecks(), egressChecks(), networkChecks(), extentChecks(), honestyChecks(), truthChecks(), faultChecks(), pageChecks(), limitChecks(), secretChecks(),
	} {
		for id, p := range family {
			if _, twice := proofs[id]; twice {
				return nil, fmt.Errorf("conformance: check %s is proven twice", id)
			}
			proofs[id] = p
		}
	}
	out := make([]check, 0, len(rows))
	for i, row := range rows {
		p := proofs[row.ID]
		delete(proofs, row.ID)
		if row.Implemented != (p.run != nil) {
			return nil, fmt.Errorf("conformance: check %s: the list says implemented %t", row.ID, row.Implemented)
		}
		out = append(out, check{Check: row, proof: withDefaults(row, p), order: i})
	}
	for id := range proofs {
		return nil, fmt.Errorf("conformance: check %s is not in the list", id)
	}
	return out, nil
}

// withDefaults lets every check that needs a vendor wait for a usable sandbox,
// and every teardown wait for the control that must not fire.
func withDefaults(row schema.Check, p proof) proof {
	switch row.Group {
	case "shape":
		if !p.offline && row.ID != "shape.manifest-matches" {
			p.needs = append(p.needs, "shape.manifest-matches")
		}
		if row.ID == "shape.undeclared-refuses" || row.Capability != "core" {
			p.needs = append(p.needs, "ready.functional")
		}
	case "create":
		p.needs = append(p.needs, "shape.manifest-matches")
		if row.ID != "create.returns-id" {
			p.needs = append(p.needs, "create.returns-id")
		}
	case "ready":
		p.needs = append(p.needs, "create.returns-id")
	case "teardown-must-fire":
		p.needs = append(p.needs, "ready.functional", "must-not-fire.unsaved-work")
	default:
		p.needs = append(p.needs, "ready.functional")
	}
	return p
}
