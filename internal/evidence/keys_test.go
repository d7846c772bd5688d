package evidence

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/schema"
)

func TestKeysSchemaPassesLint(t *testing.T) {
	src, err := schema.Files().ReadFile(schema.KeysFile)
	require.NoError(t, err)
	require.Empty(t, schema.Lint(schema.KeysFile, src))
}

func TestParseKeys(t *testing.T) {
	key, err := NewPrivateKey(seeded("a"))
	require.NoError(t, err)
	other, err := NewPrivateKey(seeded("b"))
	require.NoError(t, err)
	from, until := began(), began().AddDate(1, 0, 0)
	entry := key.Entry("Ada", from, until)
	text := "keys:\n" + entry + "    revoked: {at: 2027-01-01T00:00:00Z, reason: retired}\n" + other.Entry("Bob", from, until)
	keys, found, err := ParseKeys(KeysFile, []byte(text))
	require.NoError(t, err)
	require.Empty(t, found)
	require.Len(t, keys.Keys, 2)
	got, ok := keys.Find(key.ID())
	require.True(t, ok)
	require.Equal(t, "Ada", got.Owner)
	require.True(t, from.Equal(got.ValidFrom))
	require.Equal(t, Retired, got.Revoked.Reason)
	_, ok = (*Keys)(nil).Find(key.ID())
	require.False(t, ok)

	keys, found, err = ParseKeys(KeysFile, []byte("keys: []\n"))
	require.NoError(t, err)
	require.Empty(t, found)
	require.Empty(t, keys.Keys)

	for what, c := range map[string]struct {
		text, at, rule string
	}{
		"another's ID":   {"keys:\n" + strings.Replace(entry, key.ID(), other.ID(), 1), ":2:9:", RuleKeys},
		"twice":          {"keys:\n" + entry + entry, ":7:9:", RuleKeys},
		"ends first":     {"keys:\n" + key.Entry("Ada", until, from), ":6:17:", RuleKeys},
		"for too long":   {"keys:\n" + key.Entry("Ada", from, from.AddDate(3, 0, 0)), ":6:17:", RuleKeys},
		"unknown field":  {"keys:\n" + entry + "    note: x\n", ":7:5:", "SBX120"},
		"no owner":       {"keys:\n" + strings.Replace(entry, "    owner: \"Ada\"\n", "", 1), ":2:5:", "SBX121"},
		"unknown reason": {"keys:\n" + entry + "    revoked: {at: 2027-01-01T00:00:00Z, reason: lost}\n", ":7:49:", "SBX123"},
		"no public half": {"keys:\n" + strings.Replace(entry, key.Public(), "abc", 1), ":3:13:", "SBX124"},
		"syntax":         {"keys: [\n", ":", "SBX100"},
	} {
		keys, found, err := ParseKeys(KeysFile, []byte(c.text))
		require.NoError(t, err, what)
		require.Nil(t, keys, what)
		require.NotEmpty(t, found, what)
		require.Equal(t, c.rule, found[0].Rule, what)
		require.Contains(t, fmt.Sprintf("%s:%d:%d:", found[0].File, found[0].Span().Line, found[0].Span().Col), c.at, "%s: %v", what, found)
	}
}

func TestPrivateKeyIsNotShown(t *testing.T) {
	key, err := NewPrivateKey(seeded("a"))
	require.NoError(t, err)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		require.Equal(t, key.ID(), fmt.Sprintf(verb, key), verb)
	}
	b, err := json.Marshal(key)
	require.NoError(t, err)
	require.Equal(t, "{}", string(b))
	_, err = NewPrivateKey(strings.NewReader("short"))
	require.Error(t, err)
	_, err = Sign(context.Background(), []byte("x"), PrivateKey{})
	require.ErrorIs(t, err, errNoKey)
}

func TestKeyFile(t *testing.T) {
	key, err := NewPrivateKey(seeded("a"))
	require.NoError(t, err)
	root, elsewhere := t.TempDir(), t.TempDir()
	file := filepath.Join(elsewhere, "key.pem")
	require.NoError(t, WriteKeyFile(file, root, key))
	again, err := ReadKeyFile(file)
	require.NoError(t, err)
	require.Equal(t, key.Public(), again.Public())
	require.ErrorIs(t, WriteKeyFile(file, root, key), fs.ErrExist)
	require.ErrorIs(t, WriteKeyFile(filepath.Join(root, "key.pem"), root, key), ErrInsideTree)
	require.NoError(t, os.MkdirAll(filepath.Join(root, "a"), 0o755))
	require.ErrorIs(t, WriteKeyFile(filepath.Join(root, "a", "key.pem"), root, key), ErrInsideTree)
	require.Error(t, WriteKeyFile(filepath.Join(elsewhere, "k2"), root, PrivateKey{}))
	if runtime.GOOS != "windows" {
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
		link := filepath.Join(elsewhere, "link")
		require.NoError(t, os.Symlink(root, link))
		require.ErrorIs(t, WriteKeyFile(filepath.Join(link, "key.pem"), root, key), ErrInsideTree)
		require.NoError(t, os.Chmod(file, 0o640))
		_, err = ReadKeyFile(file)
		require.ErrorIs(t, err, ErrPermissions)
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	_, err = ParsePrivateKey(bytes.Replace(text, []byte("PRIVATE"), []byte("PUBLIC"), 2))
	require.ErrorIs(t, err, errNoKey)
	_, err = ParsePrivateKey(nil)
	require.ErrorIs(t, err, errNoKey)
}

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
