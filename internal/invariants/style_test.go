package invariants

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Limits of hand-written files, in lines.
const (
	mostLines = 450
	p90Lines  = 400 // nine files of ten are shorter
)

// allowed is one place where a rule does not hold, with the reason.
type allowed struct{ rule, place, why string }

func allowances() []allowed {
	return []allowed{
		{"end", "conformance/checks_mustfire.go", "teardown after a panic is what is checked; the runner recovers it"},
		{"end", "conformance/mutants/exec.go", "an adapter that panics is a fault that the suite has to catch"},
		{"var", "internal/benchpeers/manifests.go variedCapabilities", "a table of a command, which nobody can import"},
		{"sleep", "conformance/reference/adapter.go", "a folder cannot be removed while processes that are being killed still write; nothing tells when they have ended"},
		{"sleep", "providers/local/procs_linux.go", "the kernel tells nobody but a parent when a process has ended; it is looked for until a deadline"},
		{"sleep", "providers/local/task_unix.go", "a lock that a starting process still holds has no event to wait for; it is asked for until a deadline"},
	}
}

func allow(list []allowed, rule, place string) bool {
	return slices.ContainsFunc(list, func(a allowed) bool { return a.rule == rule && a.place == place })
}

// codeViolations says what is wrong inside one file, but for what list allows.
func codeViolations(f goFile, list ...allowed) []string {
	var out []string
	say := func(n ast.Node, why string) { out = append(out, f.at(n)+": "+why) }
	main := f.ast.Name.Name == "main"
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.Name == "init" && d.Recv == nil {
				say(d, "init() runs in every program that links this")
			}
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				for _, name := range mutable(d, f.test()) {
					if !allow(list, "var", f.path+" "+name.Name) {
						say(name, "package-level variable "+name.Name+" can be changed from anywhere")
					}
				}
			}
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch name := called(call.Fun); {
		case name == "time.Sleep" && !allow(list, "sleep", f.path):
			say(call, "time.Sleep waits for luck; wait for the thing itself, or inject a clock")
		case ends(name) && !main && !f.test() && !allow(list, "end", f.path):
			say(call, name+" ends somebody else's program; return an error")
		}
		return true
	})
	for _, group := range f.ast.Comments {
		if unfinished.MatchString(group.Text()) {
			say(group, "unfinished work belongs in no comment")
		}
	}
	return out
}

var unfinished = regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`)

func ends(name string) bool {
	return name == "panic" || name == "os.Exit" || strings.HasPrefix(name, "log.Fatal") || strings.HasPrefix(name, "log.Panic")
}

// called is the name of what is called: f or pkg.F.
func called(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return x.Name + "." + e.Sel.Name
		}
	}
	return ""
}

// fixed reports whether what f returns is never changed afterwards. A flag of a
// test binary is set once, before any test.
func fixed(f string, test bool) bool {
	return slices.Contains([]string{"errors.New", "fmt.Errorf", "regexp.MustCompile", "strings.NewReplacer"}, f) ||
		test && strings.HasPrefix(f, "flag.")
}

// mutable are the variables of a declaration that hold state: not assertions,
// error values, compiled patterns, replacers, or embedded files.
func mutable(d *ast.GenDecl, test bool) []*ast.Ident {
	var out []*ast.Ident
	for _, s := range d.Specs {
		v, ok := s.(*ast.ValueSpec)
		if !ok || called(v.Type) == "embed.FS" {
			continue
		}
		for i, name := range v.Names {
			constant := name.Name == "_" || called(v.Type) == "error" && strings.HasPrefix(strings.ToLower(name.Name), "err")
			if i < len(v.Values) {
				if call, ok := v.Values[i].(*ast.CallExpr); ok {
					constant = constant || fixed(called(call.Fun), test)
				}
			}
			if !constant {
				out = append(out, name)
			}
		}
	}
	return out
}

// packageViolations says what is wrong with packages: their docs and names. A
// folder that holds nothing but tests has its doc comment in one of them.
func packageViolations(all []goFile) []string {
	docs, places, code := map[string]string{}, map[string]string{}, map[string]bool{}
	for _, f := range all {
		code[f.dir()] = code[f.dir()] || !f.test()
	}
	for _, tests := range []bool{false, true} {
		for _, f := range all {
			if f.test() != tests || tests && code[f.dir()] {
				continue
			}
			places[f.dir()] = f.ast.Name.Name
			if f.ast.Doc != nil {
				docs[f.dir()] += f.ast.Doc.Text()
			}
		}
	}
	var out []string
	for dir, name := range places {
		want := "Package " + name + " "
		if name == "main" {
			want = "Command " + path.Base(dir) + " "
		}
		if !strings.Contains(docs[dir], want) {
			out = append(out, fmt.Sprintf("%s: no doc comment that begins with %q", dir, strings.TrimSpace(want)))
		}
		if slices.Contains([]string{"util", "utils", "helper", "helpers", "common", "misc", "shared", "base", "lib"}, path.Base(dir)) {
			out = append(out, dir+": a package is named for what it holds")
		}
	}
	slices.Sort(out)
	return out
}

// lengths counts the lines of the files that people write.
func lengths(all []goFile) (counts []int, long []string) {
	for _, f := range all {
		if f.generated() {
			continue
		}
		n := bytes.Count(f.body, []byte("\n"))
		counts = append(counts, n)
		if n > mostLines {
			long = append(long, fmt.Sprintf("%s has %d lines, more than %d: it holds more than one idea", f.path, n, mostLines))
		}
	}
	slices.Sort(counts)
	return counts, long
}

func TestCode(t *testing.T) {
	all := goFiles(t, files(t))
	var found []string
	for _, f := range all {
		found = append(found, codeViolations(f, allowances()...)...)
	}
	require.Empty(t, strings.Join(found, "\n"))
	require.Empty(t, packageViolations(all))
}

func TestFileLengths(t *testing.T) {
	counts, long := lengths(goFiles(t, files(t)))
	median, p90 := counts[len(counts)/2], counts[len(counts)*9/10]
	t.Logf("%d hand-written files: median %d lines, 90th percentile %d, longest %d", len(counts), median, p90, counts[len(counts)-1])
	require.Empty(t, long)
	require.Less(t, p90, p90Lines)
}

func TestAllowancesAreUsed(t *testing.T) {
	all := goFiles(t, files(t))
	for _, a := range allowances() {
		file, _, _ := strings.Cut(a.place, " ")
		require.NotEmpty(t, a.why)
		i := slices.IndexFunc(all, func(f goFile) bool { return f.path == file })
		require.GreaterOrEqual(t, i, 0, "%s is gone: drop its allowance", a.place)
		require.Greater(t, len(codeViolations(all[i])), len(codeViolations(all[i], a)), "%s needs no allowance any more", a.place)
	}
}

func TestCodeRules(t *testing.T) {
	for text, why := range map[string]string{
		"func init() {}":                               "init()",
		"var count int":                                "count can be changed",
		"var m = map[string]int{}":                     "m can be changed",
		"var n = flag.Int(``, 1, ``)":                  "n can be changed",
		"var (\n a = errors.New(``)\n b = new(int)\n)": "b can be changed",
		"func f() { time.Sleep(1) }":                   "waits for luck",
		"func f() { panic(1) }":                        "panic ends somebody",
		"func f() { os.Exit(1) }":                      "os.Exit ends somebody",
		"func f() { log.Fatalf(``) }":                  "log.Fatalf ends somebody",
		"// TO" + "DO: later\nfunc f() {}":             "unfinished work",
	} {
		got := codeViolations(source(t, "wire/a.go", "package wire\n"+text))
		require.Len(t, got, 1, text)
		require.Contains(t, got[0], why)
		require.Regexp(t, `^wire/a\.go:\d+:\d+: `, got[0])
	}
	for _, fine := range []string{
		"var _ I = (*T)(nil)", "var errX = errors.New(``)", "var errY error = T{}", "var re = regexp.MustCompile(``)", "//go:embed x\nvar files embed.FS",
		"func (T) init() {}", "const n = 1", "func f() error { return errors.New(`panic(1)`) }",
	} {
		require.Empty(t, codeViolations(source(t, "wire/a.go", "package wire\n"+fine)), fine)
	}
	require.Empty(t, codeViolations(source(t, "cmd/x/main.go", "package main\nfunc f() { os.Exit(1) }")))
	require.Empty(t, codeViolations(source(t, "wire/a_test.go", "package wire\nvar n = flag.Int(``, 1, ``)\nfunc f() { panic(1) }")))
	require.NotEmpty(t, codeViolations(source(t, "wire/a_test.go", "package wire\nfunc f() { time.Sleep(1) }")))
}

func TestPackageRules(t *testing.T) {
	require.Equal(t, []string{`wire: no doc comment that begins with "Package wire"`},
		packageViolations([]goFile{source(t, "wire/a.go", "package wire"), source(t, "wire/a_test.go", "// Package wire_test x\npackage wire_test")}))
	require.Empty(t, packageViolations([]goFile{source(t, "wire/a_test.go", "// Package wire_test x\npackage wire_test")}))
	require.Empty(t, packageViolations([]goFile{source(t, "wire/doc.go", "// Package wire sends.\npackage wire"), source(t, "wire/a.go", "package wire")}))
	require.Empty(t, packageViolations([]goFile{source(t, "x/a_test.go", "package x"), source(t, "x/b_test.go", "// Package x tries.\npackage x")}))
	require.Empty(t, packageViolations([]goFile{source(t, "cmd/x/main.go", "// Command x runs.\npackage main")}))
	require.Len(t, packageViolations([]goFile{source(t, "cmd/x/main.go", "// Package main runs.\npackage main")}), 1)
	require.Len(t, packageViolations([]goFile{source(t, "internal/helpers/a.go", "// Package helpers holds.\npackage helpers")}), 1)
	counts, long := lengths([]goFile{source(t, "a.go", "package a\n"+strings.Repeat("\n", mostLines)), source(t, "b.go", "package a\n"),
		source(t, "c.go", "// Code generated by x; DO NOT EDIT.\n\npackage a\n"+strings.Repeat("\n", mostLines))})
	require.Equal(t, []int{1, mostLines + 1}, counts)
	require.Len(t, long, 1)
}
