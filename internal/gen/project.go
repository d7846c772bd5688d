package gen

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/gen/tree"
	"github.com/agentworkforce/sbx/internal/schemacheck"
	"github.com/agentworkforce/sbx/internal/yamldoc"
	"github.com/agentworkforce/sbx/schema"
)

// Project is a module that holds providers: this one, or somebody else's.
type Project struct {
	Root   string // folder of go.mod, absolute
	Module string // module path
	// InTree reports whether this is the sbx module itself, whose schema/ is
	// read from disk and whose generated/ is written.
	InTree    bool
	Manifests []*Manifest // by folder
	// Retired are folders that hold a lock and no manifest any more: what was
	// generated there is orphaned.
	Retired []string
	// sbxDir is where the sbx module is when the module does not say so yet.
	sbxDir string
	src    sources
	// vocabulary reads the vocabulary, once: looking whether anything changed
	// does not need it.
	vocabulary func() (*vocabulary, error)
	// contract is src.contract, parsed when the first fixtures are made from it.
	contract func() (*object, error)
	// inputs are digests of the schema, templates that of all templates.
	inputs    map[string]string
	templates string
}

// ModuleError says that no module was found to generate into.
type ModuleError struct {
	Dir    string
	Reason string
	// Absent says that there is no go.mod, and not one that cannot be used.
	Absent bool
}

// Error names the folder and the reason.
func (e *ModuleError) Error() string { return e.Dir + ": " + e.Reason }

// FindModule returns the nearest folder at or above dir that holds a go.mod,
// and the module's path.
func FindModule(dir string) (root, module string, err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", "", err
	}
	for d := abs; ; d = filepath.Dir(d) {
		b, err := os.ReadFile(filepath.Join(d, "go.mod"))
		switch {
		case err == nil:
			m := moduleLine(b)
			if m == "" {
				return "", "", &ModuleError{Dir: d, Reason: "go.mod has no module line"}
			}
			return d, m, nil
		case !errors.Is(err, fs.ErrNotExist):
			var at *fs.PathError
			if errors.As(err, &at) {
				err = at.Err
			}
			return "", "", &ModuleError{Dir: d, Reason: "go.mod cannot be read: " + err.Error()}
		case d == filepath.Dir(d):
			return "", "", &ModuleError{Dir: abs, Absent: true, Reason: "no go.mod here or above; run `go mod init` first, or give --module and --dir"}
		}
	}
}

func moduleLine(gomod []byte) string {
	sc := bufio.NewScanner(bytes.NewReader(gomod))
	for sc.Scan() {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(sc.Text()), "module "); ok {
			return strings.Trim(strings.TrimSpace(rest), `"`)
		}
	}
	return ""
}

// Load reads the project at root: its schema when it is the sbx module, the
// embedded one otherwise, and every provider.yaml. Diagnostics are findings in
// the user's files, secrets in manifests and catalog entries among them; the error
// is for everything that is not one. A manifest with a finding is left out of
// Manifests.
func Load(ctx context.Context, root, module string) (*Project, []diag.Diagnostic, error) {
	p, checker, found, err := newProject(root, module)
	if err != nil || len(found) > 0 {
		return p, found, err
	}
	dirs, locked, unread, err := providerDirs(ctx, root)
	if err != nil {
		return nil, nil, err
	}
	for _, dir := range locked {
		if !slices.Contains(dirs, dir) && dir != "generated" && dir != "catalog" {
			p.Retired = append(p.Retired, dir)
		}
	}
	found, err = p.readManifests(dirs, checker)
	return p, append(unread, found...), err
}

// readManifests reads and checks the manifests in dirs, on every processor, and
// keeps those without an error, in order.
func (p *Project) readManifests(dirs []string, checker makeChecker) ([]diag.Diagnostic, error) {
	manifests := make([]*Manifest, len(dirs))
	findings := make([][]diag.Diagnostic, len(dirs))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, dir := range dirs {
		g.Go(func() error {
			var err error
			manifests[i], findings[i], err = p.readManifest(dir, checker)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for i, m := range manifests {
		if !hasErrors(findings[i]) {
			p.Manifests = append(p.Manifests, m)
		}
	}
	return slices.Concat(slices.Concat(findings...), p.wrongBases(), p.secretEntries()), nil
}

// newProject reads the schema of a project and none of its manifests. It is nil
// only beside an error.
func newProject(root, module string) (*Project, makeChecker, []diag.Diagnostic, error) {
	p := &Project{Root: root, Module: module, InTree: module == modulePath}
	var fsys fs.FS = schema.Files()
	if p.InTree {
		fsys = os.DirFS(filepath.Join(root, "schema"))
	}
	if p.InTree { // the embedded one has passed when this program was tested
		if found := lintDiagnostics(fsys); len(found) > 0 {
			return p, nil, found, nil
		}
	}
	var err error
	if p.src, err = readSources(fsys); err != nil {
		return nil, nil, nil, err
	}
	p.contract = sync.OnceValues(func() (*object, error) { return parseOrdered(p.src.contract) })
	p.vocabulary = sync.OnceValues(func() (*vocabulary, error) { return loadVocabulary(p.src.provider, p.src.contract) })
	if p.InTree { // the embedded one was read when this program was tested
		if _, err := p.vocabulary(); err != nil {
			return nil, nil, nil, err
		}
	}
	p.inputs = schemaInputs(p.src)
	if p.templates, err = templatesDigest(); err != nil {
		return nil, nil, nil, err
	}
	checker := sync.OnceValues(func() (*schemacheck.Checker, error) { return schemacheck.New(schema.ProviderFile, p.src.provider) })
	return p, checker, nil, nil
}

// vocab is the vocabulary for what cannot fail. Those who render ask for it with
// its error first, so that an empty one is never rendered.
func (p *Project) vocab() *vocabulary {
	v, err := p.vocabulary()
	if err != nil {
		return &vocabulary{}
	}
	return v
}

// makeChecker makes the checker of manifests, once, when one has to be checked.
type makeChecker func() (*schemacheck.Checker, error)

// lintDiagnostics turns what schema.Lint finds into diagnostics at their place.
func lintDiagnostics(fsys fs.FS) []diag.Diagnostic {
	var out []diag.Diagnostic
	for _, pr := range schema.LintAll(fsys) {
		out = append(out, diag.Diagnostic{File: "schema/" + pr.File, Line: pr.Line, Col: pr.Col, Rule: schemacheck.RuleSchema,
			Message: pr.Message, Suggestion: pr.Suggestion, Next: "sbxgen generate"})
	}
	return out
}

func hasErrors(found []diag.Diagnostic) bool {
	return slices.ContainsFunc(found, func(d diag.Diagnostic) bool {
		return d.Severity == diag.Error
	})
}

// providerDirs finds every folder of the module that holds a provider.yaml, and
// every folder that holds a lock, in order, and finds the folders that cannot be
// read. Folders the go command ignores are not entered, nor nested modules.
func providerDirs(ctx context.Context, root string) (out, locked []string, found []diag.Diagnostic, err error) {
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		rel, relErr := filepath.Rel(root, name)
		if relErr != nil {
			return relErr
		}
		if err != nil {
			found = append(found, yamldoc.Unreadable(filepath.ToSlash(rel), err))
			return fs.SkipDir
		}
		if d.IsDir() && d.Name() == ManifestName && rel != "." {
			out = append(out, path.Dir(filepath.ToSlash(rel))) // what is wrong with it is found when it is read
			return fs.SkipDir
		}
		if d.IsDir() {
			return enterDir(name, rel, d.Name())
		}
		switch {
		case d.Name() == ManifestName:
			out = append(out, path.Dir(filepath.ToSlash(rel)))
		case d.Name() == tree.LockName:
			locked = append(locked, path.Dir(filepath.ToSlash(rel)))
		}
		return nil
	})
	slices.Sort(out)
	slices.Sort(locked)
	return out, locked, found, err
}

func enterDir(name, rel, base string) error {
	if rel == "." {
		return nil
	}
	if strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "node_modules" {
		return fs.SkipDir
	}
	if base == "testdata" || base == "vendor" {
		// A provider of such a name is refused rather than passed over.
		if _, err := os.Stat(filepath.Join(name, ManifestName)); err != nil || path.Dir(filepath.ToSlash(rel)) != "providers" {
			return fs.SkipDir
		}
	}
	if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}
