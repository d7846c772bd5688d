package gen

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/gen/tree"
	"github.com/agentworkforce/sbx/internal/secretdiag"
	"github.com/agentworkforce/sbx/internal/yamldoc"
)

// ManifestName is the file that makes a folder a provider.
const ManifestName = "provider.yaml"

// Manifest is one provider.yaml of a project.
type Manifest struct {
	Dir  string // slash path of the folder, relative to the project's root
	Path string // Dir/provider.yaml
	src  []byte
	doc  func() (*yamldoc.Doc, []diag.Diagnostic)
	// checked says that it was parsed and checked in this run, and not taken as
	// it was when its files were generated.
	checked bool
}

func newManifest(dir string, src []byte) *Manifest {
	m := &Manifest{Dir: dir, Path: path.Join(dir, ManifestName), src: src}
	m.doc = sync.OnceValues(func() (*yamldoc.Doc, []diag.Diagnostic) { return yamldoc.Parse(m.Path, src) })
	return m
}

// value is the manifest as decoded; a document that is none is empty.
func (m *Manifest) value() node {
	doc, _ := m.doc()
	if doc == nil {
		return node{}
	}
	v, _ := doc.Value().(map[string]any)
	return v
}

// ID is the provider's id as written; empty when there is none.
func (m *Manifest) ID() string { return m.value().text("id") }

// readManifest reads the manifest in dir. It is parsed and checked unless the
// folder's lock says that generated files were made from these very bytes with
// this very schema: then it has been checked, and is parsed when it is needed.
func (p *Project) readManifest(dir string, checker makeChecker) (*Manifest, []diag.Diagnostic, error) {
	name := path.Join(dir, ManifestName)
	src, err := readLimited(filepath.Join(p.Root, filepath.FromSlash(name)))
	if err != nil {
		return nil, []diag.Diagnostic{yamldoc.Unreadable(name, err)}, nil
	}
	m := newManifest(dir, src)
	found, err := p.checkManifest(m, checker)
	return m, secretdiag.Document(name, src, found), err
}

func (p *Project) checkManifest(m *Manifest, checker makeChecker) ([]diag.Diagnostic, error) {
	if p.generatedFrom(m) {
		return nil, nil
	}
	doc, found := m.doc()
	if doc == nil || hasErrors(found) {
		return found, nil
	}
	m.checked = true
	c, err := checker()
	if err != nil {
		return nil, err
	}
	return append(found, c.Validate(doc)...), nil
}

// secretEntries finds what looks like a credential in the entries of the catalog,
// whose words are generated into other files. What else is wrong with one is for
// the gate to say, also that it cannot be read.
func (p *Project) secretEntries() []diag.Diagnostic {
	names, err := fs.Glob(os.DirFS(p.Root), "catalog/*.yaml")
	if err != nil {
		return nil // of a pattern that is not one
	}
	var found []diag.Diagnostic
	for _, name := range names {
		src, err := readLimited(filepath.Join(p.Root, filepath.FromSlash(name)))
		if err == nil {
			found = secretdiag.Document(name, src, found)
		}
	}
	return found
}

func (p *Project) generatedFrom(m *Manifest) bool {
	recorded := tree.RecordedInputs(p.Root, path.Join(m.Dir, tree.LockName))
	if recorded["provider.yaml"] != digest(m.src) {
		return false
	}
	for name, sum := range p.inputs {
		if old, ok := recorded[name]; ok && old != sum {
			return false
		}
	}
	return recorded["schema/provider.schema.json"] != ""
}

// readLimited reads a file no further than a manifest may be long, which is
// enough to say that it is longer.
func readLimited(name string) ([]byte, error) {
	switch info, err := os.Stat(name); { // opening a pipe would wait for a writer
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "read", Path: name, Err: yamldoc.ErrNotRegular}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	src, err := io.ReadAll(io.LimitReader(f, yamldoc.MaxBytes+1))
	return src, errors.Join(err, f.Close())
}
