package conformance

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// suite is one run: the provider that most checks use, the sandbox that those
// share which leave no trace in it, and what reached the adapter.
type suite struct {
	h        Harness
	opts     RunOptions
	stateDir string
	tap      *tap
	scrub    *scrubber
	p        *sandbox.Provider
	openErr  error

	mu       sync.Mutex
	adapter  contract.Adapter // of p
	settings port.Settings
	bound    contract.Table // what p uses, wrapped by the tap
	shared   *sandbox.Sandbox
	scope    string
	before   map[string]int
	nonces   int
	refusals map[contract.Capability]*refusal

	reaping sync.Mutex // held by a check that lets a reaper act
}

// refusal is the answer to calling what the manifest does not declare, once per
// capability.
type refusal struct {
	once sync.Once
	err  error
}

// newSuite makes the state directory and opens the provider. A provider that
// does not open is not an error of newSuite: the checks say what it means.
func newSuite(ctx context.Context, h Harness, opts RunOptions) (s *suite, cleanup func() error, err error) {
	if h.Driver.Open == nil {
		return nil, nil, errors.New("conformance: the harness has no driver")
	}
	s = &suite{h: h, opts: opts, stateDir: opts.StateDir, tap: &tap{}, refusals: map[contract.Capability]*refusal{}}
	for _, c := range contract.Capabilities() {
		s.refusals[c] = &refusal{}
	}
	cleanup = func() error { return nil }
	if s.stateDir == "" {
		if s.stateDir, err = os.MkdirTemp("", "sbx-conformance-"); err != nil {
			return nil, nil, fmt.Errorf("conformance: state directory: %w", err)
		}
		cleanup = func() error { return os.RemoveAll(s.stateDir) }
	}
	if s.stateDir, err = filepath.Abs(s.stateDir); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("conformance: state directory: %w", err), cleanup())
	}
	s.scrub = newScrubber(s.stateDir)
	d := h.Driver
	d.Open = func(ctx context.Context, settings port.Settings) (contract.Adapter, error) {
		a, err := h.Driver.Open(ctx, settings)
		if err == nil {
			s.mu.Lock()
			s.adapter, s.settings = a, settings
			s.mu.Unlock()
		}
		return a, err
	}
	s.p, s.openErr = s.open(ctx, d, sandbox.WithTable(func(t contract.Table) contract.Table {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.bound = t
		return t
	}))
	return s, cleanup, nil
}

// open opens d as the harness says. The suite's tap is outside of whatever
// decorators the harness has, and inside of those in more.
func (s *suite) open(ctx context.Context, d sandbox.Driver, more ...sandbox.Option) (*sandbox.Provider, error) {
	opts := []sandbox.Option{sandbox.WithStateDir(s.stateDir)}
	opts = append(opts, s.h.Options...)
	if s.opts.Probing {
		opts = append(opts, sandbox.Probing())
	}
	opts = append(opts, sandbox.WithTable(s.tap.wrap))
	return sandbox.Open(ctx, d, append(opts, more...)...)
}

// table is the adapter's, past the library.
func (s *suite) table() contract.Table {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bound
}

func (s *suite) sharedSandbox() *sandbox.Sandbox {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shared
}

func (s *suite) share(sb *sandbox.Sandbox) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shared = sb
}

// nonce is unique in this run.
func (s *suite) nonce() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nonces++
	return fmt.Sprintf("%04d", s.nonces)
}

// preflight finds out whether anything live can be judged at all.
func (s *suite) preflight(ctx context.Context) error {
	if s.openErr != nil {
		switch port.CodeOf(s.openErr) {
		case port.CodeUnauthenticated, port.CodePermissionDenied, port.CodeUnavailable:
			return s.openErr
		}
		return nil // shape.manifest-matches says what is wrong
	}
	if s.h.Preflight == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return s.h.Preflight(ctx)
}

// endShared destroys the shared sandbox; nothing uses it any more.
func (s *suite) endShared(ctx context.Context) error {
	sb := s.sharedSandbox()
	if sb == nil {
		return nil
	}
	s.share(nil)
	return s.destroy(ctx, sb)
}

// callable reports whether the run may use a capability.
func (s *suite) callable(c contract.Capability) bool { return s.p != nil && s.p.Supports(c) }

// storesMarks reports whether the manifest says that the vendor keeps ownership marks.
func (s *suite) storesMarks() bool {
	switch s.h.Driver.Manifest.Labels.Encoding {
	case contract.LabelEncodingMap, contract.LabelEncodingPacked, contract.LabelEncodingName:
		return true
	}
	return false
}

// supports is the manifest's word alone.
func (s *suite) supports(c contract.Capability) bool {
	return s.h.Driver.Manifest.Claims[string(c)].Support == contract.SupportSupported
}

// owed reports whether a provider has to pass a check to count as verified: the
// six groups that everybody owes, and the checks of what it supports.
func (s *suite) owed(c check) bool {
	switch c.Group {
	case "create", "ready", "execute", "cleanup", "teardown-must-fire", "teardown-must-not-fire":
		return true
	}
	return c.Group == "capability" && s.supports(contract.Capability(c.Capability))
}

// fault makes an operation of the adapter misbehave until it is switched off.
type fault struct {
	mu  sync.Mutex
	off bool
	n   int
}

// fires reports whether the fault still acts, and counts.
func (f *fault) fires() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	return !f.off
}

func (f *fault) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.off = true
}

// times is how often the operation was called.
func (f *fault) times() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}

// quick are deadlines that a check of failures can wait for, and in which a loaded
// machine still answers.
func quick() sandbox.Deadlines {
	return sandbox.Deadlines{Ready: 4 * time.Second, Destroy: 4 * time.Second}
}

func randomID() string {
	b := make([]byte, 6)
	if _, err := rand.Read(b); err != nil {
		return "unidentified"
	}
	return time.Now().UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(b)
}

// ids are the IDs of instances.
func ids(all []contract.Instance) []string {
	out := make([]string, 0, len(all))
	for _, i := range all {
		out = append(out, i.ID)
	}
	return out
}

func lists(all []contract.Instance, id string) bool { return slices.Contains(ids(all), id) }
