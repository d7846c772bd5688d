package gate

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"strconv"
	"strings"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/secretdiag"
)

// goFile is one Go file of a provider while its rules run.
type goFile struct {
	name  string
	fset  *token.FileSet
	file  *ast.File
	src   []byte
	names map[string]string // local name of an import -> path
	found []diag.Diagnostic
	out   facts
}

// examineGo runs the rules about one Go file by itself. Generated files are
// judged by what generates them.
func examineGo(name string, src []byte) ([]diag.Diagnostic, facts) {
	base := name[strings.LastIndexByte(name, '/')+1:]
	if strings.HasPrefix(base, "zz_generated_") {
		return nil, facts{}
	}
	g := &goFile{name: name, fset: token.NewFileSet(), src: src, names: map[string]string{}}
	file, err := parser.ParseFile(g.fset, name, src, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		g.syntax(err)
		return g.found, g.out
	}
	if file.Name.Name == "main" {
		return nil, facts{} // a program that uses the adapter may do what programs do
	}
	g.file = file
	g.imports()
	if strings.HasSuffix(base, "_test.go") {
		g.out.Imports = nil // external tests may import what they need
		g.tests()
		return g.found, g.out
	}
	g.declarations()
	ast.Inspect(file, func(n ast.Node) bool {
		g.calls(n)
		g.assigns(n)
		g.uses(n)
		return true
	})
	return g.found, g.out
}

func (g *goFile) syntax(err error) {
	var list scanner.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		g.found = append(g.found, diag.Diagnostic{File: g.name, Rule: ruleGoSyntax, Message: err.Error()})
		return
	}
	for _, e := range list {
		at := secretdiag.Span(g.src, min(e.Pos.Offset, len(g.src)), min(e.Pos.Offset+1, len(g.src)))
		g.found = append(g.found, diag.Diagnostic{File: g.name, Rule: ruleGoSyntax, Message: e.Msg}.At(at))
	}
}

func (g *goFile) spanOf(n ast.Node) diag.Span {
	start, end := g.fset.Position(n.Pos()), g.fset.Position(n.End())
	if end.Line != start.Line { // the first line is enough to find it
		end.Offset = start.Offset
		for end.Offset < len(g.src) && g.src[end.Offset] != '\n' {
			end.Offset++
		}
	}
	return secretdiag.Span(g.src, start.Offset, min(end.Offset, len(g.src)))
}

func (g *goFile) report(rule string, at ast.Node, format string, args ...any) *diag.Diagnostic {
	d := diag.Diagnostic{File: g.name, Rule: rule, Message: fmt.Sprintf(format, args...)}
	g.found = append(g.found, d.At(g.spanOf(at)))
	return &g.found[len(g.found)-1]
}

func (g *goFile) imports() {
	for _, imp := range g.file.Imports {
		path, err := strconv.Unquote(imp.Path.Value)
		if err != nil {
			continue
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		if imp.Name != nil {
			name = imp.Name.Name
		}
		g.names[name] = path
		g.out.Imports = append(g.out.Imports, word{Text: path, At: g.spanOf(imp.Path)})
	}
}

// selector returns the import path and the name of pkg.Name, and "" otherwise.
func (g *goFile) selector(e ast.Expr) (path, name string) {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	x, ok := sel.X.(*ast.Ident)
	if !ok {
		return "", ""
	}
	return g.names[x.Name], sel.Sel.Name
}

// declarations finds init functions, package variables and unwritten methods.
func (g *goFile) declarations() {
	for _, d := range g.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == "init" {
				g.report(ruleState, d.Name, "an init function runs for everybody who imports the package")
			}
			g.stub(d)
			g.droppedContext(d)
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				g.variables(d)
			}
		}
	}
}

func (g *goFile) variables(d *ast.GenDecl) {
	for _, s := range d.Specs {
		spec, ok := s.(*ast.ValueSpec)
		if !ok || embedded(d.Doc) || embedded(spec.Doc) {
			continue
		}
		for i, name := range spec.Names {
			if name.Name == "_" || i < len(spec.Values) && g.isErrorValue(spec.Values[i]) {
				continue
			}
			g.report(ruleState, name, "package variable %s is shared by every user of the package", name.Name)
		}
	}
}

// isErrorValue reports errors.New, whose values are compared and never changed.
func (g *goFile) isErrorValue(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	path, name := g.selector(call.Fun)
	return path == "errors" && name == "New"
}

func embedded(doc *ast.CommentGroup) bool {
	if doc == nil {
		return false
	}
	for _, c := range doc.List {
		if strings.HasPrefix(c.Text, "//go:embed ") {
			return true
		}
	}
	return false
}

// stub notes a method of Adapter that still answers not_implemented.
func (g *goFile) stub(d *ast.FuncDecl) {
	if d.Recv == nil || len(d.Recv.List) != 1 || d.Body == nil {
		return
	}
	recv := d.Recv.List[0].Type
	if star, ok := recv.(*ast.StarExpr); ok {
		recv = star.X
	}
	if id, ok := recv.(*ast.Ident); !ok || id.Name != "Adapter" {
		return
	}
	done := false
	ast.Inspect(d.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || done {
			return !done
		}
		if path, name := g.selector(call.Fun); name == "NotImplemented" && path == modulePath+"/port" {
			g.out.Stubs = append(g.out.Stubs, word{Text: d.Name.Name, At: g.spanOf(call)})
			done = true
		}
		return !done
	})
}
