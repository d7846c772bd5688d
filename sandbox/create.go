package sandbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
)

// Create makes a sandbox and returns when a command has run in it. When it
// returns an error, what was made is destroyed, or is in the ledger as owed; the
// error says which. A caller whose ctx ends gets its answer at once; what the
// vendor makes after that is destroyed, and Provider.Close waits for it.
func (p *Provider) Create(ctx context.Context, opts ...CreateOption) (*Sandbox, error) {
	o := &createOptions{}
	for _, opt := range opts {
		opt(o)
	}
	return p.create(ctx, o, nil)
}

func (p *Provider) create(ctx context.Context, o *createOptions, settled func()) (*Sandbox, error) {
	op := operation{name: "Create", effect: contract.EffectCreate, limit: limitProvision}
	if o.request.Image == "" && o.request.FromSnapshot == "" {
		o.request.Image = p.driver.Manifest.Image
	}
	err := p.hide(o.request.Secrets)
	if err == nil {
		err = p.checkCreate(op, o)
	}
	if err == nil {
		err = p.applyEgress(op, o)
	}
	if err != nil {
		if settled != nil {
			settled()
		}
		return nil, err
	}
	c := creation[contract.Instance]{op: op, kind: ledger.KindSandbox, name: o.request.Name,
		parent: o.request.FromSnapshot, disposition: o.disposition, reapAfter: o.reapAfter, settled: settled,
		call: func(ctx context.Context, tags contract.Tags) (contract.Instance, error) {
			request := o.request
			request.Tags = tags
			return p.table.Create(ctx, request)
		},
		id:   func(i contract.Instance) string { return i.ID },
		find: p.finder()}
	if o.ensureKey != "" {
		c.labels = map[string]string{labelKey: o.ensureKey}
	}
	for _, s := range o.request.Secrets {
		c.secrets = append(c.secrets, s.Name)
	}
	m, err := create(ctx, p, c)
	if err != nil {
		return nil, err
	}
	return p.handOver(ctx, m.target, m.value, nil, o.skipReady)
}

// finder looks for a sandbox by its tags, nil where the vendor cannot list.
func (p *Provider) finder() func(context.Context, contract.Tags) (contract.Instance, string, error) {
	if p.table.List == nil || !p.callable(contract.CapabilityList) {
		return nil
	}
	return func(ctx context.Context, tags contract.Tags) (contract.Instance, string, error) {
		want := contract.Tags{Owner: tags.Owner, Run: tags.Run, Intent: tags.Intent}
		found, err := p.table.List(ctx, contract.ListRequest{Tags: &want})
		if err != nil {
			return contract.Instance{}, "", err
		}
		for _, i := range found { // a filter that is ignored must not hand out somebody else's
			if i.ID != "" && i.Tags != nil && sameTags(*i.Tags, want) {
				return i, i.ID, nil
			}
		}
		return contract.Instance{}, "", nil
	}
}

func sameTags(a, b contract.Tags) bool {
	return a.Owner == b.Owner && a.Run == b.Run && a.Intent == b.Intent && b.Intent != ""
}

// handOver makes the handle of a new sandbox and sees it ready. A sandbox that
// does not become ready is destroyed, because nobody would have a handle to it.
func (p *Provider) handOver(ctx context.Context, t target, i contract.Instance, extras []target, skipReady bool) (*Sandbox, error) {
	s := &Sandbox{p: p, target: t, extras: extras, last: i, owned: true, recorded: true, lookedUp: true}
	if skipReady {
		return s, nil
	}
	err := s.Ready(ctx)
	if err == nil {
		return s, nil
	}
	if beginErr := p.begin(operation{name: "Ready", id: t.id}); beginErr != nil {
		return nil, join(err, beginErr)
	}
	if ctx.Err() != nil { // the caller has left; it need not wait for the destroy
		go func() {
			defer p.settling.Done()
			p.late(operation{name: "Create"}, t, extras, nil)
		}()
		return nil, err
	}
	defer p.settling.Done()
	if _, destroyErr := p.destroyAll(ctx, t, extras); destroyErr != nil {
		return nil, join(err, fmt.Errorf("destroying it: %w", destroyErr))
	}
	if e, ok := errors.AsType[*NotReadyError](err); ok {
		e.Err.Outcome = port.OutcomeUnchanged
	}
	return nil, err
}
