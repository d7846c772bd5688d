package sandbox

import (
	"os"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
)

// Option changes how a provider is opened.
type Option func(*openOptions)

type openOptions struct {
	settings   map[string]port.Secret
	environ    func(string) (string, bool)
	stateDir   string
	owner      string
	clock      func() time.Time
	observer   func(Event)
	onEgress   func(provider string, policy contract.EgressPolicy)
	probing    bool
	decorate   []func(contract.Table) contract.Table
	deadlines  Deadlines
	secretVals []port.Secret
	given      []Option // as given, for a reaper of the same provider
}

func newOpenOptions(opts []Option) *openOptions {
	o := &openOptions{settings: map[string]port.Secret{}, environ: os.LookupEnv, clock: time.Now, given: opts}
	for _, opt := range opts {
		opt(o)
	}
	o.deadlines = o.deadlines.withDefaults()
	return o
}

// getenv is environ for the ledger's resolvers; WithOwner answers for SBX_OWNER.
func (o *openOptions) getenv(name string) string {
	if name == "SBX_OWNER" && o.owner != "" {
		return o.owner
	}
	v, ok := o.environ(name)
	if !ok {
		return ""
	}
	return v
}

func (o *openOptions) dirs() (ledger.Dirs, error) {
	if o.stateDir != "" {
		return ledger.Dirs{Root: o.stateDir}, nil
	}
	return ledger.StateDir(o.getenv)
}

// WithSetting sets a configuration value by its key. It wins over the
// environment. A blank value is absent.
func WithSetting(key, value string) Option {
	return func(o *openOptions) { o.settings[key] = port.NewSecret(value) }
}

// WithSecret sets a credential by its key. It wins over the environment.
func WithSecret(key string, value port.Secret) Option {
	return func(o *openOptions) { o.settings[key] = value }
}

// WithEnviron replaces os.LookupEnv as the source of settings, SBX_OWNER and
// the state directory.
func WithEnviron(lookup func(name string) (string, bool)) Option {
	return func(o *openOptions) { o.environ = lookup }
}

// WithStateDir sets the root below which <root>/sbx holds the ledger. It must
// be absolute.
func WithStateDir(dir string) Option { return func(o *openOptions) { o.stateDir = dir } }

// WithOwner sets the owner sandboxes belong to, instead of SBX_OWNER or the
// state directory's own.
func WithOwner(owner string) Option { return func(o *openOptions) { o.owner = owner } }

// WithClock replaces time.Now for what is recorded. Waiting uses real time.
func WithClock(now func() time.Time) Option { return func(o *openOptions) { o.clock = now } }

// WithObserver is told what happens. fn may be called from several goroutines
// and must return quickly. Events are redacted.
func WithObserver(fn func(Event)) Option { return func(o *openOptions) { o.observer = fn } }

// OnEgressUnenforced is called for every create whose egress policy is withheld
// because the provider cannot enforce it and AllowUncontained was given.
// Without it an observer is told the first time per provider.
func OnEgressUnenforced(fn func(provider string, policy contract.EgressPolicy)) Option {
	return func(o *openOptions) { o.onEgress = fn }
}

// Probing allows calls of capabilities whose support is unknown when the
// adapter has a method for them. Conformance uses it; applications do not.
func Probing() Option { return func(o *openOptions) { o.probing = true } }

// WithTable decorates the operations of the adapter: tracing, faults, mutants.
// Several decorators are applied in order.
func WithTable(decorate func(contract.Table) contract.Table) Option {
	return func(o *openOptions) { o.decorate = append(o.decorate, decorate) }
}

// WithRedacted adds values that must never be shown, beside the provider's own
// credentials.
func WithRedacted(values ...port.Secret) Option {
	return func(o *openOptions) { o.secretVals = append(o.secretVals, values...) }
}

// WithDeadlines sets the limits of operations whose context has no deadline. A
// member that is 0 keeps its default.
func WithDeadlines(d Deadlines) Option { return func(o *openOptions) { o.deadlines = d } }
