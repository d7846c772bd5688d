package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// answerTime is how long an engine has to answer when nobody named a provider.
const answerTime = 5 * time.Second

// chosen are the providers somebody named, in order: flag, then SBX_PROVIDER,
// then the configuration file. None named is nil.
func (a *app) chosen() ([]string, error) {
	named, from := a.provider, "--provider"
	if named == "" {
		named, from = a.getenv("SBX_PROVIDER"), "SBX_PROVIDER"
	}
	if strings.TrimSpace(named) == "" {
		cfg, err := a.config()
		return cfg.Providers, err
	}
	var ids []string
	for id := range strings.SplitSeq(named, ",") {
		id = strings.TrimSpace(id)
		if _, ok := a.find(id); !ok {
			return nil, usagef("%s: %s", from, a.unbuilt(id))
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// ids are the providers that are built in.
func (a *app) ids() []string {
	var out []string
	for _, d := range a.all() {
		out = append(out, d.ID)
	}
	return out
}

// options are how every provider is opened by this program.
func (a *app) options() []sandbox.Option {
	return []sandbox.Option{sandbox.WithEnviron(a.lookup), sandbox.WithObserver(a.watch.observe)}
}

// open opens one provider. It makes no vendor call unless the provider must.
func (a *app) open(ctx context.Context, id string) (*sandbox.Provider, error) {
	d, ok := a.find(id)
	if !ok {
		return nil, usagef("%s", a.unbuilt(id))
	}
	p, err := sandbox.Open(ctx, d, a.options()...)
	return p, a.wrongSetting(d, err)
}

// candidates are the providers to create at, in order. Where nobody named one it
// is the first that answers, and that choice is told.
func (a *app) candidates(ctx context.Context) ([]string, error) {
	ids, err := a.chosen()
	if err != nil || len(ids) > 0 {
		return ids, err
	}
	none := &sandbox.NoProviderError{}
	for _, d := range a.all() {
		if d.Manifest.Base != "" || len(d.Manifest.CredentialSets) > 0 {
			continue // a variant of another one, or somebody else's machine: to be named
		}
		if err := a.answers(ctx, d.ID); err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			none.Passed = append(none.Passed, sandbox.PassedOver{Provider: d.ID, Err: err})
			continue
		}
		if len(none.Passed) > 0 {
			err = a.note("using %s, because %s; --provider chooses", d.ID, passedOver(none))
		}
		return []string{d.ID}, err
	}
	return nil, &nothingHereError{none}
}

// answers opens a provider and asks who it is.
func (a *app) answers(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	p, err := a.open(ctx, id)
	if err != nil {
		return err
	}
	return closing(p, func() error {
		_, err := p.Scope(ctx)
		return err
	})
}

// nothingHereError: no provider was named and none works on this machine.
type nothingHereError struct{ none *sandbox.NoProviderError }

func (e *nothingHereError) Error() string {
	if len(e.none.Passed) == 0 {
		return "no provider works without credentials here; --provider or SBX_PROVIDER names one"
	}
	return passedOver(e.none) + "; start a Docker Engine (or set DOCKER_HOST), or install bubblewrap (or do without isolation: SBX_LOCAL_ISOLATION=none)"
}

func (e *nothingHereError) Unwrap() error { return e.none }

// passedOver says in few words why providers do not work here.
func passedOver(none *sandbox.NoProviderError) string {
	var out []string
	for _, p := range none.Passed {
		switch code := port.CodeOf(p.Err); {
		case p.Provider == "docker" && (code == port.CodeUnavailable || code == port.CodeTimeout):
			out = append(out, "no Docker Engine answers")
		case p.Provider == "local" && code == port.CodeFailedPrecondition:
			out = append(out, "bubblewrap (bwrap) is not installed")
		default:
			out = append(out, fmt.Sprintf("%s does not work (%v)", p.Provider, p.Err))
		}
	}
	return strings.Join(out, " and ")
}

// refused is how sbx turns down a capability for which no provider has an
// operation yet.
func refused(p *sandbox.Provider, op, id string, c contract.Capability) error {
	claim := p.Claim(c)
	e := &port.Error{Code: port.CodeUnsupported, Op: op, Provider: p.ID(), ID: id, Capability: string(c),
		Support: string(claim.Support), Outcome: port.OutcomeUnchanged, Reason: claim.Reason}
	if e.Reason == "" {
		e.Reason = "the manifest does not declare it"
	}
	return e
}
