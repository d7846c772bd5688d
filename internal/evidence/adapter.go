package evidence

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/dirhash"
)

// modulesName is the name under which the direct SDKs enter the digest. No file
// can have it.
const modulesName = "go.mod//direct"

// AdapterDigest is the digest of what an adapter is made of: "h1:" and base64.
// fsys is the module that holds it; provider and base are slash paths of folders,
// base is "" where the manifest names none. It covers every file that is compiled
// into the provider and is not generated, whatever the platform; the same of every
// package of the module that these import, except the toolkit's own shared ones;
// and module@version of every module that all of these import, from go.mod.
// It needs no network, and is the same wherever the module is.
//
// The error names the file that cannot be read, or an import that no requirement
// of go.mod accounts for: an adapter that cannot be bound cannot be verified.
func AdapterDigest(fsys fs.FS, provider, base string) (string, error) {
	mod, err := readModule(fsys)
	if err != nil {
		return "", fmt.Errorf("evidence: adapter digest: %w", err)
	}
	c := newCollector(fsys)
	for _, folder := range []string{provider, base} {
		if folder == "" {
			continue
		}
		if err := c.folder(folder); err != nil {
			return "", fmt.Errorf("evidence: adapter digest: %w", err)
		}
	}
	if err := c.follow(mod.Module.Mod.Path, path.Dir(provider)); err != nil {
		return "", fmt.Errorf("evidence: adapter digest: %w", err)
	}
	modules, err := directModules(mod, c.imports)
	if err != nil {
		return "", fmt.Errorf("evidence: adapter digest: %w", err)
	}
	c.content[modulesName] = []byte(strings.Join(modules, "\n") + "\n")
	names := make([]string, 0, len(c.content))
	for name := range c.content {
		names = append(names, name)
	}
	return dirhash.Hash1(names, func(name string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(c.content[name])), nil
	})
}

// collector gathers the files of a digest and what they import.
type collector struct {
	fsys    fs.FS
	content map[string][]byte
	imports map[string]string // import path to the first file that has it
}

func newCollector(fsys fs.FS) *collector {
	return &collector{fsys: fsys, content: map[string][]byte{}, imports: map[string]string{}}
}

// follow adds the packages of the module own that are imported, until nothing new
// is. Of the toolkit itself only those beside the provider count: what lies below
// them is bound by revisions.
func (c *collector) follow(own, beside string) error {
	done := map[string]bool{}
	for name := range c.content {
		done[path.Dir(name)] = true
	}
	for {
		before := len(done)
		for _, target := range slices.Sorted(maps.Keys(c.imports)) {
			dir, ok := strings.CutPrefix(target, own+"/")
			if !ok || done[dir] || own == toolkit && !within(dir, beside) {
				continue
			}
			done[dir] = true
			if err := c.pack(dir); err != nil {
				return fmt.Errorf("%s: %w", c.imports[target], err)
			}
		}
		if len(done) == before {
			return nil
		}
	}
}

// pack adds the files of one package.
func (c *collector) pack(dir string) error {
	entries, err := fs.ReadDir(c.fsys, dir)
	if err != nil {
		return err
	}
	for _, d := range entries {
		if !compiled(d.Name()) || d.IsDir() {
			continue
		}
		if !d.Type().IsRegular() {
			return fmt.Errorf("%s %w", path.Join(dir, d.Name()), errIrregular)
		}
		if err := c.file(path.Join(dir, d.Name())); err != nil {
			return err
		}
	}
	return nil
}

var (
	errNoGo      = errors.New("has no hand-written Go file")
	errIrregular = errors.New("is no regular file")
)

func (c *collector) folder(root string) error {
	before := len(c.content)
	err := fs.WalkDir(c.fsys, root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && skipFolder(d.Name()):
			return fs.SkipDir
		case d.IsDir():
			return nil
		case !compiled(d.Name()):
			return nil
		case !d.Type().IsRegular():
			return fmt.Errorf("%s %w", name, errIrregular)
		}
		return c.file(name)
	})
	if err == nil && len(c.content) == before {
		err = fmt.Errorf("%s %w", root, errNoGo)
	}
	return err
}

// skipFolder is what the go command never builds. An embedded file may be in
// such a folder and is found through its directive.
func skipFolder(name string) bool {
	return name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

// compiled reports the files that the go command compiles into a package.
func compiled(name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || strings.HasSuffix(name, "_test.go") {
		return false
	}
	return slices.Contains([]string{".go", ".s", ".S", ".sx", ".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".m", ".syso"}, path.Ext(name))
}

// emitted are the files that the generator writes into a provider. Anything else
// that calls itself generated is somebody's code.
func emitted() []string {
	return []string{"zz_generated_client.go", "zz_generated_config.go", "zz_generated_driver.go", "zz_generated_ledger.go"}
}

func (c *collector) file(name string) error {
	src, err := fs.ReadFile(c.fsys, name)
	if err != nil {
		return err
	}
	if path.Ext(name) != ".go" {
		c.content[name] = src
		return nil
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return err
	}
	if ast.IsGenerated(file) && slices.Contains(emitted(), path.Base(name)) {
		return nil // follows from the manifest; sbxgen generate --check compares it
	}
	c.content[name] = src
	for _, spec := range file.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if _, ok := c.imports[target]; !ok {
			c.imports[target] = name
		}
	}
	return c.embedded(name, src)
}

// embedded adds the files that go:embed compiles into a package.
func (c *collector) embedded(name string, src []byte) error {
	for line := range strings.Lines(string(src)) {
		args, ok := strings.CutPrefix(line, "//go:embed ")
		if !ok {
			continue
		}
		patterns, err := embedPatterns(args)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, p := range patterns {
			if err := c.embed(path.Dir(name), strings.TrimPrefix(p, "all:")); err != nil {
				return fmt.Errorf("%s: go:embed %s: %w", name, p, err)
			}
		}
	}
	return nil
}

var errQuote = errors.New("a quote does not end")

// embedPatterns splits the words of a directive; a word may be quoted.
func embedPatterns(args string) ([]string, error) {
	var out []string
	for args = strings.TrimSpace(args); args != ""; args = strings.TrimSpace(args) {
		if args[0] != '"' && args[0] != '`' {
			word, rest, _ := strings.Cut(args, " ")
			out, args = append(out, word), rest
			continue
		}
		quoted, err := strconv.QuotedPrefix(args)
		if err != nil {
			return nil, errQuote
		}
		word, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, errQuote
		}
		out, args = append(out, word), args[len(quoted):]
	}
	return out, nil
}

// embed adds what a pattern matches; of a folder everything, hidden files too.
func (c *collector) embed(dir, pattern string) error {
	matches, err := fs.Glob(c.fsys, path.Join(dir, pattern))
	if err != nil {
		return err
	}
	for _, match := range matches {
		err := fs.WalkDir(c.fsys, match, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			c.content[name], err = fs.ReadFile(c.fsys, name)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
