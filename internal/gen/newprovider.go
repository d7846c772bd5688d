package gen

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/gen/tree"
)

// Place says where a new provider goes. The zero value is the module around
// the current folder.
type Place struct {
	// From is the folder that relative paths start at.
	From string
	// Dir is the provider's folder; empty means providers/<id> of the module.
	Dir string
	// Module is the path of the module to make when none is there; with one
	// there it has to be that module's path, or empty.
	Module string
	// Replace is a checkout of the sbx module that a made module builds with.
	// Empty means the checkout around From; when there is none, go.mod is made
	// without it.
	Replace string
	// ReadOnly leaves an interrupted run as it is, which then stands in the way.
	ReadOnly bool
}

// PlaceError says why a provider cannot go where it was asked for.
type PlaceError struct{ Reason string }

// Error gives the reason.
func (e *PlaceError) Error() string { return e.Reason }

// Site is the project a new provider goes into.
type Site struct {
	Project *Project
	// Dir is the folder of the provider, absolute; empty until the ID is known,
	// which is then below Project.Root/providers.
	Dir string
	// NewModule tells that go.mod has to be made, in Dir.
	NewModule bool
	// Replace is the checkout that the made module builds with; empty when
	// there is none.
	Replace string
	// incomplete tells that the project has providers that could not be loaded.
	incomplete bool
}

// FindSite finds or prepares the project for a new provider. Diagnostics are
// findings in what is there already; a *PlaceError says what is wrong with the
// place. An interrupted run is completed first; nothing else is written.
func FindSite(ctx context.Context, pl Place) (*Site, []diag.Diagnostic, error) {
	s := &Site{}
	start := pl.From
	if pl.Dir != "" {
		s.Dir = pl.Dir
		if !filepath.IsAbs(s.Dir) {
			s.Dir = filepath.Join(pl.From, s.Dir)
		}
		var err error
		if s.Dir, err = filepath.Abs(s.Dir); err != nil {
			return nil, nil, err
		}
		if start = s.Dir; underFile(s.Dir) != "" {
			return nil, nil, &PlaceError{fmt.Sprintf("--dir %s: %s is a file, not a folder", pl.Dir, underFile(s.Dir))}
		}
	}
	if err := pl.recover(ctx, start); err != nil {
		return nil, nil, err
	}
	root, module, err := FindModule(start)
	var none *ModuleError
	switch {
	case errors.As(err, &none) && none.Dir == start && pl.Module != "" && pl.Dir != "":
		return newModuleSite(s, pl)
	case errors.As(err, &none):
		return nil, nil, &PlaceError{none.Error()}
	case err != nil:
		return nil, nil, err
	case pl.Module != "" && pl.Module != module:
		return nil, nil, &PlaceError{fmt.Sprintf("%s is in module %s; for module %s give --dir a folder outside of it", start, module, pl.Module)}
	case pl.Replace != "":
		return nil, nil, &PlaceError{"--replace is for a module that is being made; this one has a go.mod"}
	}
	p, found, err := Load(ctx, root, module)
	s.Project, s.incomplete = p, hasErrors(found)
	return s, found, err
}

// recover completes a run that was interrupted while it made the module in
// start, or something in the module around it.
func (pl Place) recover(ctx context.Context, start string) error {
	if pl.ReadOnly {
		return nil
	}
	root, _, err := FindModule(start)
	var none *ModuleError
	if errors.As(err, &none) {
		root = start
		if _, err := os.Stat(start); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	} else if err != nil {
		return err
	}
	_, err = tree.Recover(ctx, root)
	return err
}

// newModuleSite prepares a module that is nowhere yet.
func newModuleSite(s *Site, pl Place) (*Site, []diag.Diagnostic, error) {
	entries, err := contents(s.Dir)
	if err != nil {
		return nil, nil, err
	}
	if len(entries) > 0 {
		return nil, nil, &PlaceError{s.Dir + " is not empty and holds no go.mod; run `go mod init` there first, or choose another folder"}
	}
	if err := checkModulePath(pl.Module); err != nil {
		return nil, nil, err
	}
	if s.Replace, err = findCheckout(pl); err != nil {
		return nil, nil, err
	}
	s.NewModule = true
	p, _, found, err := newProject(s.Dir, pl.Module)
	if err == nil {
		p.sbxDir = s.Replace
	}
	s.Project = p
	return s, found, err
}

// Scaffold is a new provider that can be written.
type Scaffold struct {
	Project *Project
	Dir     string // slash path of the folder, relative to Project.Root
	// Exists tells that this very manifest is there already.
	Exists bool
	// NeedsModule tells that go.mod is made without the sbx module, which then
	// has to be added.
	NeedsModule bool
	// Alone tells that what lists all providers is not planned, since some could
	// not be loaded and would be taken off the lists.
	Alone bool
	// Text is provider.yaml.
	Text []byte
	Plan tree.Plan
}

// Scaffold plans the files of the provider that a draft describes: the
// manifest, everything generated from it and, for a module that is not there
// yet, go.mod. In the sbx module what lists all providers follows, unless Alone. Diagnostics are what is wrong with the manifest.
func (s *Site) Scaffold(d *Draft) (*Scaffold, []diag.Diagnostic, error) {
	out := &Scaffold{Project: s.Project, Dir: path.Join("providers", d.ID())}
	if s.Dir != "" {
		rel, err := filepath.Rel(s.Project.Root, s.Dir)
		if err != nil {
			return nil, nil, err
		}
		out.Dir = filepath.ToSlash(rel)
	}
	text, found, err := d.Manifest(out.Dir)
	if err != nil || len(found) > 0 {
		return nil, found, err
	}
	out.Text = text
	m := newManifest(out.Dir, text)
	if doc, found := m.doc(); doc == nil || hasErrors(found) {
		return nil, found, nil
	}
	if out.Exists, err = s.Project.taken(m); err != nil {
		return nil, nil, err
	}
	if !out.Exists {
		s.Project.Manifests = append(s.Project.Manifests, m)
		slices.SortFunc(s.Project.Manifests, func(a, b *Manifest) int { return strings.Compare(a.Dir, b.Dir) })
	}
	return out, nil, s.plan(out)
}

// taken reports whether the same manifest is there already, and refuses when
// something else is.
func (p *Project) taken(m *Manifest) (bool, error) {
	for _, other := range p.Manifests {
		switch {
		case other.Dir == m.Dir && reflect.DeepEqual(other.value(), m.value()):
			return true, nil
		case other.Dir == m.Dir:
			return false, &PlaceError{fmt.Sprintf("%s is there already and says something else; edit it, and run sbxgen generate", other.Path)}
		case other.ID() == m.ID():
			return false, &PlaceError{fmt.Sprintf("the ID %s is taken by %s", m.ID(), other.Path)}
		}
	}
	folder := filepath.Join(p.Root, filepath.FromSlash(m.Dir))
	entries, err := contents(folder)
	if err != nil {
		return false, err
	}
	for _, name := range entries {
		if m.Dir != "." || strings.HasSuffix(name, ".go") || name == ManifestName {
			return false, &PlaceError{fmt.Sprintf("%s is not empty: it holds %s", m.Dir, name)}
		}
	}
	return false, nil
}

// contents are the names in a folder, none when it is not there. What a run that
// was interrupted before it began to write keeps for itself does not count.
func contents(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.Name() != ".sbxgen" {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// plan fills in what is going to be written: the provider's files and, in the
// sbx module, what lists all providers when all are known.
func (s *Site) plan(out *Scaffold) error {
	i := slices.IndexFunc(s.Project.Manifests, func(m *Manifest) bool { return m.Dir == out.Dir })
	u, err := s.Project.providerUnit(s.Project.Manifests[i])
	if err != nil {
		return err
	}
	extra := map[string][]byte{path.Join(out.Dir, ManifestName): out.Text}
	if s.NewModule {
		out.NeedsModule = s.Replace == ""
		mod, sum, err := moduleFiles(s.Project.Module, s.Replace)
		if err != nil {
			return err
		}
		extra["go.mod"] = mod
		if sum != nil {
			extra["go.sum"] = sum
		}
	}
	if !out.Exists {
		u.Render = withScaffold(u.Render, extra)
	}
	out.Plan = tree.Plan{Validate: validateGo, Units: []tree.Unit{u}}
	if out.Alone = s.Project.InTree && s.incomplete; s.Project.InTree && !out.Alone {
		catalog, err := s.Project.catalogUnit()
		if err != nil {
			return err
		}
		out.Plan.Units = append(out.Plan.Units, s.Project.schemaUnit(), catalog)
	}
	return nil
}

// withScaffold adds files that are created once to what a unit renders.
func withScaffold(render func(context.Context) (tree.Output, error), files map[string][]byte) func(context.Context) (tree.Output, error) {
	return func(ctx context.Context) (tree.Output, error) {
		out, err := render(ctx)
		if err != nil {
			return out, err
		}
		if out.Scaffold == nil {
			out.Scaffold = map[string][]byte{}
		}
		for name, b := range files {
			out.Scaffold[name] = b
		}
		return out, nil
	}
}

// catalogEntries are the entries every provider of the sbx module starts with.
// An entry that is there belongs to the people who review evidence.
func catalogEntries(manifests []*Manifest) map[string][]byte {
	out := map[string][]byte{}
	for _, m := range manifests {
		out["catalog/"+m.ID()+".yaml"] = []byte("# yaml-language-server: $schema=../schema/catalog.schema.json\n" +
			"provider: " + m.ID() + "\nstatus: unknown\nreason: No run against the real provider has been recorded.\n")
	}
	return out
}
