package sandbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
)

// creation is anything that brings something into being at a vendor: a create,
// a fork, a capture.
type creation[T any] struct {
	op          operation
	kind        ledger.Kind
	name        string
	parent      string // native ID of what it is made from
	disposition ledger.Disposition
	reapAfter   time.Duration     // from now; 0 is none
	reapAt      time.Time         // instead, when set
	labels      map[string]string // of the ledger's record
	secrets     []string          // names
	call        func(ctx context.Context, tags contract.Tags) (T, error)
	id          func(T) string
	leftovers   func(T) []contract.Intermediate                                  // may be nil
	find        func(ctx context.Context, tags contract.Tags) (T, string, error) // may be nil; "" is not found
	settled     func()                                                           // called once when nothing goes on any more; may be nil
}

// made is a thing that exists and is recorded.
type made[T any] struct {
	value  T
	target target
	extras []target
}

// create does what every creation owes: the intent is durable before the vendor
// is called; the call runs under its own deadline and is never aborted by the
// caller; a caller that leaves gets its answer at once, and what arrives late is
// recorded, destroyed and looked for; an ID beside an error is destroyed; an
// unknown outcome is looked for by its tags.
func create[T any](ctx context.Context, p *Provider, c creation[T]) (made[T], error) {
	var none made[T]
	if c.settled == nil {
		c.settled = func() {}
	}
	handedOver := false
	defer func() {
		if !handedOver {
			c.settled()
		}
	}()
	if err := p.admit(c.op); err != nil {
		return none, err
	}
	if ctx.Err() != nil {
		return none, p.fail(ctx, c.op, &Error{Code: port.CodeCanceled, Outcome: port.OutcomeUnchanged, Err: ctx.Err()})
	}
	tags, t, err := p.intend(ctx, c.op, intention{kind: c.kind, name: c.name, parent: c.parent,
		disposition: c.disposition, reapAfter: c.reapAfter, reapAt: c.reapAt, labels: c.labels, secrets: c.secrets})
	if err != nil {
		return none, err
	}
	if err := p.begin(c.op); err != nil {
		return none, join(err, p.book.append(ctx, t.record(ledger.EventCreateFailed, "", "the provider was closed")))
	}
	type answer struct {
		m   made[T]
		err error
	}
	answers, left := make(chan answer), make(chan struct{})
	handedOver = true
	go func() {
		defer p.settling.Done()
		defer c.settled()
		m, err := attempt(context.WithoutCancel(ctx), p, c, tags, t)
		select {
		case answers <- answer{m, err}:
		case <-left:
			p.late(c.op, m.target, m.extras, err)
		}
	}()
	select {
	case a := <-answers:
		return a.m, a.err
	case <-ctx.Done():
		close(left)
		return none, p.fail(ctx, c.op, &Error{Code: codeOfEnd(ctx), Outcome: port.OutcomeUnknown, Err: &lateError{cause: ctx.Err()}})
	}
}

func codeOfEnd(ctx context.Context) port.Code {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return port.CodeTimeout
	}
	return port.CodeCanceled
}

type lateError struct{ cause error }

func (e *lateError) Error() string {
	return "the request goes on, and what it makes will be destroyed: " + e.cause.Error()
}
func (e *lateError) Unwrap() error { return e.cause }

// late disposes of what a creation made after its caller had left.
func (p *Provider) late(op operation, t target, extras []target, err error) {
	if t.id != "" && err == nil {
		_, err = p.destroyAll(context.Background(), t, extras)
	}
	e := Event{Kind: EventLate, Op: op.name, ID: t.id, Code: port.CodeOf(err), Outcome: port.OutcomeOf(err)}
	if err != nil {
		e.Detail = err.Error()
	}
	p.emit(e)
}

// attempt calls the vendor and settles what came of it. When it returns an
// error, whatever it made has been destroyed, or is owed and recorded so.
func attempt[T any](ctx context.Context, p *Provider, c creation[T], tags contract.Tags, t target) (made[T], error) {
	cctx, cancel := detached(ctx, limitProvision, p.opts.deadlines.Provision)
	defer cancel()
	var value T
	err := p.observed(c.op, func() error {
		var err error
		value, err = c.call(cctx, tags)
		if err == nil && c.id(value) == "" {
			err = &Error{Code: port.CodeOutcomeUnknown, Outcome: port.OutcomeUnknown, Reason: "the vendor answered without an ID"}
		}
		return p.fail(cctx, c.op, err)
	})
	t.id = c.id(value)
	if err != nil && t.id == "" && port.OutcomeOf(err) != port.OutcomeUnchanged && c.find != nil {
		if found, id, findErr := findMade(ctx, p, c, tags); id != "" {
			value, t.id, err = found, id, nil
		} else if findErr != nil {
			err = join(err, fmt.Errorf("looking for it by its tags: %w", findErr))
		}
	}
	m := made[T]{value: value, target: t}
	if c.leftovers != nil {
		var lerr error
		m.extras, lerr = p.recordLeftovers(ctx, t, c.leftovers(value))
		err = join(err, lerr)
	}
	if t.id == "" {
		return m, p.settleNothing(ctx, c.op, m.extras, t, err)
	}
	if recErr := p.book.append(ctx, t.record(ledger.EventCreated, "", reasonOf(err))); recErr != nil {
		err = join(err, recErr)
	}
	if err == nil {
		return m, nil
	}
	if _, destroyErr := p.destroyAll(ctx, t, m.extras); destroyErr != nil {
		return m, join(err, fmt.Errorf("destroying what it made: %w", destroyErr))
	}
	return m, err
}

// findMade looks for what a creation may have made. It only ever adds knowledge:
// finding nothing proves nothing.
func findMade[T any](ctx context.Context, p *Provider, c creation[T], tags contract.Tags) (T, string, error) {
	ctx, cancel := detached(ctx, limitLookup, p.opts.deadlines.Lookup)
	defer cancel()
	value, id, err := c.find(ctx, tags)
	for _, d := range lagging() {
		if id != "" || !pause(ctx, d) {
			break
		}
		value, id, err = c.find(ctx, tags)
	}
	return value, id, p.fail(ctx, operation{name: "List", effect: contract.EffectRead}, err)
}

// lagging are the pauses after which a listing that does not show a thing, or
// fails, is asked again: listings may run behind, and one may stumble over what
// somebody else is just removing. What shows up later is the reaper's.
func lagging() []time.Duration {
	return []time.Duration{200 * time.Millisecond, 500 * time.Millisecond, time.Second}
}

// settleNothing ends a creation that has no ID to show.
func (p *Provider) settleNothing(ctx context.Context, op operation, extras []target, t target, err error) error {
	if port.OutcomeOf(err) == port.OutcomeUnchanged {
		err = join(err, p.book.append(ctx, t.record(ledger.EventCreateFailed, string(port.CodeOf(err)), reasonOf(err))))
	}
	for _, extra := range extras {
		if _, destroyErr := p.destroyTarget(ctx, extra, p.recorder(ctx)); destroyErr != nil {
			err = join(err, destroyErr)
		}
	}
	return err
}

func reasonOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
