package gatetest

import (
	"context"
	"crypto/sha256"
	"embed"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/agentworkforce/sbx/internal/evidence"
	"github.com/agentworkforce/sbx/internal/yamldoc"
)

//go:embed manifest.txt
var files embed.FS

// Places in a tree.
const (
	Provider = "acme"
	Run      = "20260820T100000Z-0123456789ab"
	Entry    = "catalog/acme.yaml"
	Manifest = "providers/acme/provider.yaml"
	Adapter  = "providers/acme/adapter.go"
	Dir      = "evidence/acme/" + Run
)

// Began is when the run began, and AsOf a day on which it is fresh.
func Began() time.Time { return time.Date(2026, 8, 20, 10, 0, 0, 0, time.UTC) }

// AsOf is a day after the run.
func AsOf() time.Time { return time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC) }

// TB is what the trees need of a test.
type TB interface {
	Helper()
	TempDir() string
	Fatal(args ...any)
}

// Tree is a module with one verified provider.
type Tree struct {
	Root string
	Now  *evidence.Current
	Run  evidence.Run
	Key  evidence.PrivateKey
	tb   TB
}

// New writes the sources of a tree and makes the records of a run; Verify
// completes it. What a test changes of Run before Verify is signed.
func New(tb TB) *Tree {
	tb.Helper()
	t := &Tree{Root: tb.TempDir(), tb: tb}
	t.Put("go.mod", "module example.com/acme\n\ngo 1.26\n")
	manifest, err := files.ReadFile("manifest.txt")
	t.check(err)
	t.Put(Manifest, string(manifest))
	t.Put(Adapter, "package acme\n\n// Adapter is one.\ntype Adapter struct{}\n")
	t.Key = t.NewKey("trusted")
	t.List(t.Key)
	t.Refresh()
	t.Run = genuineRun(tb, t.Now)
	return t
}

// Refresh reads the provider again as it stands.
func (t *Tree) Refresh() {
	t.tb.Helper()
	doc, _ := yamldoc.Parse(Manifest, t.Read(Manifest))
	now, err := evidence.NewCurrent(os.DirFS(t.Root), path.Dir(Manifest), doc.Value())
	t.check(err)
	t.Now = now
}

// Verify writes the run's folder, signs it and makes the entry verified by it.
func (t *Tree) Verify() *evidence.Bundle {
	t.tb.Helper()
	b, err := evidence.New(t.Run, t.Now)
	t.check(err)
	t.Sign(b, t.Key)
	t.Write(b)
	return b
}

// Sign replaces the signature of a bundle.
func (t *Tree) Sign(b *evidence.Bundle, key evidence.PrivateKey) {
	t.tb.Helper()
	envelope, err := evidence.Sign(context.Background(), b.Files[evidence.StatementName], key)
	t.check(err)
	b.Files[evidence.EnvelopeName] = envelope
}

// Write replaces the run's folder by a bundle and links it.
func (t *Tree) Write(b *evidence.Bundle) {
	t.tb.Helper()
	t.check(os.RemoveAll(filepath.Join(t.Root, filepath.FromSlash(Dir))))
	for name, src := range b.Files {
		t.Put(path.Join(Dir, name), string(src))
	}
	t.Link(b)
}

// Link writes the entry that rests on a bundle.
func (t *Tree) Link(b *evidence.Bundle) {
	t.tb.Helper()
	s, err := b.Statement()
	t.check(err)
	t.Put(Entry, fmt.Sprintf("# Reviewed line by line.\nprovider: acme\nstatus: verified\nevidence:\n  - path: %s/%s\n    sha256: %s\nverifiedAt: %s\nverifiedBy: A. Person\nexpiresAt: %s\n",
		Dir, evidence.StatementName, evidence.SHA256(b.Files[evidence.StatementName]),
		s.Predicate.FinishedAt.Format(time.RFC3339Nano), s.Predicate.ExpiresAt().Format(time.RFC3339Nano)))
}

// NewKey makes the key that follows from a text.
func (t *Tree) NewKey(text string) evidence.PrivateKey {
	t.tb.Helper()
	key, err := evidence.NewPrivateKey(rand.NewChaCha8(sha256.Sum256([]byte(text))))
	t.check(err)
	return key
}

// List makes keys the ones that count.
func (t *Tree) List(keys ...evidence.PrivateKey) {
	t.tb.Helper()
	text := "keys:\n"
	for _, k := range keys {
		text += k.Entry("Ada", Began().AddDate(0, -1, 0), Began().AddDate(1, 0, 0))
	}
	t.Put(evidence.KeysFile, text)
}

// Put writes a file of the tree.
func (t *Tree) Put(name, src string) {
	t.tb.Helper()
	file := filepath.Join(t.Root, filepath.FromSlash(name))
	t.check(os.MkdirAll(filepath.Dir(file), 0o755))
	t.check(os.WriteFile(file, []byte(src), 0o644))
}

// Read returns a file of the tree.
func (t *Tree) Read(name string) []byte {
	t.tb.Helper()
	src, err := os.ReadFile(filepath.Join(t.Root, filepath.FromSlash(name)))
	t.check(err)
	return src
}

// Remove removes a file of the tree.
func (t *Tree) Remove(name string) {
	t.tb.Helper()
	t.check(os.Remove(filepath.Join(t.Root, filepath.FromSlash(name))))
}

func (t *Tree) check(err error) {
	t.tb.Helper()
	if err != nil {
		t.tb.Fatal(err)
	}
}
