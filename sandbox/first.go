package sandbox

import (
	"context"
	"fmt"
	"slices"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// Requirements are what a provider must have to be taken.
type Requirements struct {
	Capabilities []contract.Capability
	// Isolation lists what is good enough; empty takes any. A provider whose
	// isolation is unknown never qualifies for a list.
	Isolation []contract.Isolation
}

// NoProviderError says why each provider was passed over, in their order.
type NoProviderError struct {
	Passed []PassedOver
}

// PassedOver is one provider that was not taken.
type PassedOver struct {
	Provider string
	Err      error
}

func (e *NoProviderError) Error() string {
	msg := "no provider can be used"
	for _, p := range e.Passed {
		msg += "; " + p.Provider + ": " + p.Err.Error()
	}
	return msg
}

// Unwrap returns the reasons.
func (e *NoProviderError) Unwrap() []error {
	out := make([]error, 0, len(e.Passed))
	for _, p := range e.Passed {
		out = append(out, p.Err)
	}
	return out
}

// OpenFirst opens the first provider, in the order given, that is configured and
// has what is required. It compares nothing else: there is no ranking. A provider
// whose credentials are missing is passed over; one whose settings are wrong is
// an error, because somebody meant to use it.
func OpenFirst(ctx context.Context, drivers []Driver, need Requirements, opts ...Option) (*Provider, error) {
	p, _, err := openFrom(ctx, candidates(drivers, opts, nil), need, &NoProviderError{})
	return p, err
}

// Candidate is one provider to try, with its own way to open it and its own
// request.
type Candidate struct {
	Driver  Driver
	Options []Option
	Create  []CreateOption
}

func candidates(drivers []Driver, opts []Option, create []CreateOption) []Candidate {
	out := make([]Candidate, 0, len(drivers))
	for _, d := range drivers {
		out = append(out, Candidate{Driver: d, Options: opts, Create: create})
	}
	return out
}

// openFrom opens the first suitable candidate. The rest starts with it.
func openFrom(ctx context.Context, rest []Candidate, need Requirements, passed *NoProviderError) (*Provider, []Candidate, error) {
	for i, c := range rest {
		p, err := Open(ctx, c.Driver, c.Options...)
		switch {
		case err == nil:
			if err = p.meets(need); err == nil {
				return p, rest[i:], nil
			}
			err = join(err, p.Close())
		case port.CodeOf(err) == port.CodeInvalidArgument || ctx.Err() != nil:
			return nil, nil, err
		}
		passed.Passed = append(passed.Passed, PassedOver{Provider: c.Driver.ID, Err: err})
	}
	return nil, nil, passed
}

func (p *Provider) meets(need Requirements) error {
	op := operation{name: "OpenFirst", effect: contract.EffectRead}
	for _, c := range need.Capabilities {
		if !p.callable(c) {
			return p.unsupported(op, c)
		}
	}
	if has := p.driver.Manifest.Isolation; len(need.Isolation) > 0 &&
		(has == contract.IsolationUnknown || !slices.Contains(need.Isolation, has)) {
		return p.refuse(op, port.CodeUnsupported, fmt.Sprintf("isolation is %s", first(string(has), "unknown")))
	}
	return nil
}

// CreateFirst opens the first suitable provider and creates a sandbox there. It
// goes on to the next provider only when the create failed for a classified
// reason that left nothing behind: refused credentials, quota, a rate limit, an
// endpoint that cannot be reached, something unsupported. Close the provider.
func CreateFirst(ctx context.Context, drivers []Driver, need Requirements, opts []Option, create ...CreateOption) (*Provider, *Sandbox, error) {
	return CreateAmong(ctx, candidates(drivers, opts, create), need)
}

// CreateAmong is CreateFirst for providers that are opened differently or asked
// for different things: an image is called otherwise at every vendor.
func CreateAmong(ctx context.Context, rest []Candidate, need Requirements) (*Provider, *Sandbox, error) {
	passed := &NoProviderError{}
	for {
		p, from, err := openFrom(ctx, rest, need, passed)
		if err != nil {
			return nil, nil, err
		}
		s, err := p.Create(ctx, from[0].Create...)
		if err == nil {
			return p, s, nil
		}
		closeErr := p.Close()
		if !fallsThrough(err) || closeErr != nil || ctx.Err() != nil {
			return nil, nil, join(err, closeErr)
		}
		passed.Passed = append(passed.Passed, PassedOver{Provider: p.driver.ID, Err: err})
		rest = from[1:]
	}
}

// fallsThrough: only an unwrapped *Error counts; a joined one says that cleaning
// up failed as well.
func fallsThrough(err error) bool {
	e, ok := err.(*Error)
	if !ok || e.Outcome != port.OutcomeUnchanged {
		return false
	}
	switch e.Code {
	case port.CodeUnauthenticated, port.CodePermissionDenied, port.CodeQuotaExceeded, port.CodeRateLimited,
		port.CodeUnavailable, port.CodeUnsupported:
		return true
	}
	return false
}
