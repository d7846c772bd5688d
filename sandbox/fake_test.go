package sandbox_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/stretchr/testify/require"
)

// dummy must appear in no file, error or event.
const dummy = "dummy-credential-1f4e9a"

// cloud is an honest vendor whose state is a directory, so that processes can
// share it. Faults are decorations of the Table, never of the cloud.
type cloud struct {
	dir   string
	scope string
	mu    sync.Mutex
	calls []string
}

type box struct {
	Kind     string
	Instance contract.Instance
	Snapshot contract.Snapshot
}

func newCloud(t *testing.T) *cloud {
	t.Helper()
	return &cloud{dir: t.TempDir(), scope: "account-1"}
}

func (c *cloud) called(op string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, op)
}

// count says how often an operation reached the vendor.
func (c *cloud) count(op string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, have := range c.calls {
		if have == op {
			n++
		}
	}
	return n
}

func (c *cloud) put(id string, b box) error {
	raw, err := json.Marshal(b)
	if err != nil {
		return err
	}
	tmp := filepath.Join(c.dir, id+".tmp"+hexID())
	if err := os.WriteFile(tmp, raw, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(c.dir, id+".json"))
}

func (c *cloud) get(op, id, kind string) (box, error) {
	var b box
	raw, err := os.ReadFile(filepath.Join(c.dir, id+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return b, notFound(op, id)
	}
	if err == nil {
		err = json.Unmarshal(raw, &b)
	}
	if err == nil && b.Kind != kind {
		err = notFound(op, id)
	}
	return b, err
}

func (c *cloud) all(kind string) ([]box, error) {
	names, err := filepath.Glob(filepath.Join(c.dir, "*.json"))
	if err != nil {
		return nil, err
	}
	var out []box
	for _, name := range names {
		b, err := c.get("List", strings.TrimSuffix(filepath.Base(name), ".json"), kind)
		if port.CodeOf(err) == port.CodeNotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

// ids are what exists at the vendor, of every kind.
func (c *cloud) ids(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(c.dir, "*.json"))
	require.NoError(t, err)
	for i, n := range names {
		names[i] = strings.TrimSuffix(filepath.Base(n), ".json")
	}
	return names
}

func notFound(op, id string) error {
	return &port.Error{Code: port.CodeNotFound, Op: op, ID: id, Outcome: port.OutcomeUnchanged}
}

func hexID() string {
	b := make([]byte, 6)
	if _, err := rand.Read(b); err != nil {
		panic(err)
	}
	return hex.EncodeToString(b)
}

// adapter speaks to a cloud.
type adapter struct{ c *cloud }

func (a *adapter) Scope(context.Context) (string, error) { a.c.called("Scope"); return a.c.scope, nil }

func (a *adapter) Create(_ context.Context, r contract.CreateRequest) (contract.Instance, error) {
	a.c.called("Create")
	tags := r.Tags
	i := contract.Instance{ID: "box-" + hexID(), Name: r.Name, State: contract.StateRunning, Labels: r.Labels, Tags: &tags,
		Image: r.Image, Isolation: contract.IsolationNone, Freshness: contract.FreshnessLive}
	return i, a.c.put(i.ID, box{Kind: "sandbox", Instance: i})
}

func (a *adapter) Inspect(_ context.Context, id string) (contract.Instance, error) {
	a.c.called("Inspect")
	b, err := a.c.get("Inspect", id, "sandbox")
	return b.Instance, err
}

func (a *adapter) Exec(_ context.Context, id string, c contract.Command) (contract.ExecResult, error) {
	a.c.called("Exec")
	b, err := a.c.get("Exec", id, "sandbox")
	if err != nil {
		return contract.ExecResult{}, err
	}
	if b.Instance.State != contract.StateRunning {
		return contract.ExecResult{}, &port.Error{Code: port.CodeFailedPrecondition, Outcome: port.OutcomeUnchanged}
	}
	return contract.ExecResult{Stdout: []byte(strings.Join(c.Argv, " ") + c.Script), Streams: contract.StreamsSeparate}, nil
}

func (a *adapter) remove(op, id, kind string) (port.DestroyOutcome, error) {
	a.c.called(op)
	if _, err := a.c.get(op, id, kind); port.CodeOf(err) == port.CodeNotFound {
		return port.DestroyAlreadyAbsent, nil
	}
	return port.DestroyAccepted, os.Remove(filepath.Join(a.c.dir, id+".json"))
}

func (a *adapter) Destroy(_ context.Context, id string) (port.DestroyOutcome, error) {
	return a.remove("Destroy", id, "sandbox")
}

func (a *adapter) List(_ context.Context, r contract.ListRequest) ([]contract.Instance, error) {
	a.c.called("List")
	boxes, err := a.c.all("sandbox")
	var out []contract.Instance
	for _, b := range boxes {
		if r.Tags == nil || b.Instance.Tags != nil && b.Instance.Tags.Intent == r.Tags.Intent {
			out = append(out, b.Instance)
		}
	}
	return out, err
}

func (a *adapter) state(op, id string, s contract.State) (contract.Instance, error) {
	a.c.called(op)
	b, err := a.c.get(op, id, "sandbox")
	if err != nil {
		return contract.Instance{}, err
	}
	b.Instance.State = s
	return b.Instance, a.c.put(id, b)
}

func (a *adapter) Stop(_ context.Context, id string) (contract.Instance, error) {
	return a.state("Stop", id, contract.StateStopped)
}

func (a *adapter) Start(_ context.Context, id string) (contract.Instance, error) {
	return a.state("Start", id, contract.StateRunning)
}

func (a *adapter) Restart(_ context.Context, id string) (contract.Instance, error) {
	return a.state("Restart", id, contract.StateRunning)
}

func (a *adapter) CreateSnapshot(_ context.Context, id string, r contract.SnapshotRequest) (contract.Snapshot, error) {
	a.c.called("CreateSnapshot")
	if _, err := a.c.get("CreateSnapshot", id, "sandbox"); err != nil {
		return contract.Snapshot{}, err
	}
	tags := r.Tags
	s := contract.Snapshot{ID: "snap-" + hexID(), Name: r.Name, Source: id, State: contract.SnapshotStateReady, Tags: &tags,
		Freshness: contract.FreshnessLive}
	return s, a.c.put(s.ID, box{Kind: "snapshot", Snapshot: s})
}

func (a *adapter) InspectSnapshot(_ context.Context, id string) (contract.Snapshot, error) {
	a.c.called("InspectSnapshot")
	b, err := a.c.get("InspectSnapshot", id, "snapshot")
	return b.Snapshot, err
}

func (a *adapter) ListSnapshots(context.Context) ([]contract.Snapshot, error) {
	a.c.called("ListSnapshots")
	boxes, err := a.c.all("snapshot")
	var out []contract.Snapshot
	for _, b := range boxes {
		out = append(out, b.Snapshot)
	}
	return out, err
}

func (a *adapter) DeleteSnapshot(_ context.Context, id string) (port.DestroyOutcome, error) {
	return a.remove("DeleteSnapshot", id, "snapshot")
}

func (a *adapter) Fork(ctx context.Context, id string, r contract.ForkRequest) (contract.ForkResult, error) {
	a.c.called("Fork")
	s, err := a.CreateSnapshot(ctx, id, contract.SnapshotRequest{Tags: r.Tags})
	if err != nil {
		return contract.ForkResult{}, err
	}
	res := contract.ForkResult{Intermediates: []contract.Intermediate{{Kind: contract.ResourceKindSnapshot, ID: s.ID}}}
	res.Instance, err = a.Create(ctx, contract.CreateRequest{Name: r.Name, FromSnapshot: s.ID, Tags: r.Tags})
	return res, err
}

func (a *adapter) Logs(_ context.Context, id string, _ contract.LogsRequest) (port.ReadStream, error) {
	a.c.called("Logs")
	return port.ReadStream{ReadCloser: io.NopCloser(strings.NewReader("boot failed: token " + dummy + "\n")), Size: -1}, nil
}

func (a *adapter) ReadFile(ctx context.Context, _, _ string) (port.ReadStream, error) {
	a.c.called("ReadFile")
	return port.ReadStream{ReadCloser: &ctxReader{ctx: ctx, r: strings.NewReader("content")}, Size: 7}, nil
}

func (a *adapter) WriteFile(context.Context, string, string, int, port.WriteStream) error {
	a.c.called("WriteFile")
	return nil
}

// ctxReader is a body that dies with the context of the call, as HTTP bodies do.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (r *ctxReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
func (r *ctxReader) Close() error { return nil }

// supported are the capabilities of the whole fake.
func supported() []contract.Capability {
	return []contract.Capability{contract.CapabilityList, contract.CapabilityLabels, contract.CapabilityFiles, contract.CapabilityStop,
		contract.CapabilityRestart, contract.CapabilitySnapshot, contract.CapabilityFork, contract.CapabilityLogs}
}

func manifest(caps ...contract.Capability) contract.Manifest {
	m := contract.Manifest{ID: "fake", Claims: map[string]contract.Claim{}, GoneProof: contract.GoneProofBoth,
		EnvReserved: []string{"FAKE_MARK"},
		Egress:      contract.EgressControlNone, Isolation: contract.IsolationNone, ForkKeeps: contract.KeepsDisk,
		Labels:         contract.LabelRules{Encoding: contract.LabelEncodingMap, Filter: contract.LabelFilterServer},
		Settings:       []contract.SettingRule{{Key: "token", Env: "FAKE_TOKEN", Aliases: []string{"OLD_TOKEN"}, Secret: true, Type: contract.SettingTypeString}},
		CredentialSets: [][]string{{"token"}}}
	for _, c := range caps {
		m.Claims[string(c)] = contract.Claim{Support: contract.SupportSupported, Via: contract.ViaNative}
	}
	return m
}

func (c *cloud) driver(caps ...contract.Capability) sandbox.Driver {
	return sandbox.Driver{ID: "fake", Manifest: manifest(caps...),
		Open: func(context.Context, port.Settings) (contract.Adapter, error) { return &adapter{c: c}, nil }}
}

// short are deadlines that a failing test can wait for.
func short() sandbox.Deadlines {
	return sandbox.Deadlines{Provision: 5 * time.Second, Ready: 300 * time.Millisecond, Operation: time.Second,
		Transfer: time.Second, Lookup: time.Second, Destroy: 300 * time.Millisecond}
}

// world is one user's machine: state, owner and a vendor.
type world struct {
	t     *testing.T
	c     *cloud
	state string
	mu    sync.Mutex
	told  []sandbox.Event
}

func newWorld(t *testing.T) *world { return &world{t: t, c: newCloud(t), state: t.TempDir()} }

func (w *world) options(more ...sandbox.Option) []sandbox.Option {
	return append([]sandbox.Option{sandbox.WithStateDir(w.state), sandbox.WithOwner("owner-a"), sandbox.WithDeadlines(short()),
		sandbox.WithEnviron(func(string) (string, bool) { return "", false }),
		sandbox.WithSecret("token", port.NewSecret(dummy)),
		sandbox.WithObserver(func(e sandbox.Event) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.told = append(w.told, e)
		})}, more...)
}

func (w *world) open(more ...sandbox.Option) *sandbox.Provider {
	w.t.Helper()
	return w.openDriver(w.c.driver(supported()...), more...)
}

func (w *world) openDriver(d sandbox.Driver, more ...sandbox.Option) *sandbox.Provider {
	w.t.Helper()
	p, err := sandbox.Open(w.t.Context(), d, w.options(more...)...)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { require.NoError(w.t, p.Close()) })
	return p
}

// events are the ledger's words of a run.
func events(t *testing.T, path string) []ledger.Event {
	t.Helper()
	log, err := ledger.Read(path)
	require.NoError(t, err)
	var out []ledger.Event
	for _, r := range log.Records {
		out = append(out, r.Event)
	}
	return out
}

// legal requires that every ledger of the world is intact and in order.
func (w *world) legal() {
	w.t.Helper()
	runs, err := ledger.Scan(context.Background(), ledger.Dirs{Root: w.state})
	require.NoError(w.t, err)
	for _, r := range runs {
		rep, err := ledger.Verify(r.Path)
		require.NoError(w.t, err)
		require.True(w.t, rep.OK(), "%s: %+v", r.Path, rep.Findings)
	}
}

func code(t *testing.T, err error, want port.Code) *sandbox.Error {
	t.Helper()
	var e *sandbox.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, want, e.Code, "%v", err)
	return e
}
