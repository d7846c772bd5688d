package sandbox

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// Provider is an opened provider. It is safe for concurrent use. Close it when
// the program is done with it: Close waits for creates that still have to settle.
type Provider struct {
	driver  Driver
	opts    *openOptions
	table   contract.Table
	claims  map[contract.Capability]contract.Claim
	secrets atomic.Pointer[wire.Redactor]
	book    *book

	egressWarning sync.Once
	mu            sync.Mutex
	closed        bool
	settling      sync.WaitGroup // work that goes on after its caller has left
	closing       sync.Once
	closeErr      error
}

// Open resolves the provider's settings, opens its adapter and compares what
// the manifest claims with what the adapter does. It makes no sandbox and no
// ledger. Missing credentials are unauthenticated, a bad value is
// invalid_argument, a claim without an implementation is an *OverclaimError.
func Open(ctx context.Context, d Driver, opts ...Option) (*Provider, error) {
	o := newOpenOptions(opts)
	if d.Open == nil {
		return nil, &Error{Code: port.CodeInvalidArgument, Op: "Open", Provider: d.ID,
			Outcome: port.OutcomeUnchanged, Reason: "the driver has no Open"}
	}
	if d.Manifest.ID == "" {
		d.Manifest.ID = d.ID
	}
	settings, err := resolveSettings(d.Manifest, o)
	if err != nil {
		return nil, err
	}
	p := &Provider{driver: d, opts: o}
	redactor, err := newRedactor(d.Manifest, settings, o)
	if err != nil {
		return nil, err
	}
	p.secrets.Store(redactor)
	p.book = &book{opts: o, redact: func(s string) string { return p.redact().String(s) }}
	op := operation{name: "Open", effect: contract.EffectRead}
	adapter, err := d.Open(ctx, settings)
	if err != nil {
		return nil, p.fail(ctx, op, err)
	}
	if adapter == nil {
		return nil, p.refuse(op, port.CodeProvider, "the driver opened no adapter")
	}
	p.table = contract.Bind(adapter)
	for _, decorate := range o.decorate {
		p.table = decorate(p.table)
	}
	if p.claims, err = reconcile(d.Manifest, p.table); err != nil {
		return nil, err
	}
	p.table.Scope = knownScope(p.table.Scope)
	p.narrow(ctx, adapter)
	return p, nil
}

// ID is the provider's ID.
func (p *Provider) ID() string { return p.driver.ID }

// Manifest is what the provider claims. It is shared: do not change its maps.
func (p *Provider) Manifest() contract.Manifest { return p.driver.Manifest }

// Scope is the account or engine that IDs live in, read from the vendor now.
func (p *Provider) Scope(ctx context.Context) (string, error) {
	return call(ctx, p, operation{name: "Scope", effect: contract.EffectRead, limit: limitLookup}, p.table.Scope)
}

// Supports reports whether the operations and fields of c may be used here.
func (p *Provider) Supports(c contract.Capability) bool { return p.callable(c) }

// Claim is the support of c as it stands after Open: the manifest's claim,
// narrowed by what the vendor says.
func (p *Provider) Claim(c contract.Capability) contract.Claim {
	if claim, ok := p.claims[c]; ok {
		return claim
	}
	return contract.Claim{Support: contract.SupportUnknown, Reason: "not in the vocabulary"}
}

// redact knows every secret this provider was given so far.
func (p *Provider) redact() *wire.Redactor { return p.secrets.Load() }

// hide adds secrets that a request hands over.
func (p *Provider) hide(secrets []contract.BrokeredSecret) error {
	var named []wire.NamedSecret
	for _, s := range secrets {
		named = append(named, wire.NamedSecret{Name: s.Name, Value: s.Value})
	}
	for len(named) > 0 {
		old := p.redact()
		more, err := old.With(named...)
		if err != nil {
			return err
		}
		if p.secrets.CompareAndSwap(old, more) {
			break
		}
	}
	return nil
}

// LedgerPath is the file this provider's run is recorded in, "" as long as
// nothing had to be recorded.
func (p *Provider) LedgerPath() string { return p.book.path() }

// Close waits until every create has settled, also those whose caller has left
// and whose sandbox still has to be destroyed, and ends the run in the ledger.
// It destroys nothing that was handed out. Further calls return the same error.
func (p *Provider) Close() error {
	p.closing.Do(func() {
		p.mu.Lock()
		p.closed = true
		p.mu.Unlock()
		p.settling.Wait()
		p.closeErr = p.book.close()
	})
	return p.closeErr
}

// begin registers work that Close has to wait for; end it with settling.Done.
func (p *Provider) begin(op operation) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return p.refuse(op, port.CodeFailedPrecondition, "the provider is closed")
	}
	p.settling.Add(1)
	return nil
}

// With creates a sandbox, runs fn, and destroys the sandbox on every way out,
// a panic included. The errors of fn and of the destroy are joined.
func With(ctx context.Context, p *Provider, fn func(context.Context, *Sandbox) error, opts ...CreateOption) (err error) {
	sb, err := p.Create(ctx, opts...)
	if err != nil {
		return err
	}
	defer func() {
		_, destroyErr := sb.Destroy(ctx)
		err = join(err, destroyErr)
	}()
	return fn(ctx, sb)
}
