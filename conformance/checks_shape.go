package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

func shapeChecks() map[string]proof {
	return map[string]proof{
		"shape.manifest-matches":           {run: manifestMatches},
		"shape.capabilities-stated":        {run: capabilitiesStated},
		"shape.scope-is-stable":            {run: scopeIsStable, method: "Scope"},
		"shape.credentials-absent":         {run: credentialsAbsent, offline: true},
		"shape.blank-credential-is-absent": {run: blankCredential, offline: true},
		"shape.detached-exec-is-whole":     {run: reservedCapability},
		"shape.undeclared-refuses":         {run: undeclaredRefuses},
		"shape.pinned-client":              {run: pinnedClient, offline: true},
	}
}

// manifestMatches also sees that an over-claim would be found: it takes an
// implementation away, and claims what nobody implements.
func manifestMatches(ctx context.Context, t *trial) error {
	if t.s.openErr != nil {
		return t.s.openErr
	}
	d := t.s.h.Driver
	var want []contract.Capability
	for _, c := range contract.Capabilities() {
		if t.s.supports(c) && t.s.table().Has(c) {
			want = append(want, c)
			break
		}
	}
	strip := func(table contract.Table) contract.Table {
		for _, c := range want {
			table = without(table, c)
		}
		return table
	}
	claims := map[string]contract.Claim{string(contract.CapabilitySSH): {Support: contract.SupportSupported}}
	for id, claim := range d.Manifest.Claims {
		if id != string(contract.CapabilitySSH) {
			claims[id] = claim
		}
	}
	d.Manifest.Claims = claims
	want = append(want, contract.CapabilitySSH)
	p, err := t.s.open(ctx, d, sandbox.WithTable(strip))
	if err == nil {
		return errors.Join(fmt.Errorf("a manifest that claims %v without an implementation was accepted", want), p.Close())
	}
	over, ok := errors.AsType[*sandbox.OverclaimError](err)
	if !ok {
		return fmt.Errorf("want an over-claim: %w", err)
	}
	for _, c := range want {
		if !slices.Contains(over.Capabilities, c) {
			return fmt.Errorf("the over-claim of %s is not named: %w", c, err)
		}
	}
	return nil
}

// without takes the operations of one capability out of a Table.
func without(t contract.Table, c contract.Capability) contract.Table {
	for _, op := range contract.Operations() {
		if op.Capability == c {
			clearOperation(&t, op.Name)
		}
	}
	return t
}

func capabilitiesStated(ctx context.Context, t *trial) error {
	d := t.s.h.Driver
	d.Manifest.Claims = nil
	p, err := t.s.open(ctx, d)
	if err != nil {
		return fmt.Errorf("opening with a manifest that states no capability: %w", err)
	}
	t.cleanup(func(context.Context) error { return p.Close() })
	for _, c := range contract.Capabilities() {
		if got := p.Claim(c).Support; got != contract.SupportUnknown {
			return fmt.Errorf("%s is %q although nobody stated it", c, got)
		}
		if _, stated := t.s.h.Driver.Manifest.Claims[string(c)]; !stated && t.s.p.Claim(c).Support != contract.SupportUnknown {
			return fmt.Errorf("%s is %q although the manifest does not state it", c, t.s.p.Claim(c).Support)
		}
	}
	return nil
}

func scopeIsStable(ctx context.Context, t *trial) error {
	first, err := t.s.p.Scope(ctx)
	if err != nil {
		return err
	}
	other, err := t.open(ctx)
	if err != nil {
		return err
	}
	second, err := other.Scope(ctx)
	switch {
	case err != nil:
		return err
	case first == "":
		return errors.New("the scope is empty")
	case first != second:
		return errors.New("two adapters with the same settings give different scopes")
	}
	t.s.mu.Lock()
	t.s.scope = first
	settings := t.s.settings
	t.s.mu.Unlock()
	for _, rule := range t.s.h.Driver.Manifest.Settings {
		secret := settings.Secret(rule.Key).Reveal()
		if rule.Secret && len(secret) >= 4 && strings.Contains(first, secret) {
			return fmt.Errorf("the scope holds the value of setting %s", rule.Key)
		}
	}
	return nil
}

func credentialsAbsent(ctx context.Context, t *trial) error {
	return withoutCredentials(ctx, t, func(string) (string, bool) { return "", false })
}

func blankCredential(ctx context.Context, t *trial) error {
	return withoutCredentials(ctx, t, func(string) (string, bool) { return " \t ", true })
}

func withoutCredentials(ctx context.Context, t *trial, environ func(string) (string, bool)) error {
	d := t.s.h.Driver
	if len(d.Manifest.CredentialSets) == 0 {
		return refused("the manifest says that no credentials are needed")
	}
	opened := false
	inner := d.Open
	d.Open = func(ctx context.Context, s port.Settings) (contract.Adapter, error) {
		opened = true
		return inner(ctx, s)
	}
	p, err := sandbox.Open(ctx, d, sandbox.WithStateDir(t.s.stateDir), sandbox.WithEnviron(environ))
	if err == nil {
		return errors.Join(errors.New("it opened without credentials"), p.Close())
	}
	if err := wantCode(err, port.CodeUnauthenticated, "opening without credentials"); err != nil {
		return err
	}
	if opened {
		return errors.New("the adapter was opened although credentials are missing")
	}
	for _, key := range d.Manifest.CredentialSets[0] {
		for _, rule := range d.Manifest.Settings {
			if rule.Key == key && rule.Env != "" && !strings.Contains(err.Error(), rule.Env) {
				return fmt.Errorf("the error does not name %s: %w", rule.Env, err)
			}
		}
	}
	return nil
}

// reservedCapability is for checks of capabilities that have no operations yet;
// the refusal has been seen by the time it runs.
func reservedCapability(context.Context, *trial) error {
	return errors.New("a reserved capability is callable")
}

// undeclaredRefuses calls everything that is not declared, and requires that the
// sandbox it was called on is as it was.
func undeclaredRefuses(ctx context.Context, t *trial) error {
	sb, err := t.shared()
	if err != nil {
		return err
	}
	before, err := t.s.table().Inspect(ctx, sb.ID())
	if err != nil {
		return err
	}
	for _, c := range contract.Capabilities() {
		if t.s.callable(c) {
			continue
		}
		if err := t.refuses(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
	}
	after, err := t.s.table().Inspect(ctx, sb.ID())
	if err != nil {
		return err
	}
	if before.State != after.State {
		return fmt.Errorf("the state of the sandbox went from %s to %s", before.State, after.State)
	}
	return t.alive(ctx, sb)
}
