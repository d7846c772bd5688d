package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentworkforce/sbx/internal/diag"
)

// The rules that need types, and with them a build of what the adapter imports.
const (
	ruleNotCompiling = "SBX401"
	ruleVendorType   = "SBX408"
)

// TypesError says that the types of a provider are not known: the go command
// failed.
type TypesError struct {
	Dir string
	Err error
}

// Error names the folder.
func (e *TypesError) Error() string { return fmt.Sprintf("types of %s: %v", e.Dir, e.Err) }

// Unwrap returns the cause.
func (e *TypesError) Unwrap() error { return e.Err }

// listed is what the go command says of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	DepOnly                 bool
	Module                  *struct{ Path string }
}

// types checks the packages of the providers among the targets against what their
// manifests claim, and looks for vendors' types in what they export. It builds
// what they import, from the build cache where it can.
func (r *run) types(ctx context.Context) error {
	var dirs []string
	for _, name := range r.targets {
		if dir := path.Dir(name); r.files[name].kind == kindGo && r.isFile(path.Join(dir, ManifestName)) && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		if err := r.typesOf(ctx, dir); err != nil {
			return &TypesError{Dir: dir, Err: err}
		}
	}
	return nil
}

func (r *run) typesOf(ctx context.Context, dir string) error {
	packages, err := r.list(ctx, dir)
	if err != nil {
		return err
	}
	exports := map[string]string{}
	var pkg *listed
	for i, p := range packages {
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			pkg = &packages[i]
		}
	}
	if pkg == nil || len(pkg.GoFiles) == 0 {
		return errors.New("there is no package")
	}
	t := &typed{run: r, dir: dir, fset: token.NewFileSet()}
	if pkg.Module != nil {
		t.module = pkg.Module.Path
	}
	for _, name := range pkg.GoFiles {
		f, err := parser.ParseFile(t.fset, filepath.Join(pkg.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil // the compiler's words about it are a finding of their own
		}
		t.files = append(t.files, f)
	}
	conf := types.Config{Error: t.wrong, Importer: importer.ForCompiler(t.fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("%s does not compile", path)
		}
		return os.Open(exports[path])
	})}
	checked, err := conf.Check(pkg.ImportPath, t.fset, t.files, nil)
	if err != nil && !t.failed {
		return err
	}
	if !t.failed {
		t.exported(checked)
	}
	return nil
}

// list asks the go command for a package and what it depends on, built.
func (r *run) list(ctx context.Context, dir string) ([]listed, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-e", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly,Module", "./"+dir)
	cmd.Dir = r.root
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

// typed is one provider's package while its types are looked at.
type typed struct {
	*run
	dir, module string
	fset        *token.FileSet
	files       []*ast.File
	failed      bool
}

// wrong takes an error of the type checker as a finding.
func (t *typed) wrong(err error) {
	t.failed = true
	var at types.Error
	if !errors.As(err, &at) {
		t.add(diag.Diagnostic{File: t.dir, Rule: ruleNotCompiling, Message: err.Error()})
		return
	}
	first, _, _ := strings.Cut(at.Msg, "\n")
	t.place(at.Pos, ruleNotCompiling, strings.TrimSpace(first)).Help =
		"implement what provider.yaml says is supported, or correct it there"
}

func (t *typed) place(pos token.Pos, rule, message string) *diag.Diagnostic {
	at := t.fset.Position(pos)
	span := diag.Span{Line: at.Line, Col: at.Column, EndLine: at.Line, EndCol: at.Column + 1}
	return t.at(path.Join(t.dir, filepath.Base(at.Filename)), rule, span, message)
}

// exported looks at everything the package exports in files written by hand.
func (t *typed) exported(pkg *types.Package) {
	scope := pkg.Scope()
	for _, name := range scope.Names() {
		obj := scope.Lookup(name)
		if !obj.Exported() {
			continue
		}
		t.object(obj)
		named, ok := obj.Type().(*types.Named)
		if _, isType := obj.(*types.TypeName); !ok || !isType {
			continue
		}
		for m := range named.Methods() {
			if m.Exported() {
				t.object(m)
			}
		}
	}
}

func (t *typed) object(obj types.Object) {
	if strings.HasPrefix(filepath.Base(t.fset.Position(obj.Pos()).Filename), "zz_generated_") {
		return
	}
	typ := obj.Type()
	if name, ok := obj.(*types.TypeName); ok && !name.IsAlias() {
		typ = typ.Underlying()
	}
	if vendor := t.vendor(typ, map[types.Type]bool{}); vendor != "" {
		t.place(obj.Pos(), ruleVendorType, fmt.Sprintf("%s shows callers %s, a type of the vendor's client", obj.Name(), vendor)).Help =
			"take and return the contract's types, and keep the client in an unexported field"
	}
}

// vendor returns the first type of another module in what a type shows.
func (t *typed) vendor(typ types.Type, seen map[types.Type]bool) string {
	if seen[typ] {
		return ""
	}
	seen[typ] = true
	switch typ := typ.(type) {
	case *types.Named:
		if p := typ.Obj().Pkg(); p != nil && t.foreign(p.Path()) {
			return p.Name() + "." + typ.Obj().Name()
		}
		for arg := range typ.TypeArgs().Types() {
			if v := t.vendor(arg, seen); v != "" {
				return v
			}
		}
	case *types.Alias:
		return t.vendor(types.Unalias(typ), seen)
	case *types.Map:
		return t.vendor(typ.Key(), seen) + t.vendor(typ.Elem(), seen)
	case interface{ Elem() types.Type }: // pointer, slice, array, channel
		return t.vendor(typ.Elem(), seen)
	case *types.Signature:
		return t.vendor(typ.Params(), seen) + t.vendor(typ.Results(), seen)
	case *types.Tuple:
		for v := range typ.Variables() {
			if s := t.vendor(v.Type(), seen); s != "" {
				return s
			}
		}
	case *types.Struct:
		for f := range typ.Fields() {
			if s := t.vendor(f.Type(), seen); s != "" && f.Exported() {
				return s
			}
		}
	}
	return ""
}

// foreign reports a package that is neither the standard library's, nor sbx's, nor
// of the provider's own module.
func (t *typed) foreign(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	within := func(module string) bool {
		return module != "" && (pkg == module || strings.HasPrefix(pkg, module+"/"))
	}
	return strings.Contains(first, ".") && !within(modulePath) && !within(t.module)
}
