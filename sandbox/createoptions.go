package sandbox

import (
	"maps"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
)

// CreateOption says what to create. There are no hidden defaults: without an
// option the vendor's own default holds, and the manifest's image when it has one.
type CreateOption func(*createOptions)

type createOptions struct {
	request     contract.CreateRequest
	disposition ledger.Disposition
	reapAfter   time.Duration
	uncontained bool
	skipReady   bool
	ensureKey   string
}

// WithImage sets the image or template.
func WithImage(image string) CreateOption {
	return func(o *createOptions) { o.request.Image = image }
}

// WithFromSnapshot starts from a snapshot instead of an image.
func WithFromSnapshot(id string) CreateOption {
	return func(o *createOptions) { o.request.FromSnapshot = id }
}

// WithName sets the display name.
func WithName(name string) CreateOption { return func(o *createOptions) { o.request.Name = name } }

// WithLabels adds labels. Keys that begin with "sbx." or "_sandbox." are reserved.
func WithLabels(labels map[string]string) CreateOption {
	return func(o *createOptions) { o.request.Labels = merged(o.request.Labels, labels) }
}

// WithEnv adds to the environment of every command in the sandbox.
func WithEnv(env map[string]string) CreateOption {
	return func(o *createOptions) { o.request.Env = merged(o.request.Env, env) }
}

func merged(into, more map[string]string) map[string]string {
	if into == nil {
		into = map[string]string{}
	}
	maps.Copy(into, more)
	return into
}

// WithClass sets the machine class; not together with WithResources.
func WithClass(class string) CreateOption { return func(o *createOptions) { o.request.Class = class } }

// WithResources sets the compute; not together with WithClass.
func WithResources(r contract.Resources) CreateOption {
	return func(o *createOptions) { o.request.Resources = &r }
}

// WithRegion sets the region.
func WithRegion(region string) CreateOption {
	return func(o *createOptions) { o.request.Region = region }
}

// WithLifetime asks the vendor to end the sandbox after d. A provider that
// cannot enforce it refuses; see WithReapAfter for what sbx itself can do.
func WithLifetime(d time.Duration) CreateOption {
	return func(o *createOptions) { o.request.Lifetime = &d }
}

// WithIdleTimeout asks the vendor to act when the sandbox has been idle for d.
func WithIdleTimeout(d time.Duration) CreateOption {
	return func(o *createOptions) { o.request.IdleTimeout = &d }
}

// WithEgress restricts what the sandbox may reach. A provider that cannot
// enforce it refuses before anything is created; see AllowUncontained.
func WithEgress(policy contract.EgressPolicy) CreateOption {
	return func(o *createOptions) { o.request.Egress = &policy }
}

// WithSecrets hands credentials to the vendor to inject on the way out. A
// provider that does not broker secrets refuses.
func WithSecrets(secrets ...contract.BrokeredSecret) CreateOption {
	return func(o *createOptions) { o.request.Secrets = append(o.request.Secrets, secrets...) }
}

// WithMounts attaches workspace state.
func WithMounts(mounts ...contract.Mount) CreateOption {
	return func(o *createOptions) { o.request.Mounts = append(o.request.Mounts, mounts...) }
}

// WithPorts publishes ports inside the sandbox.
func WithPorts(ports ...int) CreateOption {
	return func(o *createOptions) {
		for _, p := range ports {
			o.request.Ports = append(o.request.Ports, int64(p))
		}
	}
}

// WithPull says when the image is fetched.
func WithPull(policy contract.PullPolicy) CreateOption {
	return func(o *createOptions) { o.request.Pull = policy }
}

// Kept lets the sandbox outlive this run: nothing reaps it unless WithReapAfter
// is given too. The default is Scoped.
func Kept() CreateOption { return func(o *createOptions) { o.disposition = ledger.Kept } }

// Scoped ties the sandbox to this run: once the run is dead a reaper may
// destroy it.
func Scoped() CreateOption { return func(o *createOptions) { o.disposition = ledger.Scoped } }

// WithReapAfter lets any reaper destroy the sandbox once d has passed, whether
// its run lives or not. It is a mark that a reaper reads; the vendor enforces
// nothing.
func WithReapAfter(d time.Duration) CreateOption { return func(o *createOptions) { o.reapAfter = d } }

// AllowUncontained lets this one create go on without its egress policy where
// the provider cannot enforce it.
func AllowUncontained() CreateOption { return func(o *createOptions) { o.uncontained = true } }

// SkipReady returns as soon as the vendor says that the sandbox exists, without
// having run a command in it.
func SkipReady() CreateOption { return func(o *createOptions) { o.skipReady = true } }

// CreateOptions makes one option of several.
func CreateOptions(opts ...CreateOption) CreateOption {
	return func(o *createOptions) {
		for _, opt := range opts {
			opt(o)
		}
	}
}
