package conformance

import (
	"context"
	"errors"
	"fmt"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/sandbox"
)

// networkChecks are those of egress that connect to somewhere.
func networkChecks() map[string]proof {
	return map[string]proof{
		"egress.allow-all-reaches":     {run: allowAllReaches, method: "Create"},
		"egress.denied-is-unreachable": {run: deniedIsUnreachable, method: "Create"},
		"egress.allowed-is-reachable":  {run: allowedIsReachable, method: "Create"},
		"egress.dns-contained":         {run: dnsContained, method: "Create"},
	}
}

func allowAllReaches(ctx context.Context, t *trial) error {
	m := t.s.h.Driver.Manifest
	sealed := m.EgressDefault == contract.EgressModeDenyAll
	if sealed && m.Egress == contract.EgressControlNone {
		if err := t.allowAllIsRefused(ctx); err != nil {
			return err
		}
	}
	_, reached, err := t.controlled(ctx)
	switch {
	case err != nil:
		return err
	case sealed && reached:
		return errors.New("the manifest says that a sandbox reaches nothing by default, and it reached a host")
	case sealed:
		return refused("the manifest says that a sandbox reaches nothing by default, and a probe inside reached nothing")
	case !reached:
		return fmt.Errorf("a sandbox without a policy did not reach %s", t.s.h.Witness.Address)
	}
	return nil
}

// elsewhere is a list that the witness is not on.
func (t *trial) elsewhere() contract.EgressPolicy {
	p := contract.EgressPolicy{Mode: contract.EgressModeAllowList, Hosts: []string{"sbxc.invalid"}}
	if t.s.h.Driver.Manifest.Egress == contract.EgressControlHostsAndCIDRs {
		p.CIDRs = []string{"192.0.2.0/24"}
	}
	return p
}

// confirmed returns the witness after a sandbox without a policy got there: what
// cannot be reached anyhow shows nothing about a policy.
func (t *trial) confirmed(ctx context.Context) (*witness, error) {
	if err := t.enforces(ctx); err != nil {
		return nil, err
	}
	w, reached, err := t.controlled(ctx)
	if err == nil && !reached {
		err = unknown(NotAttempted, "a sandbox without a policy does not reach the check's host either, so nothing would show the difference")
	}
	return w, err
}

func deniedIsUnreachable(ctx context.Context, t *trial) error {
	w, err := t.confirmed(ctx)
	if err != nil {
		return err
	}
	for _, policy := range []contract.EgressPolicy{{Mode: contract.EgressModeDenyAll}, t.elsewhere()} {
		sb, err := t.underPolicy(ctx, policy)
		if err != nil {
			return err
		}
		for _, host := range t.s.h.Witness.hosts() {
			reached, err := t.reaches(ctx, sb, w, host)
			if err != nil {
				return err
			}
			if reached {
				return fmt.Errorf("under %s %s was reached", policy.Mode, host)
			}
		}
	}
	return nil
}

func allowedIsReachable(ctx context.Context, t *trial) error {
	w, err := t.confirmed(ctx)
	if err != nil {
		return err
	}
	at := t.s.h.Witness
	tried := 0
	for host, policy := range map[string]contract.EgressPolicy{
		at.Name:    {Mode: contract.EgressModeAllowList, Hosts: []string{at.Name}},
		at.Address: {Mode: contract.EgressModeAllowList, CIDRs: []string{at.Address + "/32"}},
	} {
		if host == "" || len(policy.CIDRs) > 0 && t.s.h.Driver.Manifest.Egress != contract.EgressControlHostsAndCIDRs {
			continue
		}
		tried++
		sb, err := t.underPolicy(ctx, policy)
		if err != nil {
			return err
		}
		reached, err := t.reaches(ctx, sb, w, host)
		if err != nil {
			return err
		}
		if !reached {
			return fmt.Errorf("%s is on the list and was not reached", host)
		}
	}
	if tried == 0 {
		return unknown(NotAttempted, "only host names can be allowed, and no name of a host that the check controls is known")
	}
	return nil
}

// lookUp is a script that asks for the address of name $1; 42 says that there is
// nothing to ask with.
const lookUp = `if command -v getent > /dev/null; then getent hosts "$1"
elif command -v nslookup > /dev/null; then nslookup "$1"
else exit 42; fi > /dev/null 2>&1 && echo found || { test $? -ne 42 || exit 42; }`

func (t *trial) resolves(ctx context.Context, sb *sandbox.Sandbox, name string) (bool, error) {
	res, err := sb.Exec(ctx, contract.Command{Argv: []string{"sh", "-c", lookUp, "sh", name}, Timeout: execLimit})
	switch {
	case err != nil:
		return false, err
	case res.ExitCode == 42:
		return false, unknown(NotAttempted, "the image has nothing to look names up with")
	}
	return string(res.Stdout) == "found\n", nil
}

// dnsContained looks a name up that a sandbox without a policy finds.
func dnsContained(ctx context.Context, t *trial) error {
	if err := t.enforces(ctx); err != nil {
		return err
	}
	name := t.s.h.Witness.Name
	if name == "" {
		return unknown(NotAttempted, "no name of a host that the check controls is known")
	}
	free, err := t.create(ctx)
	if err != nil {
		return err
	}
	found, err := t.resolves(ctx, free, name)
	if err != nil {
		return err
	}
	if !found {
		return unknown(NotAttempted, "a sandbox without a policy does not find the name either, so nothing would show the difference")
	}
	sb, err := t.underPolicy(ctx, contract.EgressPolicy{Mode: contract.EgressModeDenyAll})
	if err != nil {
		return err
	}
	if found, err = t.resolves(ctx, sb, name); err == nil && found {
		err = fmt.Errorf("under deny-all the name %s was looked up", name)
	}
	return err
}
