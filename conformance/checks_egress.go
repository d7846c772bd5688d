package conformance

import (
	"context"
	"errors"
	"fmt"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

func egressChecks() map[string]proof {
	return map[string]proof{
		"egress.address-only-refused":    {run: addressOnlyRefused, method: "Create"},
		"egress.undeclared-refuses":      {run: egressUndeclaredRefuses, method: "Create"},
		"egress.allowance-is-not-stored": {run: allowanceNotStored, method: "Create"},
		"secrets.brokering-refused":      {run: brokeringRefused, method: "Create"},
	}
}

// refusesEgress requires that a policy is refused before the adapter hears of it.
func (t *trial) refusesEgress(ctx context.Context, policy contract.EgressPolicy) error {
	before := t.reached("Create")
	_, err := t.attempt(ctx, t.s.p, sandbox.WithEgress(policy))
	if err := wantCode(err, port.CodeUnsupported, fmt.Sprintf("create with egress %s", policy.Mode)); err != nil {
		return err
	}
	if t.reached("Create") != before {
		return errors.New("a policy that cannot be enforced reached the adapter")
	}
	return nil
}

func restricting() []contract.EgressPolicy {
	return []contract.EgressPolicy{{Mode: contract.EgressModeDenyAll},
		{Mode: contract.EgressModeAllowList, Hosts: []string{"example.com"}},
		{Mode: contract.EgressModeAllowList, CIDRs: []string{"192.0.2.0/24"}}}
}

func addressOnlyRefused(ctx context.Context, t *trial) error {
	if t.s.h.Driver.Manifest.Egress == contract.EgressControlHostsAndCIDRs {
		return unknown(NotAttempted, "it does not apply: the manifest says that hosts and address ranges can be expressed")
	}
	return t.refusesEgress(ctx, contract.EgressPolicy{Mode: contract.EgressModeAllowList, CIDRs: []string{"192.0.2.0/24"}})
}

// uncontrolled is for checks of providers that cannot enforce a policy.
func (t *trial) uncontrolled() error {
	switch control := t.s.h.Driver.Manifest.Egress; control {
	case contract.EgressControlHosts, contract.EgressControlHostsAndCIDRs:
		return unknown(NotAttempted, "it does not apply: the manifest says that %s are enforced", control)
	}
	return nil
}

func egressUndeclaredRefuses(ctx context.Context, t *trial) error {
	if err := t.uncontrolled(); err != nil {
		return err
	}
	for _, policy := range restricting() {
		if err := t.refusesEgress(ctx, policy); err != nil {
			return err
		}
	}
	return nil
}

func allowanceNotStored(ctx context.Context, t *trial) error {
	if err := t.uncontrolled(); err != nil {
		return err
	}
	denyAll := contract.EgressPolicy{Mode: contract.EgressModeDenyAll}
	if _, err := t.attempt(ctx, t.s.p, sandbox.WithEgress(denyAll), sandbox.AllowUncontained(), sandbox.SkipReady()); err != nil {
		return fmt.Errorf("a start that allows it: %w", err)
	}
	if r, ok := t.createRequest(); ok && r.Egress != nil {
		return fmt.Errorf("a policy that is not enforced was sent to the adapter: %+v", *r.Egress)
	}
	return t.refusesEgress(ctx, denyAll)
}

func brokeringRefused(ctx context.Context, t *trial) error {
	if t.s.h.Driver.Manifest.BrokersSecrets {
		return unknown(NotAttempted, "it does not apply: the manifest says that the vendor brokers secrets")
	}
	_, err := t.attempt(ctx, t.s.p, sandbox.WithSecrets(contract.BrokeredSecret{Name: "SBXC_TOKEN", Hosts: []string{"example.com"},
		Value: port.NewSecret("sbxc-dummy-value")}))
	if err := wantCode(err, port.CodeUnsupported, "create with a brokered secret"); err != nil {
		return err
	}
	if t.reached("Create") > 0 {
		return errors.New("the secret reached the adapter")
	}
	return nil
}
