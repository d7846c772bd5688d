package wire

import (
	"context"
	"errors"

	"github.com/agentworkforce/sbx/port"
)

// Effect says whether a vendor call can change anything. It decides what may
// be sent twice and what a failure means.
type Effect int

const (
	// Mutate is a call that may change the vendor's side. It is the zero value,
	// so a call whose effect was forgotten is treated with care.
	Mutate Effect = iota
	// Read is a call that changes nothing and may be repeated.
	Read
)

// String returns "mutate" or "read".
func (e Effect) String() string {
	if e == Read {
		return "read"
	}
	return "mutate"
}

// outcome is what a failure leaves behind, given whether bytes of the request
// may have left this process.
func (e Effect) outcome(sent bool) port.Outcome {
	if e == Read || !sent {
		return port.OutcomeUnchanged
	}
	return port.OutcomeUnknown
}

// ContextError turns an ended context into a *port.Error: CodeTimeout when its
// deadline passed, CodeCanceled when the caller gave up. It returns nil while
// ctx is live. Adapters that do not speak HTTP use it with the outcome they
// know: OutcomeUnchanged when nothing was sent or the call only reads,
// OutcomeUnknown otherwise.
func ContextError(ctx context.Context, op string, outcome port.Outcome) error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	e := &port.Error{Code: port.CodeCanceled, Op: op, Outcome: outcome,
		Reason: "the caller gave up", Err: err}
	if errors.Is(err, context.DeadlineExceeded) {
		e.Code, e.Reason = port.CodeTimeout, "the operation's deadline passed"
	}
	return e
}
