package sandbox

import (
	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// Disposition is what happens to an egress policy.
type Disposition string

const (
	// DispositionPass: there is nothing to enforce.
	DispositionPass Disposition = "pass"
	// DispositionEnforce: the provider enforces it.
	DispositionEnforce Disposition = "enforce"
	// DispositionRefuseUncontained: the provider enforces nothing; do not start.
	DispositionRefuseUncontained Disposition = "refuse-uncontained"
	// DispositionRefuseUnenforceable: the provider enforces host names only, and
	// the policy is made of addresses; do not start.
	DispositionRefuseUnenforceable Disposition = "refuse-unenforceable"
	// DispositionWithhold: start without the policy, because this start allows it.
	DispositionWithhold Disposition = "withhold"
)

// EgressDisposition decides about a policy. It is pure: the same arguments give
// the same answer, and the allowance counts for one start only. Hosts and
// address ranges of one policy are alternatives: a provider that knows only
// hosts can enforce a policy that has hosts.
func EgressDisposition(control contract.EgressControl, policy *contract.EgressPolicy, uncontained bool) Disposition {
	if policy == nil || policy.Mode == contract.EgressModeAllowAll {
		return DispositionPass
	}
	refuse := DispositionRefuseUncontained
	switch control {
	case contract.EgressControlHostsAndCIDRs:
		return DispositionEnforce
	case contract.EgressControlHosts:
		if policy.Mode == contract.EgressModeDenyAll || len(policy.Hosts) > 0 {
			return DispositionEnforce
		}
		refuse = DispositionRefuseUnenforceable
	}
	if uncontained {
		return DispositionWithhold
	}
	return refuse
}

// applyEgress refuses, or takes the policy out of the request with a warning.
func (p *Provider) applyEgress(op operation, o *createOptions) error {
	policy := o.request.Egress
	sealed := p.driver.Manifest.Egress == contract.EgressControlNone &&
		p.driver.Manifest.EgressDefault == contract.EgressModeDenyAll
	if sealed && policy != nil && policy.Mode == contract.EgressModeAllowAll {
		return p.refuse(op, port.CodeUnsupported,
			"egress: sandboxes of this provider reach nothing, and no policy changes that; nothing was created")
	}
	switch EgressDisposition(p.driver.Manifest.Egress, policy, o.uncontained) {
	case DispositionRefuseUncontained:
		if sealed {
			return p.refuse(op, port.CodeUnsupported,
				"egress: this provider enforces no policy; its sandboxes reach nothing, with or without one, so leave it out; nothing was created")
		}
		return p.refuse(op, port.CodeUnsupported,
			"egress: this provider enforces no policy, so the sandbox would reach everything; nothing was created")
	case DispositionRefuseUnenforceable:
		return p.refuse(op, port.CodeUnsupported,
			"egress: this provider enforces host names only and the policy has address ranges only; nothing was created")
	case DispositionWithhold:
		o.request.Egress = nil
		if p.opts.onEgress != nil {
			p.opts.onEgress(p.driver.ID, *policy)
			return nil
		}
		p.egressWarning.Do(func() {
			p.emit(Event{Kind: EventEgressWithheld, Op: op.name, Detail: "the egress policy is not enforced by this provider"})
		})
	}
	return nil
}
