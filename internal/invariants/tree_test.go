package invariants

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/agentworkforce/sbx"

// textFile is one file that belongs to the tree.
type textFile struct {
	path string // slash-separated, from the root
	body []byte
}

// goFile is one parsed Go file outside testdata.
type goFile struct {
	textFile
	fset *token.FileSet
	ast  *ast.File
}

func (f goFile) test() bool      { return strings.HasSuffix(f.path, "_test.go") }
func (f goFile) external() bool  { return f.test() && strings.HasSuffix(f.ast.Name.Name, "_test") }
func (f goFile) generated() bool { return ast.IsGenerated(f.ast) }
func (f goFile) dir() string     { return path.Dir(f.path) }
func (f goFile) at(n ast.Node) string {
	p := f.fset.Position(n.Pos())
	return f.path + ":" + strings.TrimPrefix(p.String(), p.Filename+":")
}

func root(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	require.NoError(t, err)
	_, err = os.Stat(filepath.Join(dir, "go.mod"))
	require.NoError(t, err, "this package moved: %s is not the module's root", dir)
	return dir
}

// files are the files of the tree: what git tracks or would track, or, without
// git, everything outside folders that no repository holds.
func files(t testing.TB) []textFile {
	t.Helper()
	dir := root(t)
	names := tracked(dir)
	if names == nil {
		names = walked(t, dir)
	}
	slices.Sort(names)
	var out []textFile
	for _, name := range slices.Compact(names) {
		body, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted, and git has not been told yet
		}
		require.NoError(t, err)
		if !bytes.ContainsRune(body[:min(len(body), 8000)], 0) {
			out = append(out, textFile{name, body})
		}
	}
	require.NotEmpty(t, out)
	return out
}

// tracked asks git; nil when there is no git or no repository.
func tracked(dir string) []string {
	c := exec.Command("git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	c.Dir = dir
	out, err := c.Output()
	if err != nil {
		return nil
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
}

func walked(t testing.TB, dir string) []string {
	t.Helper()
	var out []string
	require.NoError(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "bin", "dist", "node_modules"}, d.Name()):
			return filepath.SkipDir
		case d.Type().IsRegular():
			rel, err := filepath.Rel(dir, p)
			out = append(out, filepath.ToSlash(rel))
			return err
		}
		return nil
	}))
	return out
}

// goFiles parses the Go files of every platform; those in testdata are data.
func goFiles(t testing.TB, all []textFile) []goFile {
	t.Helper()
	var out []goFile
	for _, f := range all {
		if strings.HasSuffix(f.path, ".go") && !inTestdata(f.path) {
			g, err := parse(f.path, f.body)
			require.NoError(t, err)
			out = append(out, g)
		}
	}
	require.NotEmpty(t, out)
	return out
}

func parse(name string, body []byte) (goFile, error) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, name, body, parser.ParseComments|parser.SkipObjectResolution)
	return goFile{textFile{name, body}, fset, parsed}, err
}

// inTestdata reports whether the Go command passes a file over: testdata, and
// folders such as .sbxgen that hold what was scaffolded.
func inTestdata(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return part == "testdata" || strings.HasPrefix(part, ".") || strings.HasPrefix(part, "_")
	})
}

// source parses text as a file of the tree, for the tests of the rules.
func source(t testing.TB, name, text string) goFile {
	t.Helper()
	f, err := parse(name, []byte(text))
	require.NoError(t, err)
	return f
}
