package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentworkforce/sbx/catalog"
	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// cloud is a vendor without streams and terminals whose answers are always the
// same, so that what sbx prints can be compared word for word.
type cloud struct {
	mu        sync.Mutex
	boxes     map[string]contract.Instance
	snapshots map[string]contract.Snapshot
	files     map[string][]byte
	made      int
	asked     []contract.CreateRequest
}

func newCloud() *cloud {
	return &cloud{boxes: map[string]contract.Instance{}, snapshots: map[string]contract.Snapshot{}, files: map[string][]byte{}}
}

// born is when everything at this vendor was made.
func born() *time.Time {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return &at
}

func (c *cloud) next(kind string) string {
	c.made++
	return fmt.Sprintf("%s-%d", kind, c.made)
}

func (c *cloud) Scope(context.Context) (string, error) { return "account", nil }

func (c *cloud) Create(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	port.ReportProgress(ctx, port.Progress{Phase: "pull", Detail: "layer", Current: 512 << 10, Total: 1 << 20})
	c.asked = append(c.asked, r)
	i := contract.Instance{ID: c.next("box"), Name: r.Name, State: contract.StateRunning, NativeState: "up", CreatedAt: born(), Labels: r.Labels,
		Tags: &r.Tags, Image: r.Image, WorkDir: "/work", Isolation: contract.IsolationVM, Freshness: contract.FreshnessLive}
	c.boxes[i.ID] = i
	return i, nil
}

func (c *cloud) Inspect(_ context.Context, id string) (contract.Instance, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i, ok := c.boxes[id]; ok {
		return i, nil
	}
	return contract.Instance{}, &port.Error{Code: port.CodeNotFound, Reason: "there is no such box"}
}

// Exec knows say, fail and repeat.
func (c *cloud) Exec(_ context.Context, _ string, cmd contract.Command) (contract.ExecResult, error) {
	whole := false
	r := contract.ExecResult{Streams: contract.StreamsSeparate, Truncated: &whole}
	switch argv := append(slices.Clone(cmd.Argv), "", ""); argv[0] {
	case "say":
		r.Stdout = []byte(argv[1] + "\n")
	case "fail":
		r.Stderr, r.ExitCode = []byte("failing\n"), 7
	case "repeat":
		r.Stdout = cmd.Stdin
	case "lose":
		return contract.ExecResult{}, &port.Error{Code: port.CodeExitUnknown, Outcome: port.OutcomeDone, Reason: "the exit code is lost"}
	}
	return r, nil
}

func (c *cloud) Destroy(_ context.Context, id string) (port.DestroyOutcome, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.boxes, id)
	return port.DestroyAccepted, nil
}

func (c *cloud) List(_ context.Context, r contract.ListRequest) ([]contract.Instance, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []contract.Instance
	for _, i := range c.boxes {
		match := r.Tags == nil || i.Tags.Owner == r.Tags.Owner && (r.Tags.Intent == "" || i.Tags.Intent == r.Tags.Intent)
		for k, v := range r.Labels {
			match = match && i.Labels[k] == v
		}
		if match {
			out = append(out, i)
		}
	}
	return out, nil
}

func (c *cloud) change(id string, s contract.State) (contract.Instance, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.boxes[id]
	i.State = s
	c.boxes[id] = i
	return i, nil
}

func (c *cloud) Stop(_ context.Context, id string) (contract.Instance, error) {
	return c.change(id, contract.StateStopped)
}

func (c *cloud) Start(_ context.Context, id string) (contract.Instance, error) {
	return c.change(id, contract.StateRunning)
}

func (c *cloud) CreateSnapshot(_ context.Context, id string, r contract.SnapshotRequest) (contract.Snapshot, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := contract.Snapshot{ID: c.next("snap"), Name: r.Name, State: contract.SnapshotStateReady, Source: id, CreatedAt: born(), Tags: &r.Tags,
		Freshness: contract.FreshnessLive}
	c.snapshots[s.ID] = s
	return s, nil
}

func (c *cloud) InspectSnapshot(_ context.Context, id string) (contract.Snapshot, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.snapshots[id]; ok {
		return s, nil
	}
	return contract.Snapshot{}, &port.Error{Code: port.CodeNotFound, Reason: "there is no such snapshot"}
}

func (c *cloud) ListSnapshots(context.Context) ([]contract.Snapshot, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []contract.Snapshot
	for _, s := range c.snapshots {
		out = append(out, s)
	}
	return out, nil
}

func (c *cloud) DeleteSnapshot(_ context.Context, id string) (port.DestroyOutcome, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.snapshots, id)
	return port.DestroyAccepted, nil
}

func (c *cloud) Fork(ctx context.Context, id string, r contract.ForkRequest) (contract.ForkResult, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.boxes[id]
	i.ID, i.Name, i.Labels, i.Tags = c.next("box"), r.Name, r.Labels, &r.Tags
	c.boxes[i.ID] = i
	return contract.ForkResult{Instance: i}, nil
}

func (c *cloud) PortURL(_ context.Context, _ string, p int) (contract.PortAccess, error) {
	return contract.PortAccess{Port: int64(p), URL: "https://box.example/", Audience: contract.PortAudienceAnyone}, nil
}

func (c *cloud) Logs(context.Context, string, contract.LogsRequest) (port.ReadStream, error) {
	return port.ReadStream{ReadCloser: io.NopCloser(strings.NewReader("one\ntwo\n")), Size: -1}, nil
}

func (c *cloud) ReadFile(_ context.Context, _, path string) (port.ReadStream, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	raw := c.files[path]
	return port.ReadStream{ReadCloser: io.NopCloser(bytes.NewReader(raw)), Size: int64(len(raw))}, nil
}

func (c *cloud) WriteFile(_ context.Context, _, path string, _ int, content port.WriteStream) error {
	raw, err := io.ReadAll(content)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files[path] = raw
	return err
}

func (c *cloud) Stat(_ context.Context, _, path string) (contract.FileInfo, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.files[path]; ok {
		return contract.FileInfo{Path: path, Type: contract.FileTypeFile}, nil
	}
	return contract.FileInfo{}, &port.Error{Code: port.CodeNotFound, Reason: "there is no such file"}
}

func (c *cloud) ReadDir(context.Context, string, string) ([]contract.FileInfo, error) {
	return nil, port.NotImplemented("ReadDir")
}

func (c *cloud) Mkdir(context.Context, string, string, int) error {
	return port.NotImplemented("Mkdir")
}

func (c *cloud) Remove(context.Context, string, string, bool) error {
	return port.NotImplemented("Remove")
}

func (c *cloud) Rename(context.Context, string, string, string) error {
	return port.NotImplemented("Rename")
}

func (c *cloud) driver() sandbox.Driver {
	m := contract.Manifest{ID: "cloud", Name: "Cloud", GoneProof: contract.GoneProofBoth, Isolation: contract.IsolationVM,
		Egress: contract.EgressControlHosts, ForkKeeps: contract.KeepsDisk, Image: "standard",
		Labels: contract.LabelRules{Encoding: contract.LabelEncodingMap, Filter: contract.LabelFilterServer},
		Settings: []contract.SettingRule{{Key: "token", Env: "CLOUD_TOKEN", Secret: true, Type: contract.SettingTypeString},
			{Key: "region", Env: "CLOUD_REGION", Type: contract.SettingTypeString}},
		CredentialSets: [][]string{{"token"}}, Claims: map[string]contract.Claim{},
		Leaves: []contract.Leaves{{Kind: contract.ResourceKindSandbox, Find: "List", Inspect: "Inspect", Destroy: "Destroy"},
			{Kind: contract.ResourceKindSnapshot, Find: "ListSnapshots", Inspect: "InspectSnapshot", Destroy: "DeleteSnapshot"}}}
	for _, c := range []contract.Capability{contract.CapabilityList, contract.CapabilityLabels, contract.CapabilityFiles, contract.CapabilityFilesManage,
		contract.CapabilityStop, contract.CapabilitySnapshot, contract.CapabilityFork, contract.CapabilityPorts, contract.CapabilityLogs} {
		m.Claims[string(c)] = contract.Claim{Support: contract.SupportSupported, Via: contract.ViaNative}
	}
	m.Claims[string(contract.CapabilitySuspend)] = contract.Claim{Support: contract.SupportUnsupported, Reason: "Memory is not kept."}
	return sandbox.Driver{ID: "cloud", Manifest: m,
		Open: func(context.Context, port.Settings) (contract.Adapter, error) { return c, nil }}
}

// desk is somebody who uses sbx with the cloud alone, in process.
type desk struct {
	t        *testing.T
	c        *cloud
	vars     map[string]string
	extra    []sandbox.Driver
	columns  int
	in       io.Reader
	catalog  func() ([]catalog.Entry, error)
	now      func() time.Time
	out, err bytes.Buffer
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	return &desk{t: t, c: newCloud(), vars: map[string]string{"SBX_STATE_DIR": t.TempDir(), "SBX_OWNER": "owner-a", "HOME": t.TempDir(),
		"CLOUD_TOKEN": dummyToken, "SBX_PROVIDER": "cloud"}}
}

// dummyToken must never be printed.
const dummyToken = "dummy-credential-7c1d20"

func (d *desk) sbx(args ...string) int {
	d.t.Helper()
	d.out.Reset()
	d.err.Reset()
	all := append([]sandbox.Driver{d.c.driver()}, d.extra...)
	code := run(d.t.Context(), args, outside{in: d.in, out: &d.out, err: &d.err, catalog: d.catalog, now: d.now, drivers: func() []sandbox.Driver { return all },
		columns: func(any) int { return d.columns },
		lookup:  func(n string) (string, bool) { v, ok := d.vars[n]; return v, ok },
		driver: func(id string) (sandbox.Driver, bool) {
			i := slices.IndexFunc(all, func(x sandbox.Driver) bool { return x.ID == id })
			if i < 0 {
				return sandbox.Driver{}, false
			}
			return all[i], true
		}})
	for _, text := range []string{d.out.String(), d.err.String()} {
		if strings.Contains(text, dummyToken) {
			d.t.Fatalf("sbx %v shows a credential:\n%s", args, text)
		}
	}
	return code
}
