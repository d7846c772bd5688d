//go:build unix

package reference

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// Vendor is the vendor's side: what exists there. Several adapters, with one
// account, may work on it at once.
type Vendor struct {
	dir    string
	traits Traits
	guard  *guard

	mu    sync.Mutex
	boxes map[string]*box
	snaps map[string]*snap
	names map[string]int
	gone  []lingering
	have  map[string]int      // layers of images that were transferred
	ran   map[string]*command // what was submitted over HTTP and not yet asked for to its end
}

// lingering is a row of the listing that lags behind.
type lingering struct {
	i     contract.Instance
	until time.Time
}

// Traits are honest differences between vendors. The zero value is prompt and exact.
type Traits struct {
	// Latency is added to every call.
	Latency time.Duration
	// ListLag is how long the listing goes on showing what it showed before.
	ListLag time.Duration
	// Merged gives standard error as part of standard output, and says so.
	Merged bool
	// Chunked gives streams and files a few bytes at a time.
	Chunked bool
	// Egress enforces policies on hosts and address ranges, and says so.
	Egress bool
	// CoarseClock cuts times to whole seconds.
	CoarseClock bool
}

type box struct {
	i      contract.Instance
	dir    string
	env    map[string]string
	ports  []int64
	groups map[int]bool // process groups that may still run
	net    string       // the programs of a contained sandbox, empty without a policy
	log    []string
	cpu    time.Duration
	guard  *guard
}

type snap struct {
	s     contract.Snapshot
	dir   string
	env   map[string]string
	image string
}

// New makes a vendor whose disks are below dir, which has to exist.
func New(dir string, traits Traits) (*Vendor, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("reference: %w", err)
	}
	g, err := newGuard()
	if err != nil {
		return nil, err
	}
	return &Vendor{dir: real, traits: traits, guard: g, boxes: map[string]*box{}, snaps: map[string]*snap{}, names: map[string]int{},
		have: map[string]int{}, ran: map[string]*command{}}, nil
}

// Token is the one key that the vendor knows.
const Token = "reference-token-1234"

// Driver makes the vendor available as provider "reference". It takes one
// credential, token.
func (v *Vendor) Driver() sandbox.Driver {
	return sandbox.Driver{ID: "reference", Manifest: v.manifest(),
		Open: func(_ context.Context, s port.Settings) (contract.Adapter, error) {
			return &Adapter{v: v, key: s.Secret("token").Reveal()}, nil
		}}
}

func (v *Vendor) manifest() contract.Manifest {
	synchronous, life := true, 2*time.Second
	m := contract.Manifest{ID: "reference", Name: "Reference", Kind: contract.AdapterKindNative, Claims: map[string]contract.Claim{},
		Settings: []contract.SettingRule{{Key: "token", Env: "SBX_REFERENCE_TOKEN", Label: "Token", Secret: true,
			Type: contract.SettingTypeString}},
		CredentialSets: [][]string{{"token"}},
		Labels:         contract.LabelRules{Encoding: contract.LabelEncodingMap, Filter: contract.LabelFilterServer},
		Egress:         contract.EgressControlNone, Isolation: contract.IsolationNone, GoneProof: contract.GoneProofBoth,
		DeleteSynchronous: &synchronous, ExecStreams: contract.StreamsSeparate, Image: Image, ForkKeeps: contract.KeepsDisk,
		ExecTimeoutDefault: &life, EgressDefault: contract.EgressModeAllowAll, PortAudience: contract.PortAudienceAnyone}
	if v.traits.Merged {
		m.ExecStreams = contract.StreamsMerged
	}
	if v.traits.Egress {
		m.Egress = contract.EgressControlHostsAndCIDRs
	}
	for _, c := range contract.Capabilities() {
		claim := contract.Claim{Support: contract.SupportSupported, Via: contract.ViaNative}
		if !c.Implementable() {
			claim = contract.Claim{Support: contract.SupportUnsupported, Reason: "the reference vendor does not have it"}
		}
		m.Claims[string(c)] = claim
	}
	m.Claims[string(contract.CapabilityFork)] = contract.Claim{Support: contract.SupportSupported, Via: contract.ViaComposed}
	return m
}

// Count counts what exists by kind, without the adapter.
func (v *Vendor) Count(context.Context) (map[string]int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return map[string]int{string(contract.ResourceKindSandbox): len(v.boxes), string(contract.ResourceKindSnapshot): len(v.snaps)}, nil
}

func newID(kind string) string {
	b := make([]byte, 8)
	if _, err := rand.Read(b); err != nil {
		return ""
	}
	return kind + "-" + hex.EncodeToString(b)
}

func (v *Vendor) now() *time.Time {
	t := time.Now().UTC()
	if v.traits.CoarseClock {
		t = t.Truncate(time.Second)
	}
	return &t
}

func fail(op, id string, code port.Code, reason string) error {
	return &port.Error{Code: code, Op: op, ID: id, Outcome: port.OutcomeUnchanged, Reason: reason}
}

// get returns a sandbox; the caller holds the lock.
func (v *Vendor) get(op, id string) (*box, error) {
	b := v.boxes[id]
	if b == nil {
		return nil, fail(op, id, port.CodeNotFound, "there is no such sandbox")
	}
	return b, nil
}

// running returns a sandbox that can run commands; the caller holds the lock.
func (v *Vendor) running(op, id string) (*box, error) {
	b, err := v.get(op, id)
	if err == nil && b.i.State != contract.StateRunning {
		return nil, fail(op, id, port.CodeFailedPrecondition, "the sandbox is "+string(b.i.State))
	}
	return b, err
}

// view is what a look-up shows.
func (b *box) view() contract.Instance {
	i := b.i
	i.Labels = maps.Clone(i.Labels)
	tags := *i.Tags
	i.Tags = &tags
	return i
}

// add makes a sandbox whose disk is a copy of from, or empty; the caller holds the lock.
func (v *Vendor) add(r contract.CreateRequest, from string, env map[string]string) (*box, error) {
	id := newID("box")
	dir := filepath.Join(v.dir, id)
	if err := copyTree(from, dir); err != nil {
		return nil, &port.Error{Code: port.CodeProvider, Op: "Create", Outcome: port.OutcomeUnknown, Err: err}
	}
	net, err := v.contain(id, r.Egress)
	if err != nil {
		return nil, &port.Error{Code: port.CodeProvider, Op: "Create", Outcome: port.OutcomeUnknown, Err: err}
	}
	tags := r.Tags
	b := &box{dir: dir, net: net, guard: v.guard, env: maps.Clone(env), ports: slices.Clone(r.Ports), groups: map[int]bool{},
		i: contract.Instance{ID: id, Name: r.Name, State: contract.StateRunning, NativeState: "up", CreatedAt: v.now(),
			Labels: maps.Clone(r.Labels), Tags: &tags, Image: r.Image, HomeDir: dir, WorkDir: dir,
			Isolation: contract.IsolationNone, Freshness: contract.FreshnessLive}}
	b.log = append(b.log, "booted "+id, "image "+r.Image, "ready")
	v.boxes[id] = b
	return b, nil
}

// copyTree copies a directory with everything in it; from "" makes an empty one.
func copyTree(from, to string) error {
	if from == "" {
		return os.Mkdir(to, 0o755)
	}
	out, err := exec.Command("cp", "-a", from, to).CombinedOutput()
	if err != nil {
		return fmt.Errorf("copying a disk: %w: %s", err, out)
	}
	return nil
}

// pause is the vendor's latency.
func (v *Vendor) pause(ctx context.Context) error {
	if v.traits.Latency > 0 {
		t := time.NewTimer(v.traits.Latency)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &port.Error{Code: port.CodeTimeout, Outcome: port.OutcomeUnchanged, Err: ctx.Err()}
	}
	if ctx.Err() != nil {
		return &port.Error{Code: port.CodeCanceled, Outcome: port.OutcomeUnchanged, Err: ctx.Err()}
	}
	return nil
}
