package gen

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// adapterSource is what the generators must know of a provider's hand-written
// Go files, read syntactically so that it works when they do not compile.
type adapterSource struct {
	exists      bool            // whether there is any hand-written file
	methods     map[string]bool // methods on Adapter
	unwritten   []string        // methods on Adapter that still answer NotImplemented, sorted
	embeds      bool            // whether Adapter embeds another type, whose methods cannot be seen here
	stubImports bool            // whether adapter.go imports what a stub needs, under the usual names
	absent      bool            // nothing is known of what no run has scaffolded yet
	unparsed    []string        // files that do not parse, so that what is unwritten is unknown, sorted
}

// readAdapterSource parses the hand-written non-test Go files of a folder. A
// file that does not parse contributes its name only: what it holds is unknown.
func readAdapterSource(dir string) (adapterSource, error) {
	a := adapterSource{methods: map[string]bool{}}
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return a, nil // a provider that is being made
	}
	if err != nil {
		return a, err
	}
	fset := token.NewFileSet()
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "zz_generated_") {
			continue
		}
		src, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return a, err
		}
		a.exists = true
		f, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
		if err != nil {
			a.unparsed = append(a.unparsed, name)
			continue
		}
		if name == "adapter.go" {
			a.stubImports = importsAll(f, "context", contractPath, portPath)
		}
		a.collect(f)
	}
	slices.Sort(a.unwritten)
	return a, nil
}

// state is what a lock records of the hand-written files.
func (a adapterSource) state() string {
	s := strings.Join(a.unwritten, "\n")
	for _, name := range a.unparsed {
		s += "\nunparsed " + name
	}
	return s
}

func (a *adapterSource) collect(f *ast.File) {
	for _, d := range f.Decls {
		if types, ok := d.(*ast.GenDecl); ok && types.Tok == token.TYPE {
			a.embeds = a.embeds || embedsInAdapter(types)
		}
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv == nil || len(fn.Recv.List) != 1 || receiverName(fn.Recv.List[0].Type) != "Adapter" {
			continue
		}
		a.methods[fn.Name.Name] = true
		if fn.Body != nil && callsNotImplemented(fn.Body) {
			a.unwritten = append(a.unwritten, fn.Name.Name)
		}
	}
}

// embedsInAdapter reports whether one of the types is Adapter, a struct with an
// embedded field.
func embedsInAdapter(types *ast.GenDecl) bool {
	for _, spec := range types.Specs {
		t, ok := spec.(*ast.TypeSpec)
		if !ok || t.Name.Name != "Adapter" {
			continue
		}
		if st, ok := t.Type.(*ast.StructType); ok {
			return slices.ContainsFunc(st.Fields.List, func(f *ast.Field) bool { return len(f.Names) == 0 })
		}
	}
	return false
}

func receiverName(e ast.Expr) string {
	if s, ok := e.(*ast.StarExpr); ok {
		e = s.X
	}
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

func callsNotImplemented(body *ast.BlockStmt) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "NotImplemented" {
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "port" {
				found = true
			}
		}
		return !found
	})
	return found
}

// importsAll reports whether a file imports every path without renaming it.
func importsAll(f *ast.File, paths ...string) bool {
	have := map[string]bool{}
	for _, imp := range f.Imports {
		p := strings.Trim(imp.Path.Value, `"`)
		if imp.Name == nil || imp.Name.Name == p[strings.LastIndex(p, "/")+1:] {
			have[p] = true
		}
	}
	for _, p := range paths {
		if !have[p] {
			return false
		}
	}
	return true
}
