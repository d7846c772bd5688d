package gen

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/agentworkforce/sbx/internal/gen/tree"
	"github.com/agentworkforce/sbx/templates"
)

// revision is the generator's own input to every lock. It rises with a change
// of the generators that alters output for the same inputs.
const revision = 2

// Plan returns what the project's generated files should be. With ids only the
// units of those providers are in it; without, all of them and, in the sbx
// module itself, what is made from the schema.
func (p *Project) Plan(ids ...string) (tree.Plan, error) {
	plan := tree.Plan{Validate: validateGo}
	wanted := p.Manifests
	if len(ids) > 0 {
		wanted = slices.DeleteFunc(slices.Clone(wanted), func(m *Manifest) bool { return !slices.Contains(ids, m.ID()) })
	}
	plan.Units = make([]tree.Unit, len(wanted))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, m := range wanted {
		g.Go(func() (err error) {
			plan.Units[i], err = p.providerUnit(m)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return plan, err
	}
	if len(ids) > 0 {
		return plan, nil
	}
	for _, dir := range p.Retired {
		plan.Units = append(plan.Units, tree.Unit{Dir: dir, Retired: true})
	}
	if p.InTree {
		catalog, err := p.catalogUnit()
		if err != nil {
			return plan, err
		}
		plan.Units = append(plan.Units, p.schemaUnit(), catalog)
	}
	return plan, nil
}

// validateGo refuses generated Go that does not parse, before anything is written.
func validateGo(name string, content []byte) error {
	if path.Ext(name) != ".go" {
		return nil
	}
	if strings.HasPrefix(path.Base(name), "zz_generated_") {
		return nil // jennifer has parsed it to format it
	}
	_, err := parser.ParseFile(token.NewFileSet(), name, content, parser.SkipObjectResolution)
	return err
}

// schemaUnit is everything made from schema/ and from all manifests together.
func (p *Project) schemaUnit() tree.Unit {
	inputs := p.schemaInputs()
	for _, m := range p.Manifests {
		inputs[m.Path] = digest(m.src)
	}
	for name, b := range p.src.data {
		inputs["schema/"+name] = digest(b)
	}
	return tree.Unit{
		Dir: ".", Lock: "generated/" + tree.LockName, Inputs: inputs,
		OwnedPatterns: []string{"generated/**", "port/zz_generated_*", "sandbox/zz_generated_*", "docs/reference/**", "docs/exit-codes.md", "docs/providers/**", "docs/conformance.md"},
		Render: func(context.Context) (tree.Output, error) {
			files, err := contractFiles(p.src)
			if err != nil {
				return tree.Output{}, err
			}
			b, err := registryFile(p.nativeModels())
			if err != nil {
				return tree.Output{}, &RenderError{Path: "generated/registry/registry.go", Err: err}
			}
			files["generated/registry/registry.go"] = b
			pages, err := referenceFiles(p.src)
			if err != nil {
				return tree.Output{}, err
			}
			maps.Copy(files, pages)
			if pages, err = p.providerPages(); err != nil {
				return tree.Output{}, err
			}
			maps.Copy(files, pages)
			return tree.Output{Owned: files, Scaffold: catalogEntries(p.Manifests)}, nil
		},
	}
}

// schemaInputs are the inputs that all units have. The caller may change them.
func (p *Project) schemaInputs() map[string]string { return maps.Clone(p.inputs) }

func schemaInputs(src sources) map[string]string {
	return map[string]string{
		"generator":                   digest([]byte(strconv.Itoa(revision))),
		"schema/provider.schema.json": digest(src.provider),
		"schema/contract.schema.json": digest(src.contract),
		"schema/catalog.schema.json":  digest(src.catalog),
		"schema/errors.json":          digest(src.errors),
	}
}

func (p *Project) nativeModels() []*providerModel {
	var out []*providerModel
	for _, m := range p.Manifests {
		if pm := p.model(m); pm.native() {
			out = append(out, pm)
		}
	}
	slices.SortFunc(out, func(a, b *providerModel) int { return strings.Compare(a.id, b.id) })
	return out
}

func (p *Project) model(m *Manifest) *providerModel {
	return newProviderModel(m.value(), p.vocab(), p.Module, m.Dir)
}

// providerUnit is everything made for one provider. What only rendering needs
// is read when it renders.
func (p *Project) providerUnit(m *Manifest) (tree.Unit, error) {
	src, err := p.unwritten(m)
	if err != nil {
		return tree.Unit{}, err
	}
	inputs := p.schemaInputs()
	delete(inputs, "schema/catalog.schema.json")
	inputs["provider.yaml"] = digest(m.src)
	inputs["unwritten"] = digest([]byte(src.state()))
	inputs["templates"] = p.templates
	entry, err := p.entryFacts(m)
	if err != nil {
		return tree.Unit{}, err
	}
	inputs["catalog entry"] = entry.input()
	return tree.Unit{
		Dir: m.Dir, Inputs: inputs, OwnedPatterns: []string{"zz_generated_*", fixturesName}, Needed: p.needed(m, src),
		Render: func(context.Context) (tree.Output, error) {
			if _, err := p.vocabulary(); err != nil {
				return tree.Output{}, err
			}
			src, err := p.unwritten(m)
			if err != nil {
				return tree.Output{}, err
			}
			return p.providerOutput(p.model(m), src, entry)
		},
	}, nil
}

// needed is the adapter of a provider that has no hand-written Go file: its
// generated driver does not compile without one.
func (p *Project) needed(m *Manifest, src adapterSource) []string {
	if src.exists || m.value().node("adapter").text("kind") != "native" {
		return nil
	}
	return []string{path.Join(m.Dir, "adapter.go")}
}

// unwritten reads a provider's hand-written files, or says what they will be
// when this run has scaffolded them.
func (p *Project) unwritten(m *Manifest) (adapterSource, error) {
	src, err := readAdapterSource(filepath.Join(p.Root, filepath.FromSlash(m.Dir)))
	if err != nil || src.exists {
		return src, err
	}
	if _, err := p.vocabulary(); err != nil {
		return src, err
	}
	if model := p.model(m); model.native() && model.base == "" {
		src.unwritten = p.scaffoldedMethods(model)
	}
	return src, nil
}

func (p *Project) providerOutput(m *providerModel, src adapterSource, entry entryFacts) (tree.Output, error) {
	out := tree.Output{Owned: map[string][]byte{}, Scaffold: map[string][]byte{}, Appends: map[string][]tree.Append{}}
	if m.native() {
		if err := p.goOutput(m, src, &out); err != nil {
			return out, err
		}
	}
	docs, err := providerDocs(m, src, entry)
	if err != nil {
		return out, err
	}
	docs.into(m.dir, &out)
	return out, nil
}

// goOutput adds the Go files and fixtures of a native provider.
func (p *Project) goOutput(m *providerModel, src adapterSource, out *tree.Output) error {
	owned, err := renderAll(map[string]func() ([]byte, error){
		"zz_generated_config.go":           func() ([]byte, error) { return configFile(m) },
		"zz_generated_driver.go":           func() ([]byte, error) { return driverFile(m, p.vocab().core) },
		"zz_generated_client.go":           func() ([]byte, error) { return clientFile(m) },
		"zz_generated_ledger.go":           func() ([]byte, error) { return ledgerFile(m, p.vocab().core) },
		"zz_generated_conformance_test.go": func() ([]byte, error) { return conformanceTestFile(m) },
		"zz_generated_bench_test.go":       func() ([]byte, error) { return benchTestFile(m) },
	})
	if err != nil {
		return err
	}
	contract, err := p.contract()
	if err != nil {
		return err
	}
	fixtures, err := contractFixtures(m, p.vocab(), contract)
	if err != nil {
		return err
	}
	owned[fixturesName] = fixtures
	for name, b := range owned {
		out.Owned[path.Join(m.dir, name)] = b
	}
	scaffold, err := renderAll(map[string]func() ([]byte, error){
		"adapter.go":      func() ([]byte, error) { return p.adapterScaffold(m) },
		"adapter_test.go": func() ([]byte, error) { return adapterTestScaffold(m) },
	})
	if err != nil {
		return err
	}
	for name, b := range scaffold {
		out.Scaffold[path.Join(m.dir, name)] = b
	}
	return p.missingMethods(m, src, out)
}

// missingMethods appends a stub for every supported operation that no
// hand-written file has. A provider that builds on another one, or embeds some
// other type, inherits methods that cannot be seen here: there the compiler
// names what is missing. Nor is anything appended while a file does not parse,
// which may have the method.
func (p *Project) missingMethods(m *providerModel, src adapterSource, out *tree.Output) error {
	if m.base != "" || src.embeds || !src.exists || len(src.unparsed) > 0 {
		return nil
	}
	for _, c := range m.supported() {
		var stubs []tree.Append
		for _, op := range c.capability.methods {
			if src.methods[op.name] {
				continue
			}
			text, err := stubText(op)
			if err != nil {
				return err
			}
			stubs = append(stubs, tree.Append{Key: "method." + op.name, Text: text})
		}
		if len(stubs) == 0 {
			continue
		}
		if src.stubImports {
			name := path.Join(m.dir, "adapter.go")
			out.Appends[name] = append(out.Appends[name], stubs...)
			continue
		}
		b, err := capabilityScaffold(m, c.capability, src)
		if err != nil {
			return err
		}
		out.Scaffold[path.Join(m.dir, "adapter_"+strings.ReplaceAll(c.capability.id, ".", "_")+".go")] = b
	}
	return nil
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// templatesDigest is one digest over every embedded template.
func templatesDigest() (string, error) {
	h := sha256.New()
	err := fs.WalkDir(templates.FS, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(templates.FS, name)
		if err != nil {
			return err
		}
		h.Write([]byte(name + "\x00" + digest(b) + "\n"))
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// scaffoldedMethods are the methods that adapterScaffold writes, sorted.
func (p *Project) scaffoldedMethods(m *providerModel) []string {
	var out []string
	for _, op := range p.vocab().core.methods {
		out = append(out, op.name)
	}
	for _, c := range m.scaffolded() {
		for _, op := range c.capability.methods {
			out = append(out, op.name)
		}
	}
	slices.Sort(out)
	return out
}
