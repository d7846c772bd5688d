package sandbox

import (
	"time"

	"github.com/agentworkforce/sbx/port"
)

// EventKind says what an Event is about.
type EventKind string

const (
	// EventStart: an operation begins.
	EventStart EventKind = "start"
	// EventEnd: it ended; Code and Outcome are set when it failed.
	EventEnd EventKind = "end"
	// EventEgressWithheld: a policy was not sent because nothing enforces it.
	EventEgressWithheld EventKind = "egress-withheld"
	// EventLate: a create that its caller had left has ended.
	EventLate EventKind = "late"
	// EventCapabilitiesUnreported: the vendor could not be asked what it supports;
	// the manifest stands.
	EventCapabilitiesUnreported EventKind = "capabilities-unreported"
	// EventLedgerUnreadable: a ledger file of this owner cannot be read to its end.
	EventLedgerUnreadable EventKind = "ledger-unreadable"
)

// Event is told to an observer. Its text is redacted.
type Event struct {
	Kind     EventKind
	At       time.Time
	Provider string
	Op       string
	ID       string
	Duration time.Duration // of EventEnd
	Code     port.Code
	Outcome  port.Outcome
	Detail   string
}

func (p *Provider) emit(e Event) {
	if p.opts.observer == nil {
		return
	}
	e.At, e.Provider = p.opts.clock(), p.driver.ID
	e.ID, e.Detail = p.redact().String(e.ID), p.redact().String(e.Detail)
	p.opts.observer(e)
}

// observed tells the observer about one operation, before and after.
func (p *Provider) observed(op operation, run func() error) error {
	if p.opts.observer == nil {
		return run()
	}
	p.emit(Event{Kind: EventStart, Op: op.name, ID: op.id})
	began := time.Now()
	err := run()
	end := Event{Kind: EventEnd, Op: op.name, ID: op.id, Duration: time.Since(began)}
	if err != nil {
		end.Code, end.Outcome, end.Detail = port.CodeOf(err), port.OutcomeOf(err), err.Error()
	}
	p.emit(end)
	return err
}
