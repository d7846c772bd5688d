package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// reference reads REF: provider:native, or the native ID alone when one provider
// is named by --provider, SBX_PROVIDER or the configuration file.
func (a *app) reference(s string) (provider, native string, err error) {
	provider, native, found := strings.Cut(s, ":")
	if _, known := a.find(provider); found && known && native != "" {
		if a.provider != "" && a.provider != provider {
			return "", "", usagef("%s is not of the provider --provider names", s)
		}
		return provider, native, nil
	}
	ids, err := a.chosen()
	switch {
	case err != nil:
		return "", "", err
	case s == "" || found && native == "":
		return "", "", usagef("%q is not a reference such as docker:3f2a", s)
	case len(ids) == 1:
		return ids[0], s, nil
	case found:
		return "", "", usagef("%q: %s", s, a.unbuilt(provider))
	}
	return "", "", usagef("%q does not say its provider; write PROVIDER:ID, or name one with --provider", s)
}

// references reads all of them before anything is done to the first: a usage error
// says that nothing was done.
func (a *app) references(all []string) error {
	for _, s := range all {
		if _, _, err := a.reference(s); err != nil {
			return err
		}
	}
	return nil
}

// withProvider opens the provider a reference names and closes it after fn.
func (a *app) withProvider(ctx context.Context, ref string, fn func(p *sandbox.Provider, native string) error) error {
	provider, native, err := a.reference(ref)
	if err != nil {
		return err
	}
	if err := a.writable(); err != nil {
		return err
	}
	p, err := a.open(ctx, provider)
	if err != nil {
		return err
	}
	return closing(p, func() error { return fn(p, native) })
}

// withSandbox attaches to the sandbox a reference names.
func (a *app) withSandbox(ctx context.Context, ref string, fn func(sb *sandbox.Sandbox) error, opts ...sandbox.AttachOption) error {
	return a.withProvider(ctx, ref, func(p *sandbox.Provider, native string) error {
		sb, err := a.attach(ctx, p, native, opts...)
		if err != nil {
			return absent(err, "sbx list")
		}
		return advised(sb, fn(sb))
	})
}

// shortest is how much of an ID has to be given.
const shortest = 4

// attach finds a sandbox by its ID, and failing that by the beginning of one. A
// beginning counts only when it is that of one sandbox alone.
func (a *app) attach(ctx context.Context, p *sandbox.Provider, native string, opts ...sandbox.AttachOption) (*sandbox.Sandbox, error) {
	sb, err := p.Attach(ctx, native, opts...)
	if port.CodeOf(err) != port.CodeNotFound || len(native) < shortest {
		return sb, err
	}
	full, findErr := a.begins(ctx, p, native)
	if findErr != nil {
		return nil, findErr
	}
	if full == "" {
		return nil, err
	}
	return p.Attach(ctx, full, opts...)
}

// begins is the ID that begins with start, "" when there is none.
func (a *app) begins(ctx context.Context, p *sandbox.Provider, start string) (string, error) {
	var found []string
	entries, err := a.recorded(ctx)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if e.Provider == p.ID() && e.Kind == ledger.KindSandbox && strings.HasPrefix(e.ID, start) {
			found = append(found, e.ID)
		}
	}
	if p.Supports(contract.CapabilityList) {
		list, err := p.List(ctx, contract.ListRequest{})
		if err != nil {
			return "", err
		}
		for _, i := range list {
			if strings.HasPrefix(i.ID, start) {
				found = append(found, i.ID)
			}
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	if len(found) > 1 {
		return "", &port.Error{Code: port.CodeInvalidArgument, Op: "Attach", Provider: p.ID(), ID: start, Outcome: port.OutcomeUnchanged,
			Reason: fmt.Sprintf("%d sandboxes have an ID that begins so", len(found))}
	}
	return strings.Join(found, ""), nil
}

// recorded is what the ledgers of this owner hold and is not settled, the newest
// word about each thing, in order of their making. It makes nothing.
func (a *app) recorded(ctx context.Context) ([]*ledger.Entry, error) {
	dirs, err := a.dirs()
	if err != nil {
		return nil, err
	}
	owner, err := a.owner(dirs)
	if err != nil || owner == "" {
		return nil, err
	}
	runs, err := ledger.ScanOwner(ctx, dirs, owner)
	if err != nil {
		return nil, err
	}
	latest := map[string]*ledger.Entry{}
	gone := map[string]bool{}
	for _, r := range runs {
		if r.Liveness == ledger.Empty {
			continue
		}
		log, err := ledger.Read(r.Path)
		if log == nil {
			return nil, err // what is damaged further down is the reaper's to tell
		}
		for _, e := range ledger.Fold(log.Records).Entries {
			key := e.Provider + "\x00" + e.Scope + "\x00" + e.ID
			gone[key] = gone[key] || e.Status == ledger.StatusVerifiedGone
			if have := latest[key]; e.ID != "" && (have == nil || !e.Updated.Before(have.Updated)) {
				latest[key] = e
			}
		}
	}
	var out []*ledger.Entry
	for key, e := range latest {
		if !gone[key] && !e.Status.Settled() {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b *ledger.Entry) int { return a.Opened.Compare(b.Opened) })
	return out, nil
}
