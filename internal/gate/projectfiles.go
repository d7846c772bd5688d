package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func quote(s string) string { return strconv.Quote(s) }

// digest returns the sha256 of a file below the root in hex. No link leads out
// of the root. The error wraps fs.ErrNotExist when there is no such file.
func (r *run) digest(name string) (sum string, err error) {
	root, err := os.OpenRoot(r.root)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// lock compares the lock file of a bridge with its digest.
func (p *providers) lock(name string, l link) error {
	file := path.Join(path.Dir(name), l.Path.Text)
	got, err := p.digest(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.at(name, ruleLockFile, l.Path.At, "there is no file "+quote(file))
	case err != nil:
		p.at(name, ruleLockFile, l.Path.At, quote(file)+" cannot be read")
	case got != l.SHA256.Text:
		p.at(name, ruleLockFile, l.SHA256.At, quote(file)+" has another digest").Help = "the digest of the file is " + got
	}
	return nil
}

// entry runs the rules about a catalog entry and what it refers to.
func (p *providers) entry(name string, e *examined) error {
	f := e.facts
	if f.Provider.Text != "" {
		_, m, err := p.find(f.Provider.Text, "")
		if err != nil {
			return err
		}
		switch {
		case m == nil && p.folder(f.Provider.Text): // its manifest has findings of its own
		case m == nil:
			p.at(name, ruleEntryAlone, f.Provider.At, "there is no provider "+quote(f.Provider.Text))
		case f.Status.Text == "verified" && m.facts.Kind == "none":
			p.at(name, ruleNothingTested, f.Status.At, "this provider has no adapter, so nothing was tested").Suggestion = "unknown"
		}
	}
	for _, l := range f.Evidence {
		if !p.evidence(name, l) {
			continue
		}
		if err := p.proof(name, e, l); err != nil {
			return err
		}
	}
	return nil
}

// folder reports whether a manifest stands in a folder of this name.
func (p *providers) folder(id string) bool {
	for name, e := range p.files {
		if e != nil && e.kind == kindManifest && path.Base(path.Dir(name)) == id {
			return true
		}
	}
	return false
}

// evidence compares a linked statement with its digest and reports whether there
// is one to judge. The digest that was found is not offered: a digest is never
// changed to fit.
func (p *providers) evidence(name string, l link) bool {
	got, err := p.digest(l.Path.Text)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.at(name, ruleEvidenceAbsent, l.Path.At, "there is no file "+quote(l.Path.Text)).Help =
			"commit the artifact, or remove the link and set status to unknown"
		return false
	case err != nil:
		p.at(name, ruleEvidencePath, l.Path.At, quote(l.Path.Text)+" cannot be read inside this tree")
		return false
	case got != l.SHA256.Text:
		p.at(name, ruleEvidenceDigest, l.SHA256.At, quote(l.Path.Text)+" is not the file that was linked: its digest is another one").Help =
			"restore the artifact; a digest is never changed to fit"
	}
	return true
}

// unlinked warns about statements that no entry links.
func (p *providers) unlinked() {
	linked := map[string]bool{}
	for _, name := range p.targets {
		for _, l := range p.files[name].facts.Evidence {
			linked[l.Path.Text] = true
		}
	}
	for _, name := range p.targets {
		if strings.HasPrefix(name, "evidence/") && path.Base(name) == "statement.json" && !linked[name] {
			d := p.at(name, ruleUnlinked, p.files[name].facts.ID.At, "no catalog entry links this statement")
			d.Line, d.Col = 1, 1
		}
	}
}

// code runs the rules about a Go file and the manifest of its provider.
func (p *providers) code(name string, e *examined) error {
	if len(e.facts.Imports) == 0 && len(e.facts.Stubs) == 0 {
		return nil
	}
	dir := path.Dir(name)
	m, err := p.manifestAbove(dir)
	if err != nil || m == nil {
		return err
	}
	if err := p.imports(name, e.facts.Imports, m); err != nil {
		return err
	}
	if len(e.facts.Stubs) == 0 {
		return nil
	}
	known, err := p.checks.known()
	if err != nil {
		return err
	}
	for _, s := range e.facts.Stubs {
		if c := known.methods[s.Text]; c != "" && slices.Contains(m.facts.Supported, c) {
			p.at(name, ruleStub, s.At, s.Text+" still answers not_implemented, and the manifest says that "+quote(c)+" is supported")
		}
	}
	return nil
}

// manifestAbove returns the manifest of the provider that dir belongs to.
func (p *providers) manifestAbove(dir string) (*examined, error) {
	for {
		m, err := p.context(path.Join(dir, ManifestName), kindManifest)
		if m != nil || err != nil || dir == "." || dir == "/" {
			return m, err
		}
		dir = path.Dir(dir)
	}
}

// imports checks what an adapter imports.
func (p *providers) imports(name string, imports []word, m *examined) error {
	for _, imp := range imports {
		why := forbidden(imp.Text)
		if why == "" {
			other, err := p.providerOf(imp.Text)
			if err != nil {
				return err
			}
			if other != "" && other != m.facts.Base.Text && other != m.facts.ID.Text {
				why = "another provider, which is not the adapter's base"
			}
		}
		if why != "" {
			p.at(name, ruleImport, imp.At, quote(imp.Text)+" is "+why).Help =
				"an adapter uses port, wire, generated/contract, the vendor's own SDK and its base"
		}
	}
	return nil
}

// providerOf returns the ID of the provider whose package an import is, empty
// when it is none: one of sbx's own, or one of the module at the root.
func (p *providers) providerOf(imp string) (string, error) {
	if rest, ok := strings.CutPrefix(imp, modulePath+"/providers/"); ok {
		id, _, _ := strings.Cut(rest, "/")
		return id, nil
	}
	rest, ok := strings.CutPrefix(imp, p.module()+"/")
	if !ok {
		return "", nil
	}
	m, err := p.context(path.Join(rest, ManifestName), kindManifest)
	if m == nil || err != nil {
		return "", err
	}
	return m.facts.ID.Text, nil
}

// forbidden says why an adapter may not import a package, "" when it may.
func forbidden(imp string) string {
	if rest, ok := strings.CutPrefix(imp, modulePath+"/"); ok {
		first, _, _ := strings.Cut(rest, "/")
		switch {
		case first == "internal":
			return "internal"
		case slices.Contains([]string{"conformance", "bench", "session", "cmd", "examples"}, first), rest == "generated/registry":
			return "of a higher floor"
		}
		return ""
	}
	switch {
	case imp == "testing", strings.HasPrefix(imp, "testing/"), strings.HasPrefix(imp, "github.com/stretchr/testify"):
		return "for tests"
	case imp == "unsafe", imp == "C":
		return "not checked by the compiler"
	}
	return ""
}
