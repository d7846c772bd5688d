package evidence

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/providers/docker"
	"github.com/agentworkforce/sbx/providers/gvisor"
	"github.com/agentworkforce/sbx/providers/local"
	"github.com/agentworkforce/sbx/sandbox"
)

func TestWriteAndRead(t *testing.T) {
	g := newGenuine(t)
	b := g.bundle(t)
	envelope := b.Files[EnvelopeName]
	delete(b.Files, EnvelopeName)
	root := t.TempDir()
	dir, err := b.Write(root)
	require.NoError(t, err)
	require.Equal(t, "evidence/acme/"+runID, dir)
	require.NoError(t, WriteEnvelope(root, dir, []byte("other")))
	require.NoError(t, WriteEnvelope(root, dir, envelope))
	again, err := Read(os.DirFS(root), dir)
	require.NoError(t, err)
	require.Empty(t, verify(t, again, g.options()))
	_, err = b.Write(root)
	require.ErrorIs(t, err, fs.ErrExist)
	entries, err := os.ReadDir(filepath.Join(root, "evidence", "acme"))
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing temporary is left")

	b.Run = "20261129T100000Z-0123456789ac"
	b.Files["notes.txt"] = nil
	_, err = b.Write(root)
	require.ErrorIs(t, err, ErrUnwritable)
	entries, err = os.ReadDir(filepath.Join(root, "evidence", "acme"))
	require.NoError(t, err)
	require.Len(t, entries, 1, "a bundle that cannot be written leaves nothing")
	for _, run := range []string{"..", "", "a/b", "../../x"} {
		b.Run = run
		_, err = b.Write(root)
		require.ErrorIs(t, err, ErrUnwritable, run)
	}
	_, err = Read(os.DirFS(root), "evidence/acme/none")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestReadRefuses(t *testing.T) {
	dir := "evidence/acme/" + runID
	b, err := Read(fstest.MapFS{dir + "/statement.json": {Mode: fs.ModeSymlink, Data: []byte("x")}, dir + "/conformance.json": {Data: make([]byte, maxFile+1)}}, dir)
	require.NoError(t, err)
	require.Empty(t, b.Files)
	require.Equal(t, []Kind{KindMissing, KindUnreadable}, kinds(verify(t, b, Options{Now: began()})))
	many := fstest.MapFS{}
	for i := range maxFiles + 1 {
		many[fmt.Sprintf("%s/%d", dir, i)] = &fstest.MapFile{}
	}
	_, err = Read(many, dir)
	require.ErrorIs(t, err, errTooMany)
	_, err = Read(fstest.MapFS{dir: {}}, dir)
	require.ErrorIs(t, err, errNoFolder)
}

func TestNewRun(t *testing.T) {
	g := newGenuine(t)
	check(g.run.Report, "ready.functional").Verdict = conformance.Failed
	recount(g.run.Report)
	failed := g.bundle(t)
	s, err := failed.Statement()
	require.NoError(t, err)
	require.Equal(t, Failed, s.Predicate.Verdict)
	require.NotEmpty(t, s.Predicate.Reasons)
	for _, f := range verify(t, failed, g.options()) {
		require.Equal(t, ClassProof, f.Kind.Class(), "a failed run is kept as a record: %v", f)
	}

	g.run.Missing = []string{"ACME_API_KEY"}
	_, err = New(g.run, g.now)
	require.ErrorIs(t, err, errMutation)
	g.run.Ledgers, g.run.Benchmark, g.run.Report.Ledgers = nil, nil, nil
	blocked := g.bundle(t)
	s, err = blocked.Statement()
	require.NoError(t, err)
	require.Equal(t, Blocked, s.Predicate.Verdict)
	require.Equal(t, []string{"ACME_API_KEY"}, s.Predicate.Missing)
	require.Contains(t, kinds(verify(t, blocked, g.options())), KindVerdict)

	g.run.Report = nil
	_, err = New(g.run, g.now)
	require.ErrorIs(t, err, errNoReport)
	g = newGenuine(t)
	g.run.ID = "../x"
	_, err = New(g.run, g.now)
	require.ErrorIs(t, err, errRunID)
}

func TestOrigin(t *testing.T) {
	for address, want := range map[string]string{
		"https://API.acme.example/v1?x": "https://api.acme.example:443", "http://127.0.0.1:80": "http://127.0.0.1:80",
		"wss://[::1]/": "wss://[::1]:443", "acme.example": "", "unix:///run/x": "", "https://": "", "://": "", "tcp://x": "",
	} {
		got, err := Origin(address)
		require.Equal(t, want == "", err != nil, address)
		require.Equal(t, want, got)
	}
	for origin, want := range map[string]bool{"http://localhost:1": true, "https://a.localhost:1": true, "https://127.9.9.9:443": true,
		"https://[::1]:1": true, "http://0.0.0.0:1": true, "https://acme.example:443": false, "https://8.8.8.8:443": false} {
		require.Equal(t, want, isLoopback(origin), origin)
	}
}

func TestModeOfAnEngine(t *testing.T) {
	mode, reasons := DeriveMode(nil, Target{Account: "a"}, conformance.Mode{Scope: "a"})
	require.Equal(t, Live, mode, reasons)
	mode, reasons = DeriveMode(nil, Target{}, conformance.Mode{})
	require.Equal(t, Simulated, mode)
	require.Len(t, reasons, 1)
}

func TestResolve(t *testing.T) {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	config := &tls.Config{RootCAs: pool}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	manifest := []ManifestEndpoint{{"api", "https://api.acme.example"}, {"plain", "http://plain.acme.example/x"}}
	got, err := Resolve(ctx, manifest, map[string]string{"api": server.URL}, config)
	require.NoError(t, err)
	require.Equal(t, []Endpoint{{"api", server.URL, SHA256(server.Certificate().RawSubjectPublicKeyInfo)}, {"plain", "http://plain.acme.example:80", ""}}, got)
	mode, _ := DeriveMode(manifest[:1], Target{Account: "a", Endpoints: got[:1]}, conformance.Mode{Scope: "a", Endpoints: []conformance.EndpointMode{{Name: "api", URL: manifest[0].URL}}})
	require.Equal(t, Simulated, mode, "an address of this machine")
	_, err = Resolve(ctx, manifest, map[string]string{"api": server.URL}, nil)
	require.ErrorContains(t, err, "endpoint api", "a certificate nobody vouches for")
	_, err = Resolve(ctx, []ManifestEndpoint{{"api", "api"}}, nil, nil)
	require.ErrorIs(t, err, errOrigin)
}

func TestNewCurrent(t *testing.T) {
	fsys := os.DirFS("../..")
	docker, err := NewCurrent(fsys, "providers/docker", manifestValue(t, "docker"))
	require.NoError(t, err)
	require.Equal(t, "docker", docker.Provider)
	require.Contains(t, docker.Supported, "snapshot", "its support follows from its facts")
	require.NotContains(t, docker.Supported, "ssh")
	require.NotEmpty(t, docker.Adapter)
	gvisor, err := NewCurrent(fsys, "providers/gvisor", manifestValue(t, "gvisor"))
	require.NoError(t, err)
	require.NotEqual(t, docker.Adapter, gvisor.Adapter)
	e2b, err := NewCurrent(fsys, "providers/e2b", manifestValue(t, "e2b"))
	require.NoError(t, err)
	require.Empty(t, e2b.Adapter, "it has none")
	require.Equal(t, ManifestEndpoint{"api", "https://api.e2b.app"}, e2b.Endpoints[0])
	_, err = NewCurrent(fsys, "providers/docker", []any{})
	require.Error(t, err)
}

// TestSupportedIsTheDriversWord: what a manifest claims here is what the suite
// takes from the driver made of it.
func TestSupportedIsTheDriversWord(t *testing.T) {
	for _, d := range []sandbox.Driver{local.Driver(), docker.Driver(), gvisor.Driver()} {
		now, err := NewCurrent(os.DirFS("../.."), "providers/"+d.ID, manifestValue(t, d.ID))
		require.NoError(t, err)
		var want []string
		for id, claim := range d.Manifest.Claims {
			if claim.Support == contract.SupportSupported {
				want = append(want, id)
			}
		}
		slices.Sort(want)
		require.Equal(t, want, now.Supported, d.ID)
		require.Len(t, now.Endpoints, len(d.Manifest.Endpoints), d.ID)
	}
}
