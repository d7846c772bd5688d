package sandbox

import (
	"context"
	"slices"
	"strings"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// OverclaimError says that a manifest claims more than the adapter does. It
// lists every such capability.
type OverclaimError struct {
	Provider     string
	Capabilities []contract.Capability
	Core         []string // operations of the core that are missing
}

func (e *OverclaimError) Error() string {
	var parts []string
	for _, c := range e.Capabilities {
		parts = append(parts, string(c))
	}
	msg := e.Provider + ": Open: the manifest claims what the adapter does not do"
	if len(parts) > 0 {
		msg += ": supported without an implementation: " + strings.Join(parts, ", ")
	}
	if len(e.Core) > 0 {
		msg += ": missing core operations: " + strings.Join(e.Core, ", ")
	}
	return msg
}

// Unwrap returns the *Error, so that codes work for this one too.
func (e *OverclaimError) Unwrap() error {
	return &Error{Code: port.CodeFailedPrecondition, Op: "Open", Provider: e.Provider,
		Outcome: port.OutcomeUnchanged, Reason: "the manifest claims what the adapter does not do"}
}

// operational are the capabilities that consist of operations. The other
// implementable ones widen an operation by fields.
func operational() map[contract.Capability]bool {
	out := map[contract.Capability]bool{}
	for _, op := range contract.Operations() {
		if op.Capability != "" {
			out[op.Capability] = true
		}
	}
	return out
}

// reconcile compares manifest and Table and returns the claims that count.
func reconcile(m contract.Manifest, t contract.Table) (map[contract.Capability]contract.Claim, error) {
	over := &OverclaimError{Provider: m.ID, Core: missingCore(t)}
	hasOps := operational()
	claims := map[contract.Capability]contract.Claim{}
	for _, c := range contract.Capabilities() {
		claim, stated := m.Claims[string(c)]
		if !stated || claim.Support == "" {
			claim = contract.Claim{Support: contract.SupportUnknown, Reason: "not stated"}
		}
		claims[c] = claim
		if claim.Support != contract.SupportSupported {
			continue
		}
		if !c.Implementable() || hasOps[c] && !t.Has(c) {
			over.Capabilities = append(over.Capabilities, c)
		}
	}
	for id, claim := range m.Claims {
		c := contract.Capability(id)
		if _, known := claims[c]; !known && claim.Support == contract.SupportSupported {
			over.Capabilities = append(over.Capabilities, c)
		}
	}
	if len(over.Capabilities) > 0 || len(over.Core) > 0 {
		slices.Sort(over.Capabilities)
		return nil, over
	}
	return claims, nil
}

func missingCore(t contract.Table) []string {
	var out []string
	for _, f := range []struct {
		name string
		ok   bool
	}{
		{"Scope", t.Scope != nil}, {"Create", t.Create != nil}, {"Inspect", t.Inspect != nil},
		{"Exec", t.Exec != nil}, {"Destroy", t.Destroy != nil},
	} {
		if !f.ok {
			out = append(out, f.name)
		}
	}
	return out
}

// narrow asks the vendor, where the adapter can, and lets the answer take
// capabilities away. It never adds one. When nobody answers, the manifest stands.
func (p *Provider) narrow(ctx context.Context, a contract.Adapter) {
	reporter, ok := a.(port.CapabilityReporter)
	if !ok {
		return
	}
	ctx, cancel := within(ctx, limitLookup, p.opts.deadlines.Lookup)
	defer cancel()
	answer, err := reporter.ReportCapabilities(ctx)
	if err != nil {
		p.emit(Event{Kind: EventCapabilitiesUnreported, Op: "Open", Code: port.CodeOf(err), Detail: err.Error()})
		return
	}
	for id, has := range answer {
		c := contract.Capability(id)
		claim, known := p.claims[c]
		if known && !has && (claim.Support == contract.SupportSupported || claim.Support == contract.SupportUnknown) {
			p.claims[c] = contract.Claim{Support: contract.SupportUnsupported,
				Reason: "the vendor says that this account does not have it"}
		}
	}
}

// callable reports whether operations of c may be called.
func (p *Provider) callable(c contract.Capability) bool {
	switch p.claims[c].Support {
	case contract.SupportSupported:
		return true
	case contract.SupportUnknown:
		return p.opts.probing && (p.table.Has(c) || !operational()[c] && c.Implementable())
	}
	return false
}

// unsupported refuses an operation, before anything was called.
func (p *Provider) unsupported(op operation, c contract.Capability) error {
	claim := p.Claim(c)
	reason := claim.Reason
	if reason == "" {
		reason = "the manifest does not declare it"
	}
	return &Error{Code: port.CodeUnsupported, Op: op.name, Provider: p.driver.ID, ID: op.id,
		Capability: string(c), Support: string(claim.Support), Outcome: port.OutcomeUnchanged, Reason: reason}
}
