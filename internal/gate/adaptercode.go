package gate

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// calls looks at function calls.
func (g *goFile) calls(n ast.Node) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return
	}
	if id, ok := call.Fun.(*ast.Ident); ok && id.Name == "panic" {
		g.report(ruleProcess, id, "panic ends the program of whoever uses the adapter").Help = "return an error"
		return
	}
	path, name := g.selector(call.Fun)
	switch {
	case path == "os" && (name == "Getenv" || name == "LookupEnv" || name == "Environ" || name == "ExpandEnv"),
		path == "syscall" && (name == "Getenv" || name == "Environ"):
		g.report(ruleEnvironment, call.Fun, "the adapter reads the environment").Help =
			"declare the variable in the manifest and take it from Config"
	case path == "os" && name == "Exit", path == "log" && (strings.HasPrefix(name, "Fatal") || strings.HasPrefix(name, "Panic")),
		path == "runtime" && name == "Goexit":
		g.report(ruleProcess, call.Fun, "only the program decides when it ends").Help = "return an error"
	case path == "log" && strings.HasPrefix(name, "Print"), path == "fmt" && (name == "Print" || name == "Printf" || name == "Println"):
		g.report(ruleProcess, call.Fun, "only the program decides what is printed").Help = "return the text, or an error"
	case path == "net/http" && (name == "Get" || name == "Post" || name == "PostForm" || name == "Head" || name == "NewRequest"):
		g.report(ruleUnbounded, call.Fun, "http.%s knows no deadline", name).Help = "use the client of wire, or http.NewRequestWithContext"
	case path == "context" && name == "TODO":
		g.report(ruleUnbounded, call.Fun, "context.TODO has no deadline and cannot be cancelled").Help = "pass the caller's context on"
	case path == "strings" && (name == "Contains" || name == "HasPrefix" || name == "HasSuffix" || name == "EqualFold"):
		for _, arg := range call.Args {
			if isErrorText(arg) {
				g.report(ruleErrorText, arg, "what happened is told from the words of an error").Help = "use errors.As, errors.Is, or a code"
			}
		}
	case path == "cmp" && name == "Or":
		g.policyDefault(call)
	}
}

// isErrorText reports err.Error() for anything that sounds like an error.
func isErrorText(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) != 0 {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Error"
}

// uses looks at comparisons and at packages' default clients.
func (g *goFile) uses(n ast.Node) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		for _, side := range []ast.Expr{n.X, n.Y} {
			if (n.Op == token.EQL || n.Op == token.NEQ) && isErrorText(side) {
				g.report(ruleErrorText, side, "what happened is told from the words of an error").Help = "use errors.As, errors.Is, or a code"
			}
		}
	case *ast.SelectorExpr:
		path, name := g.selector(n)
		if path == "net/http" && (name == "DefaultClient" || name == "DefaultTransport") {
			g.report(ruleUnbounded, n, "http.%s is shared by the whole program and has no deadline", name).Help = "use the client of wire"
		}
	}
}

// assigns looks at errors thrown away and at defaults for what a request left
// open.
func (g *goFile) assigns(n ast.Node) {
	a, ok := n.(*ast.AssignStmt)
	if !ok {
		return
	}
	if len(a.Rhs) == 1 && !slices.ContainsFunc(a.Lhs, func(e ast.Expr) bool { return !isBlank(e) }) {
		if call, ok := a.Rhs[0].(*ast.CallExpr); ok && !isBuiltin(call.Fun) {
			g.report(ruleErrorDropped, call, "the result of this call is thrown away").Help = "return the error or join it"
		}
	}
	for i, lhs := range a.Lhs {
		if i >= len(a.Rhs) || len(a.Lhs) != len(a.Rhs) {
			break
		}
		if field := policyField(lhs); field != "" && isLiteral(a.Rhs[i]) {
			g.report(rulePolicy, a.Rhs[i], "the adapter chooses %s itself", field).Help = "refuse the request when it does not say"
		}
	}
}

// isBuiltin reports the built-in functions whose result is often not wanted.
func isBuiltin(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && (id.Name == "copy" || id.Name == "recover" || id.Name == "min" || id.Name == "max")
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// policyDefault finds cmp.Or(req.Image, "alpine").
func (g *goFile) policyDefault(call *ast.CallExpr) {
	field := ""
	for _, arg := range call.Args {
		if f := policyField(arg); f != "" {
			field = f
		} else if field != "" && isLiteral(arg) {
			g.report(rulePolicy, arg, "the adapter chooses %s itself", field).Help = "refuse the request when it does not say"
		}
	}
}

// policyField returns the field of a request that holds provisioning policy:
// req.Image, request.Region and their like.
func policyField(e ast.Expr) string {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	root := sel.X
	for {
		inner, ok := root.(*ast.SelectorExpr)
		if !ok {
			break
		}
		root = inner.X
	}
	id, ok := root.(*ast.Ident)
	if !ok || id.Name != "req" && id.Name != "request" {
		return ""
	}
	switch sel.Sel.Name {
	case "Image", "Region", "Class", "Lifetime", "IdleTimeout", "CPUs", "MemoryMiB", "DiskMiB":
		return sel.Sel.Name
	}
	return ""
}

// isLiteral reports a constant that says something: text, a number other than
// zero, or a product of such with a name, as 10*time.Minute.
func isLiteral(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Value != `""` && e.Value != "0"
	case *ast.BinaryExpr:
		return isLiteral(e.X) || isLiteral(e.Y)
	}
	return false
}

// droppedContext finds context.Background() handed to a call by a function that
// was given a context of its own.
func (g *goFile) droppedContext(d *ast.FuncDecl) {
	if d.Body == nil || !g.takesContext(d.Type) {
		return
	}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if path, _ := g.selector(call.Fun); path == "context" {
			return false // WithTimeout and its like give it a bound
		}
		for _, arg := range call.Args {
			if inner, ok := arg.(*ast.CallExpr); ok {
				if path, name := g.selector(inner.Fun); path == "context" && name == "Background" {
					g.report(ruleUnbounded, inner, "the caller's context is dropped, and with it the deadline").Help =
						"pass ctx on, or context.WithTimeout(context.WithoutCancel(ctx), ...)"
				}
			}
		}
		return true
	})
}

func (g *goFile) takesContext(t *ast.FuncType) bool {
	for _, p := range t.Params.List {
		if path, name := g.selector(p.Type); path == "context" && name == "Context" {
			return true
		}
	}
	return false
}

// tests looks at a test file.
func (g *goFile) tests() {
	ast.Inspect(g.file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if path, name := g.selector(call.Fun); path == "time" && name == "Sleep" {
			g.report(ruleSleep, call.Fun, "the test waits by sleeping").Help = "wait for the event itself, or inject a clock"
		}
		return true
	})
}
