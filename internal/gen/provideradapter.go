package gen

import (
	"bytes"
	"fmt"
	"strings"

	. "github.com/dave/jennifer/jen" //nolint:revive // jennifer reads as Go only when dot-imported
)

// adapterScaffold renders adapter.go as a contributor first sees it: every
// core method answers not_implemented, and so does every method of a
// capability the manifest already supports.
func adapterScaffold(m *providerModel, core capability) ([]byte, error) {
	f := NewFilePathName(m.importPath(), m.pkg())
	for _, line := range wrap(fmt.Sprintf("Package %s drives %s sandboxes. Describe the vendor in provider.yaml, write the methods "+
		"below, then run `sbxgen checklist %s` to see what is left.", m.pkg(), m.name, m.id), 76) {
		f.PackageComment(line)
	}
	f.ImportName(contractPath, "contract")
	f.ImportName(portPath, "port")
	comment(f, "Adapter talks to "+m.name+". It holds no state about sandboxes: every method is given an id, and any process "+
		"with the same credentials may call it. It is safe for concurrent use.")
	f.Type().Id("Adapter").Struct(Id("cfg").Id("Config"))
	comment(f, "New makes an adapter from resolved settings. It reads no environment, checks what it was given and makes no network call.")
	f.Func().Id("New").Params(Id("ctx").Qual("context", "Context"), Id("cfg").Id("Config")).Params(Op("*").Id("Adapter"), Error()).Block(
		Return(Op("&").Id("Adapter").Values(Dict{Id("cfg"): Id("cfg")}), Nil()))
	for _, op := range core.methods {
		stubMethod(f, op)
	}
	for _, c := range m.supported() {
		for _, op := range c.capability.methods {
			stubMethod(f, op)
		}
	}
	return render(f)
}

// stubMethod renders one method answering not_implemented.
func stubMethod(f *File, op method) {
	comment(f, op.doc)
	f.Func().Params(Id("a").Op("*").Id("Adapter")).Id(op.name).Add(signature(op, op.params)).Block(
		ReturnFunc(func(g *Group) {
			for _, r := range op.results {
				g.Add(zeroValue(r.typ))
			}
			g.Qual(portPath, "NotImplemented").Call(Lit(op.name))
		}))
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
