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

// DestroyReport says what is known after a destroy. Acknowledged and
// VerifiedGone are apart on purpose: an acknowledgement is no proof.
type DestroyReport struct {
	Outcome      port.DestroyOutcome `json:"outcome,omitempty"` // what the vendor answered; empty when it did not
	Acknowledged bool                `json:"acknowledged"`
	VerifiedGone bool                `json:"verifiedGone"`
	GoneAt       time.Time           `json:"goneAt,omitzero"` // when absence was proven
	Attempts     int                 `json:"attempts"`        // destroy calls made
	Evidence     Evidence            `json:"evidence"`
}

// Evidence is what the last look for a destroyed thing saw.
type Evidence struct {
	Proof   contract.GoneProof `json:"proof"`             // what the manifest says can prove absence
	Scope   string             `json:"scope,omitempty"`   // the scope it was looked for in
	Inspect string             `json:"inspect,omitempty"` // not_found, a state, or an error code
	Listed  *bool              `json:"listed,omitempty"`  // whether a drained list holds it; nil: not listed
	Control string             `json:"control,omitempty"` // the control read that succeeded
	Looks   int                `json:"looks"`
}

// destroyAll destroys t and then what was made on the way to it.
func (p *Provider) destroyAll(ctx context.Context, t target, extras []target) (DestroyReport, error) {
	report, err := p.destroyTarget(ctx, t, p.recorder(context.WithoutCancel(ctx)))
	if err != nil && !report.Acknowledged {
		return report, err // the leftovers may still be what it is made of
	}
	for _, extra := range extras {
		if _, extraErr := p.destroyTarget(ctx, extra, p.recorder(context.WithoutCancel(ctx))); extraErr != nil {
			err = join(err, fmt.Errorf("%s %s left behind: %w", extra.kind, extra.id, extraErr))
		}
	}
	return report, err
}

// destroyTarget asks the vendor to remove t, again where that may help, and then
// looks until absence is proven or the destroy deadline passes. It goes on when
// ctx is cancelled. Every step is in the ledger first.
func (p *Provider) destroyTarget(ctx context.Context, t target, record recorder) (DestroyReport, error) {
	op := operation{name: "Destroy", effect: contract.EffectDestroy, id: t.id}
	report := DestroyReport{Evidence: Evidence{Proof: p.driver.Manifest.GoneProof}}
	res, ok := p.resource(t.kind)
	if !ok {
		return report, p.refuse(op, port.CodeUnsupported, fmt.Sprintf("this provider has no operation that removes a %s", t.kind))
	}
	dctx, cancel := detached(ctx, limitDestroy, p.opts.deadlines.Destroy)
	defer cancel()
	if err := p.sameScope(dctx, op, t); err != nil {
		return report, err
	}
	if err := record(t.record(ledger.EventDestroyRequested, "", "")); err != nil {
		return report, p.fail(dctx, op, err)
	}
	err := p.observed(op, func() error { return p.acknowledge(dctx, op, res, t, &report) })
	if err != nil {
		recErr := record(t.record(ledger.EventDestroyFailed, string(port.CodeOf(err)), err.Error()))
		return report, join(err, recErr)
	}
	// The look only reads, so it need not wait until the acknowledgement is durable.
	recorded := make(chan error, 1)
	go func(outcome port.DestroyOutcome) {
		recorded <- record(t.record(ledger.EventDestroyed, string(outcome), ""))
	}(report.Outcome)
	err = p.verifyGone(dctx, op, res, t, &report)
	if recErr := <-recorded; recErr != nil {
		return report, join(err, p.fail(dctx, op, recErr))
	}
	if err != nil {
		return report, err
	}
	if err := record(t.record(ledger.EventVerifiedGone, "", "")); err != nil {
		return report, p.fail(dctx, op, err)
	}
	return report, nil
}

// errOtherScope: the vendor answers for something else than the ledger is about.
var errOtherScope = errors.New("it was made in another account or engine than these credentials reach")

// sameScope makes sure that these credentials look at the account or engine in
// which t was made: a not-found from another one says nothing about t.
func (p *Provider) sameScope(ctx context.Context, op operation, t target) error {
	scope, err := p.table.Scope(ctx)
	if err != nil {
		return p.fail(ctx, operation{name: op.name, id: op.id, effect: contract.EffectRead}, err)
	}
	if scope == "" || scope != t.scope {
		return p.otherScope(op)
	}
	return nil
}

func (p *Provider) otherScope(op operation) error {
	return &Error{Code: port.CodeOutcomeUnknown, Op: op.name, Provider: p.driver.ID, ID: op.id,
		Outcome: port.OutcomeUnchanged, Reason: "nothing was asked of it", Err: errOtherScope}
}

// acknowledge calls destroy until the vendor answers. Destroy is idempotent, so
// an unknown outcome is asked again; a definite refusal is not.
func (p *Provider) acknowledge(ctx context.Context, op operation, res resource, t target, report *DestroyReport) error {
	wait := backoff{next: 100 * time.Millisecond, most: 5 * time.Second}
	perhaps := false // an attempt may have removed it, whatever a later one says
	for {
		report.Attempts++
		outcome, err := res.destroy(ctx, t.id)
		if err == nil && outcome != port.DestroyAccepted && outcome != port.DestroyAlreadyAbsent {
			err = &Error{Code: port.CodeOutcomeUnknown, Outcome: port.OutcomeUnknown,
				Reason: fmt.Sprintf("the adapter answered %q to a destroy", outcome)}
		}
		if port.CodeOf(err) == port.CodeNotFound {
			outcome, err = port.DestroyAlreadyAbsent, nil
		}
		if err == nil {
			report.Outcome, report.Acknowledged = outcome, true
			return nil
		}
		err = p.fail(ctx, op, err)
		known, _ := errors.AsType[*Error](err)
		again := known.Retryable || known.Outcome == port.OutcomeUnknown || known.Code == port.CodeUnavailable ||
			known.Code == port.CodeRateLimited
		perhaps = perhaps || known.Outcome == port.OutcomeUnknown
		if again && wait.wait(ctx, known.RetryAfter) {
			continue
		}
		if perhaps && known.Outcome != port.OutcomeUnknown {
			err = p.fail(ctx, op, &Error{Code: port.CodeOutcomeUnknown, Outcome: port.OutcomeUnknown,
				Reason: "an attempt may have removed it, and asking again was refused", Err: err})
		}
		return err
	}
}

// verifyGone looks until one look proves absence.
func (p *Provider) verifyGone(ctx context.Context, op operation, res resource, t target, report *DestroyReport) error {
	switch report.Evidence.Proof {
	case contract.GoneProofInspect, contract.GoneProofList, contract.GoneProofBoth:
	default:
		return p.unverified(op, report, "the vendor acknowledged; nothing this provider offers can prove absence", nil)
	}
	wait := backoff{next: 20 * time.Millisecond, most: 2 * time.Second}
	for {
		report.Evidence.Looks++
		gone, err := p.look(ctx, op, res, t, &report.Evidence)
		if gone {
			report.VerifiedGone, report.GoneAt = true, p.opts.clock()
			return nil
		}
		if errors.Is(err, errOtherScope) { // looking again does not help
			return p.unverified(op, report, "what the credentials reach has changed", err)
		}
		if !wait.wait(ctx, 0) {
			return p.unverified(op, report, "absence was not proven in time: "+first(whyEnded(ctx), "the deadline passed"), err)
		}
	}
}

func (p *Provider) unverified(op operation, report *DestroyReport, reason string, cause error) error {
	e := &Error{Code: port.CodeOutcomeUnknown, Op: op.name, Provider: p.driver.ID, ID: op.id,
		Outcome: port.OutcomeUnknown, Reason: p.redact().String(reason), Err: p.redact().Error(cause)}
	return &UnverifiedError{Report: *report, Err: e}
}
