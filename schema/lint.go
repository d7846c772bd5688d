package schema

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Problem is a mistake in a schema. Line and Col count from 1; columns count
// characters. Pointer is the JSON pointer of the place.
type Problem struct {
	File    string
	Line    int
	Col     int
	Pointer string
	Message string
	// Suggestion is the word that was probably meant; empty when there is none.
	Suggestion string
}

// String writes a problem as file:line:col: message.
func (p Problem) String() string {
	s := fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Col, p.Message)
	if p.Suggestion != "" {
		s += fmt.Sprintf("; did you mean %q?", p.Suggestion)
	}
	return s
}

// Lint looks for everything in one schema that the tool chain would ignore or
// misunderstand: keywords outside the supported list, unknown keys in x-sbx,
// references that lead nowhere, objects that are open, alternatives that
// overlap, properties without a title or description. References into the
// contract schema and IDs of checks are looked up in the embedded files. The
// result is sorted by position.
func Lint(name string, src []byte) []Problem {
	return lintWith(name, src, loadCompanions(files))
}

// LintAll lints every schema at the root of fsys, with the contract schema and
// the checks of the same fsys.
func LintAll(fsys fs.FS) []Problem {
	names, err := fs.Glob(fsys, "*.schema.json")
	if err != nil {
		return []Problem{{File: ".", Line: 1, Col: 1, Message: err.Error()}}
	}
	var problems []Problem
	known := loadCompanions(fsys)
	if known.err != nil {
		problems = append(problems, Problem{File: known.errFile, Line: 1, Col: 1, Message: known.err.Error()})
	}
	for _, name := range names {
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			problems = append(problems, Problem{File: name, Line: 1, Col: 1, Message: err.Error()})
			continue
		}
		problems = append(problems, lintWith(name, src, known)...)
	}
	return problems
}

// companions is what a schema may refer to outside itself.
type companions struct {
	contract *node    // nil when it cannot be read; its own lint says why
	checks   []string // IDs
	err      error    // why a companion is missing
	errFile  string
}

func loadCompanions(fsys fs.FS) companions {
	var c companions
	if src, err := fs.ReadFile(fsys, ContractFile); err != nil {
		c.err, c.errFile = err, ContractFile
	} else if root, _, serr := parseTree(src); serr == nil {
		c.contract = root
	}
	src, err := fs.ReadFile(fsys, checksFile)
	if err != nil {
		c.err, c.errFile = err, checksFile
		return c
	}
	list, err := decodeChecks(src)
	if err != nil {
		c.err, c.errFile = err, checksFile
	}
	for _, check := range list {
		c.checks = append(c.checks, check.ID)
	}
	return c
}

// linter holds one run over one document.
type linter struct {
	file     string
	src      []byte
	root     *node
	known    companions
	strict   bool // every property needs its own words, because forms are made from it
	names    map[string]string
	problems []Problem
}

func lintWith(name string, src []byte, known companions) []Problem {
	l := &linter{file: name, src: src, known: known, names: map[string]string{}}
	base := path.Base(name)
	l.strict = base == ProviderFile || base == CatalogFile
	root, dups, serr := parseTree(src)
	if serr != nil {
		l.report(serr.off, "", "", "%s", serr.msg)
		return l.problems
	}
	l.root = root
	if base == ContractFile {
		l.known.contract = root
	}
	for _, dup := range dups {
		l.report(dup.off, dup.val.ptr+"/"+escapePointer(dup.key), "", "%q appears twice in one object", dup.key)
	}
	l.document()
	slices.SortStableFunc(l.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), strings.Compare(a.Message, b.Message))
	})
	return slices.Compact(l.problems)
}

// report notes a problem at a byte offset.
func (l *linter) report(off int, ptr, suggestion, format string, args ...any) {
	line, col := position(l.src, off)
	l.problems = append(l.problems, Problem{
		File: l.file, Line: line, Col: col, Pointer: ptr,
		Message: fmt.Sprintf(format, args...), Suggestion: suggestion,
	})
}

// value reports a problem at a value.
func (l *linter) value(n *node, format string, args ...any) {
	l.report(n.off, n.ptr, "", format, args...)
}

// key reports a problem at a key of an object.
func (l *linter) key(parent *node, m member, suggestion, format string, args ...any) {
	l.report(m.off, parent.ptr+"/"+escapePointer(m.key), suggestion, format, args...)
}

// document lints the root: what only a document has, then the schema.
func (l *linter) document() {
	if l.root.kind != objectNode {
		l.value(l.root, "a schema document is an object")
		return
	}
	for _, required := range []string{"$schema", "$id", "title", "description"} {
		if l.root.get(required).str() == "" {
			l.value(l.root, "the document has no %s", required)
		}
	}
	if got := l.root.get("$schema"); got.str() != "" && got.str() != draft {
		l.value(got, "$schema must be %s", draft)
	}
	l.schema(l.root, place{root: true})
	l.vocabulary()
}

const draft = "https://json-schema.org/draft/2020-12/schema"
