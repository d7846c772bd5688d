package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// toolkit is the module whose contract adapters are written against. Revisions
// bind it, not its version.
const toolkit = "github.com/agentworkforce/sbx"

var (
	errNotRequired = errors.New("no requirement of go.mod accounts for it")
	errUnnamed     = errors.New("go.mod names no module")
	errLocal       = errors.New("go.mod replaces its module by a folder, which no version names")
)

// readModule reads the go.mod at the root of fsys.
func readModule(fsys fs.FS) (*modfile.File, error) {
	src, err := fs.ReadFile(fsys, "go.mod")
	if err != nil {
		return nil, err
	}
	mod, err := modfile.Parse("go.mod", src, nil)
	if err == nil && mod.Module == nil {
		err = errUnnamed
	}
	return mod, err
}

// directModules returns module@version of every module that imports belong to,
// sorted. The standard library, the module itself and the toolkit are left out.
func directModules(mod *modfile.File, imports map[string]string) ([]string, error) {
	own := mod.Module.Mod.Path
	var out []string
	for target, file := range imports {
		if !strings.Contains(firstElement(target), ".") || within(target, own) || within(target, toolkit) {
			continue
		}
		version, err := moduleOf(target, mod.Require, mod.Replace)
		if err != nil {
			return nil, fmt.Errorf("%s imports %s: %w", file, target, err)
		}
		out = append(out, version)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func firstElement(target string) string {
	first, _, _ := strings.Cut(target, "/")
	return first
}

// within reports whether an import path is a module's or below it.
func within(target, mod string) bool {
	rest, ok := strings.CutPrefix(target, mod)
	return ok && mod != "" && (rest == "" || rest[0] == '/')
}

// moduleOf finds the requirement with the longest path that holds an import.
func moduleOf(target string, require []*modfile.Require, replaced []*modfile.Replace) (string, error) {
	var best module.Version
	for _, r := range require {
		if within(target, r.Mod.Path) && len(r.Mod.Path) > len(best.Path) {
			best = r.Mod
		}
	}
	if best.Path == "" {
		return "", errNotRequired
	}
	for _, r := range replaced {
		if r.Old.Path != best.Path || r.Old.Version != "" && r.Old.Version != best.Version {
			continue
		}
		if r.New.Version == "" {
			return "", errLocal
		}
		return best.Path + " => " + r.New.Path + "@" + r.New.Version, nil
	}
	return best.Path + "@" + best.Version, nil
}
