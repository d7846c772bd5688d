package gen

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// unreleased is the version that a go.mod requires of a module it replaces.
const unreleased = "v0.0.0"

func checkModulePath(p string) error {
	if err := module.CheckImportPath(p); err != nil {
		return &PlaceError{"--module: " + err.Error()}
	}
	if p == modulePath {
		return &PlaceError{"--module: " + p + " is sbx itself"}
	}
	return nil
}

// underFile returns what is no folder among dir and those above it, "" when
// nothing is: a folder may be made there.
func underFile(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return dir
		case err == nil || dir == filepath.Dir(dir):
			return ""
		}
	}
}

// findCheckout returns the checkout of the sbx module that a new module builds
// with, empty when there is none.
func findCheckout(pl Place) (string, error) {
	if pl.Replace == "" {
		root, name, err := FindModule(pl.From)
		var none *ModuleError
		if errors.As(err, &none) || name != modulePath {
			return "", nil
		}
		return root, err
	}
	dir := pl.Replace
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(pl.From, dir)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	root, name, err := FindModule(dir)
	if err != nil || root != dir || name != modulePath {
		return "", &PlaceError{fmt.Sprintf("--replace: %s is no checkout of %s", dir, modulePath)}
	}
	return root, nil
}

// moduleFiles are go.mod and go.sum of a new module. With a checkout they list
// what that one is built with, so that nothing has to be fetched; without, they
// name the module only, and `go get` does the rest.
func moduleFiles(name, checkout string) (mod, sum []byte, err error) {
	f := new(modfile.File)
	if err := f.AddModuleStmt(name); err != nil {
		return nil, nil, err
	}
	if checkout == "" {
		if err := f.AddGoStmt("1.26.0"); err != nil {
			return nil, nil, err
		}
		mod, err = f.Format()
		return mod, nil, err
	}
	file := filepath.Join(checkout, "go.mod")
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	base, err := modfile.ParseLax(file, b, nil)
	if err != nil {
		return nil, nil, err
	}
	if err := f.AddGoStmt(base.Go.Version); err != nil {
		return nil, nil, err
	}
	if err := f.AddRequire(modulePath, unreleased); err != nil {
		return nil, nil, err
	}
	for _, r := range base.Require {
		f.AddNewRequire(r.Mod.Path, r.Mod.Version, true)
	}
	if err := f.AddReplace(modulePath, "", checkout, ""); err != nil {
		return nil, nil, err
	}
	if mod, err = f.Format(); err != nil {
		return nil, nil, err
	}
	sum, err = os.ReadFile(filepath.Join(checkout, "go.sum"))
	return mod, sum, err
}
