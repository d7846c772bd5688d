package gate

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentworkforce/sbx/internal/yamldoc"
	"github.com/agentworkforce/sbx/schema"
)

// kind is what a file is to the gate.
type kind byte

const (
	kindNone     kind = iota
	kindManifest      // providers/<id>/provider.yaml
	kindCatalog       // catalog/<id>.yaml
	kindGo            // hand-written or generated Go of a provider
	kindData          // evidence, fixtures: text with little but data in it
	kindProse         // README and other prose of a provider
)

// target is one file to examine.
type target struct {
	name string // slash path relative to the root
	kind kind
}

// ManifestName is the file that makes a folder a provider.
const ManifestName = "provider.yaml"

// discover returns the files to report about.
func (r *run) discover(ctx context.Context) ([]target, error) {
	if len(r.opt.Paths) == 0 {
		return r.tree(ctx, ".")
	}
	var out []target
	for _, p := range r.opt.Paths {
		name, err := r.relative(p)
		if err != nil {
			return nil, err
		}
		r.given = append(r.given, name)
		info, err := os.Stat(filepath.Join(r.root, filepath.FromSlash(name)))
		if err != nil {
			var pathErr *fs.PathError
			if errors.As(err, &pathErr) {
				err = pathErr.Err
			}
			return nil, &PathError{Path: p, Err: err}
		}
		if info.IsDir() && isDocument(r.kindOf(name)) {
			r.add(yamldoc.Unreadable(name, yamldoc.ErrNotRegular))
			continue
		}
		if info.IsDir() {
			below, err := r.tree(ctx, name)
			if err != nil {
				return nil, err
			}
			out = append(out, below...)
			continue
		}
		k := r.kindOf(name)
		if k == kindNone {
			r.stats.Ignored++
			continue
		}
		out = append(out, target{name, k})
	}
	slices.SortFunc(out, func(a, b target) int { return strings.Compare(a.name, b.name) })
	return slices.Compact(out), nil
}

// relative returns a given path as a slash path relative to the root.
func (r *run) relative(p string) (string, error) {
	abs := p
	if !filepath.IsAbs(p) {
		abs = filepath.Join(r.root, p)
	}
	rel, err := filepath.Rel(r.root, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return "", &PathError{Path: p, Err: ErrOutside}
	}
	return filepath.ToSlash(rel), nil
}

// tree finds the files below a folder: manifests anywhere, what belongs to their
// providers, catalog entries and evidence. Folders the go command ignores are
// not entered, nor nested modules.
func (r *run) tree(ctx context.Context, below string) ([]target, error) {
	var out []target
	var loose []target // of providers, if there is a manifest at or above them
	providers := map[string]bool{}
	err := r.walk(ctx, below, true, func(rel string) {
		switch k := placed(rel); k {
		case kindNone:
		case kindManifest:
			providers[path.Dir(rel)] = true
			out = append(out, target{rel, k})
		case kindCatalog:
			out = append(out, target{rel, k})
		case kindData, kindGo, kindProse:
			if strings.HasPrefix(rel, "evidence/") {
				out = append(out, target{rel, k})
			} else {
				loose = append(loose, target{rel, k})
			}
		}
	})
	if err != nil {
		return nil, err
	}
	memo := map[string]bool{}
	for _, t := range loose {
		if r.ofProvider(path.Dir(t.name), providers, memo) {
			out = append(out, t)
		}
	}
	return out, nil
}

// ofProvider reports whether dir is the folder of a provider or below one. Below
// a folder that was given, the manifest may stand above it.
func (r *run) ofProvider(dir string, providers, memo map[string]bool) bool {
	if providers[dir] {
		return true
	}
	if known, ok := memo[dir]; ok {
		return known
	}
	above := false
	if len(r.given) > 0 {
		_, err := os.Stat(filepath.Join(r.root, filepath.FromSlash(dir), ManifestName))
		above = err == nil
	}
	if !above && dir != "." && dir != "/" {
		above = r.ofProvider(path.Dir(dir), providers, memo)
	}
	memo[dir] = above
	return above
}

// walk calls f for every regular file below dir, in order. A link to a file is
// that file, as it is to the compiler and the generator; one to a folder is
// followed by nobody.
func (r *run) walk(ctx context.Context, dir string, start bool, f func(name string)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(r.root, filepath.FromSlash(dir)))
	if err != nil {
		if !r.mentioned[dir] { // a tree may be walked twice
			r.mentioned[dir] = true
			r.add(yamldoc.Unreadable(dir, err))
		}
		return nil
	}
	isProvider := false
	for _, e := range entries {
		if e.Name() == "go.mod" && !start {
			return nil // another module
		}
		isProvider = isProvider || e.Name() == ManifestName
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case e.IsDir() && isDocument(placed(name)):
			r.unusable(name)
		case e.IsDir() && (enters(e.Name(), isProvider) || r.holdsManifest(name)):
			if err := r.walk(ctx, name, false, f); err != nil {
				return err
			}
		case e.Type().IsRegular(), e.Type()&fs.ModeSymlink != 0 && r.isFile(name):
			f(name)
		case isDocument(placed(name)):
			r.unusable(name)
		}
	}
	return nil
}

// isDocument reports the kinds that are looked for by name, so that something
// else of this name is a mistake and not somebody's own affair.
func isDocument(k kind) bool { return k == kindManifest || k == kindCatalog }

// unusable reports what has the name of a document and is no file: a folder, a
// pipe, a link that leads nowhere.
func (r *run) unusable(name string) {
	if !r.mentioned[name] {
		r.mentioned[name] = true
		r.add(yamldoc.Unreadable(name, yamldoc.ErrNotRegular))
	}
}

// isFile reports whether a link ends at a regular file.
func (r *run) isFile(name string) bool {
	info, err := os.Stat(filepath.Join(r.root, filepath.FromSlash(name)))
	return err == nil && info.Mode().IsRegular()
}

// enters reports whether a folder is looked into; the testdata of a provider
// holds fixtures.
func enters(base string, inProvider bool) bool {
	switch {
	case strings.HasPrefix(base, "."), strings.HasPrefix(base, "_"), base == "vendor", base == "node_modules":
		return false
	case base == "testdata":
		return inProvider
	}
	return true
}

// holdsManifest reports a provider in a folder that would not be looked into
// for its name: what is wrong with that name is a finding.
func (r *run) holdsManifest(dir string) bool {
	return path.Dir(dir) == "providers" && schema.BadPackage(path.Base(dir)) != "" && r.isFile(path.Join(dir, ManifestName))
}

// kindOf returns what a file that was given by name is.
func (r *run) kindOf(name string) kind {
	k := placed(name)
	if k == kindGo || k == kindProse || k == kindData && !strings.HasPrefix(name, "evidence/") {
		if !r.ofProvider(path.Dir(name), nil, map[string]bool{}) {
			return kindNone
		}
	}
	return k
}

// placed returns what a file is by its place and name.
func placed(name string) kind {
	dir, base := path.Split(name)
	ext := path.Ext(base)
	inTestdata := strings.Contains("/"+dir, "/testdata/") && dir != "providers/testdata/"
	switch {
	case strings.Contains("/"+dir, "/.sbxgen/"):
		return kindNone // what the generator remembers: copies of what was scaffolded or lost
	case base == ManifestName && !inTestdata:
		return kindManifest
	case dir == "catalog/" && (ext == ".yaml" || ext == ".yml"):
		return kindCatalog
	case strings.HasPrefix(dir, "evidence/"), inTestdata:
		switch ext {
		case ".json", ".jsonl", ".yaml", ".yml", ".svg", ".txt", ".md", ".txtar", ".log", ".sh", ".go", ".golden":
			return kindData
		}
		return kindNone
	case ext == ".go":
		return kindGo
	case ext == ".md":
		return kindProse
	}
	return kindNone
}
