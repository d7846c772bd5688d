package schemacheck

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/yamldoc"
	"github.com/agentworkforce/sbx/schema"
)

// maxFindings bounds the findings about one document: nobody reads more, and a
// hostile document could have a hundred thousand.
const maxFindings = 200

// Checker checks documents against one schema. It is safe for concurrent use.
type Checker struct {
	name  string
	src   []byte
	model *node
	full  func() (*jsonschema.Schema, error)
}

// Provider returns a checker of provider manifests with the embedded schema.
func Provider() (*Checker, error) { return embedded(schema.ProviderFile) }

// Catalog returns a checker of catalog entries with the embedded schema.
func Catalog() (*Checker, error) { return embedded(schema.CatalogFile) }

func embedded(name string) (*Checker, error) {
	fsys := schema.Files()
	src, err := fsys.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return New(name, src)
}

// New returns a checker for the schema src, which has passed schema.Lint. Name
// is the file name it is spoken of by. The error says that src is no schema;
// jsonschema/v5 itself compiles it when the first document needs it.
func New(name string, src []byte) (*Checker, error) {
	model, err := parseModel(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	c := &Checker{name: name, src: src, model: model}
	c.full = sync.OnceValues(c.compile)
	return c, nil
}

// Compile compiles the schema with jsonschema/v5 now instead of at the first
// document that needs it, and returns what is wrong with it.
func (c *Checker) Compile() error {
	_, err := c.full()
	return err
}

func (c *Checker) compile() (*jsonschema.Schema, error) {
	compiler := jsonschema.NewCompiler()
	compiler.Draft = jsonschema.Draft2020
	compiler.AssertFormat = true
	url := "mem:///" + c.name
	if err := compiler.AddResource(url, bytes.NewReader(c.src)); err != nil {
		return nil, err
	}
	return compiler.Compile(url)
}

// Validate returns a diagnostic for every place where doc breaks the schema, in
// the order of the file. A nil doc has none. Values that yamldoc refused are
// passed over, because what is wrong with them has been said.
func (c *Checker) Validate(doc *yamldoc.Doc) []diag.Diagnostic {
	found, err := c.Findings(doc)
	if err != nil {
		return []diag.Diagnostic{{File: c.name, Rule: RuleSchema, Message: err.Error(), Next: "sbxgen generate"}}
	}
	if len(found) == 0 {
		return nil
	}
	out := make([]diag.Diagnostic, 0, min(len(found), maxFindings))
	for i := range found[:min(len(found), maxFindings)] {
		out = append(out, found[i].Diagnostic(doc))
	}
	if more := len(found) - len(out); more > 0 {
		last := &out[len(out)-1]
		last.Help = strings.TrimPrefix(last.Help+fmt.Sprintf("; %d more findings of this document are not shown", more), "; ")
	}
	return out
}

// Findings returns what Validate says as data.
func (c *Checker) Findings(doc *yamldoc.Doc) ([]Finding, error) {
	if doc == nil {
		return nil, nil
	}
	bad := c.badPackage(doc)
	if c.model.accepts(doc.Value()) {
		return bad, nil
	}
	found, err := c.findings(doc)
	return append(bad, found...), err
}

// badPackage refuses the ID of a manifest that names no Go package. A schema
// has no word for that.
func (c *Checker) badPackage(doc *yamldoc.Doc) []Finding {
	manifest, _ := doc.Value().(map[string]any)
	id, _ := manifest["id"].(string)
	if c.name != schema.ProviderFile || schema.BadPackage(id) == "" {
		return nil
	}
	return []Finding{{Kind: KindPackage, Rule: RulePackage, Pointer: "/id", Location: "/properties/id"}}
}

func (c *Checker) findings(doc *yamldoc.Doc) ([]Finding, error) {
	full, err := c.full()
	if err != nil {
		return nil, err
	}
	err = full.Validate(c.model.bound(doc.Value()))
	if err == nil {
		return nil, nil
	}
	var refused *jsonschema.ValidationError
	if !errors.As(err, &refused) {
		return nil, err
	}
	e := &explainer{model: c.model, doc: doc}
	e.explain(refused)
	e.settle()
	for i := range e.found {
		e.found[i].Rule = ruleOf(c.name, &e.found[i])
	}
	return e.sorted(), nil
}

// sorted orders findings by place and drops all but the first of those about
// one value that say the same rule is broken.
func (e *explainer) sorted() []Finding {
	slices.SortStableFunc(e.found, func(a, b Finding) int {
		as, bs := a.span(e.doc), b.span(e.doc)
		return cmp.Or(cmp.Compare(as.Line, bs.Line), cmp.Compare(as.Col, bs.Col), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return slices.CompactFunc(e.found, func(a, b Finding) bool {
		if a.Pointer != b.Pointer || a.Name != b.Name {
			return false
		}
		return a.Rule == b.Rule || a.Kind.ofText() && b.Kind.ofText()
	})
}
