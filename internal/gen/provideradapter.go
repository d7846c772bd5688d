package gen

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	. "github.com/dave/jennifer/jen" //nolint:revive // jennifer reads as Go only when dot-imported
)

// adapterScaffold renders adapter.go as a contributor first sees it. Every
// core method, and every method of a capability that the manifest supports or
// states as unknown, answers not_implemented. A method under an unknown claim is
// called by nobody but probing runs, so it promises nothing; it is supported when
// the manifest says so. A provider with a base embeds that one's adapter and
// inherits what it has.
func (p *Project) adapterScaffold(m *providerModel) ([]byte, error) {
	f := NewFilePathName(m.importPath(), m.pkg())
	for _, line := range wrap(fmt.Sprintf("Package %s drives %s sandboxes. Describe the vendor in provider.yaml, write the methods "+
		"below, then run `sbxgen checklist %s` to see what is left.", m.pkg(), m.name, m.id), 76) {
		f.PackageComment(line)
	}
	f.ImportName(contractPath, "contract")
	f.ImportName(portPath, "port")
	if m.base != "" {
		if err := p.baseAdapter(f, m); err != nil {
			return nil, err
		}
		return render(f)
	}
	comment(f, "Adapter talks to "+m.name+". It holds no state about sandboxes: every method is given an id, and any process "+
		"with the same credentials may call it. It is safe for concurrent use.")
	f.Type().Id("Adapter").Struct(Id("cfg").Id("Config"))
	comment(f, "New makes an adapter from resolved settings. It reads no environment, checks what it was given and makes no network call.")
	f.Func().Id("New").Params(Id("ctx").Qual("context", "Context"), Id("cfg").Id("Config")).Params(Op("*").Id("Adapter"), Error()).Block(
		Return(Op("&").Id("Adapter").Values(Dict{Id("cfg"): Id("cfg")}), Nil()))
	for _, op := range p.vocab().core.methods {
		stubMethod(f, op)
	}
	for _, c := range m.scaffolded() {
		for _, op := range c.capability.methods {
			stubMethod(f, op)
		}
	}
	return render(f)
}

// baseAdapter renders an Adapter that embeds the base provider's, opened with
// the settings both have.
func (p *Project) baseAdapter(f *File, m *providerModel) error {
	base, ok := p.baseModel(m.base)
	if !ok {
		return &BaseError{Base: m.base, Module: p.Module}
	}
	f.ImportName(base.importPath(), base.pkg())
	comment(f, "Adapter is "+base.name+"'s adapter with what is different about "+m.name+". Methods written here replace its own.")
	f.Type().Id("Adapter").Struct(Op("*").Qual(base.importPath(), "Adapter"))
	comment(f, "New makes an adapter from resolved settings. It reads no environment.")
	f.Func().Id("New").Params(Id("ctx").Qual("context", "Context"), Id("cfg").Id("Config")).Params(Op("*").Id("Adapter"), Error()).Block(
		List(Id("base"), Err()).Op(":=").Qual(base.importPath(), "New").Call(Id("ctx"), Qual(base.importPath(), "Config").Values(DictFunc(func(d Dict) {
			for _, s := range m.settings {
				if base.hasSetting(s.key) {
					d[Id(goName(s.key))] = Id("cfg").Dot(goName(s.key))
				}
			}
		}))),
		returnOnError(),
		Return(Op("&").Id("Adapter").Values(Dict{Id("Adapter"): Id("base")}), Nil()))
	return nil
}

// capabilityScaffold renders a file of its own for the missing methods of one
// capability, for adapters whose adapter.go does not import what stubs need.
func capabilityScaffold(m *providerModel, c capability, src adapterSource) ([]byte, error) {
	f := NewFilePathName(m.importPath(), m.pkg())
	f.ImportName(contractPath, "contract")
	f.ImportName(portPath, "port")
	for _, op := range c.methods {
		if !src.methods[op.name] {
			stubMethod(f, op)
		}
	}
	return render(f)
}

// stubMethod renders one method answering not_implemented.
func stubMethod(f *File, op method) {
	comment(f, op.doc)
	f.Func().Params(Id("a").Op("*").Id("Adapter")).Id(op.name).Add(signature(op, stubParams(op.params))).Block(
		ReturnFunc(func(g *Group) {
			for _, r := range op.results {
				g.Add(zeroValue(r.typ))
			}
			g.Qual(portPath, "NotImplemented").Call(Lit(op.name))
		}))
}

// stubParams renames parameters that would hide a package which the stub uses.
func stubParams(params []param) []param {
	out := slices.Clone(params)
	for i := range out {
		switch out[i].name {
		case "port", "contract", "context", "time":
			out[i].name += "Value"
		}
	}
	return out
}

func zeroValue(t typeRef) *Statement {
	switch {
	case t.kind == "array", t.name == "bytes", t.name == "Process", t.name == "PTY":
		return Nil()
	case t.kind == "ref":
		return Qual(contractPath, t.name).Values()
	case t.name == "ReadStream", t.name == "WriteStream":
		return Qual(portPath, t.name).Values()
	case t.name == "time":
		return Qual("time", "Time").Values()
	case t.name == "int", t.name == "duration":
		return Lit(0)
	case t.name == "bool":
		return False()
	}
	return Lit("")
}

// stubText renders one stub method as text that can be appended to an
// existing adapter file which imports context and the contract packages.
func stubText(op method) (string, error) {
	f := NewFilePathName(modulePath+"/stub", "stub")
	f.ImportName(contractPath, "contract")
	f.ImportName(portPath, "port")
	stubMethod(f, op)
	var out bytes.Buffer
	if err := f.Render(&out); err != nil {
		return "", err
	}
	// Keep only what follows the import block: the doc comment and the method.
	text := out.String()
	i := strings.LastIndex(text, "\n)\n")
	if i < 0 {
		return "", fmt.Errorf("stub of %s: no import block in rendered file", op.name)
	}
	return "\n" + strings.TrimLeft(text[i+3:], "\n"), nil
}
