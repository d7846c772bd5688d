package gen

import (
	"bytes"

	. "github.com/dave/jennifer/jen" //nolint:revive // jennifer reads as Go only when dot-imported
)

// providerFile starts a generated file of a provider's package.
func providerFile(m *providerModel) *File {
	f := NewFilePathName(m.importPath(), m.pkg())
	f.HeaderComment(generatedHeader("provider.yaml"))
	f.ImportName(sandboxPath, "sandbox")
	f.ImportName(contractPath, "contract")
	f.ImportName(portPath, "port")
	return f
}

func render(f *File) ([]byte, error) {
	var out bytes.Buffer
	err := f.Render(&out)
	return out.Bytes(), err
}

// clientFile renders zz_generated_client.go: a client with exactly the methods
// the manifest supports, so that what the provider cannot do does not compile.
func clientFile(m *providerModel) ([]byte, error) {
	f := providerFile(m)
	ctx := Id("ctx").Qual("context", "Context")
	comment(f, "Provider is "+m.name+" through its own client: it has exactly the methods that provider.yaml supports. "+
		"Methods may be called concurrently.")
	f.Type().Id("Provider").Struct(Id("p").Op("*").Qual(sandboxPath, "Provider"))
	comment(f, "Sandbox is one sandbox of "+m.name+". What the provider cannot do does not compile here; "+
		"through package sandbox it is refused with the reason.")
	f.Type().Id("Sandbox").Struct(Id("sb").Op("*").Qual(sandboxPath, "Sandbox"))

	comment(f, "Open resolves settings (option, environment, default), opens the adapter and checks its claims. Close the Provider when done.")
	f.Func().Id("Open").Params(ctx, Id("opts").Op("...").Qual(sandboxPath, "Option")).Params(Op("*").Id("Provider"), Error()).Block(
		List(Id("p"), Err()).Op(":=").Qual(sandboxPath, "Open").Call(Id("ctx"), Id("Driver").Call(), Id("opts").Op("...")),
		returnOnError(),
		Return(Op("&").Id("Provider").Values(Dict{Id("p"): Id("p")}), Nil()),
	)
	comment(f, "Close waits for settling creates and releases the run's ledger.")
	f.Func().Params(Id("p").Op("*").Id("Provider")).Id("Close").Params().Error().Block(Return(Id("p").Dot("p").Dot("Close").Call()))
	wrapping(f, "Create", "Create makes a sandbox and returns when a command has run in it.", ctx, Id("opts").Op("...").Qual(sandboxPath, "CreateOption"))
	wrapping(f, "Attach", "Attach takes hold of an existing sandbox by its native ID.", ctx, Id("id").String(), Id("opts").Op("...").Qual(sandboxPath, "AttachOption"))
	wrapping(f, "Ensure", "Ensure returns the sandbox of this key, creating it if it is absent.", ctx, Id("key").String(), Id("opts").Op("...").Qual(sandboxPath, "CreateOption"))
	for _, c := range m.supported() {
		for _, op := range c.capability.methods {
			if !op.onSandbox() {
				delegate(f, "p", "Provider", "p", op)
			}
		}
	}
	sandboxMethods(f, m, ctx)
	return render(f)
}

func returnOnError() *Statement {
	return If(Err().Op("!=").Nil()).Block(Return(Nil(), Err()))
}

// wrapping renders a Provider method that returns a *Sandbox.
func wrapping(f *File, name, doc string, params ...Code) {
	args := []Code{Id("ctx")}
	switch name {
	case "Attach":
		args = append(args, Id("id"))
	case "Ensure":
		args = append(args, Id("key"))
	}
	args = append(args, Id("opts").Op("..."))
	comment(f, doc)
	f.Func().Params(Id("p").Op("*").Id("Provider")).Id(name).Params(params...).Params(Op("*").Id("Sandbox"), Error()).Block(
		List(Id("sb"), Err()).Op(":=").Id("p").Dot("p").Dot(name).Call(args...),
		returnOnError(),
		Return(Op("&").Id("Sandbox").Values(Dict{Id("sb"): Id("sb")}), Nil()),
	)
}

func sandboxMethods(f *File, m *providerModel, ctx *Statement) {
	recv := func() *Statement { return f.Func().Params(Id("s").Op("*").Id("Sandbox")) }
	comment(f, "ID is the vendor's own identity of the sandbox.")
	recv().Id("ID").Params().String().Block(Return(Id("s").Dot("sb").Dot("ID").Call()))
	comment(f, "Ref is provider:id, the form commands print and take.")
	recv().Id("Ref").Params().Qual(sandboxPath, "Ref").Block(Return(Id("s").Dot("sb").Dot("Ref").Call()))
	comment(f, "Run runs a program with arguments, without a shell. A nonzero exit is a result.")
	recv().Id("Run").Params(ctx, Id("name").String(), Id("args").Op("...").String()).Params(Qual(contractPath, "ExecResult"), Error()).Block(
		Return(Id("s").Dot("sb").Dot("Run").Call(Id("ctx"), Id("name"), Id("args").Op("..."))))
	comment(f, "Exec runs a command to its end.")
	recv().Id("Exec").Params(ctx, Id("command").Qual(contractPath, "Command")).Params(Qual(contractPath, "ExecResult"), Error()).Block(
		Return(Id("s").Dot("sb").Dot("Exec").Call(Id("ctx"), Id("command"))))
	comment(f, "Inspect reads the sandbox now, without changing it.")
	recv().Id("Inspect").Params(ctx).Params(Qual(contractPath, "Instance"), Error()).Block(
		Return(Id("s").Dot("sb").Dot("Inspect").Call(Id("ctx"))))
	comment(f, "Ready waits until a command runs in the sandbox.")
	recv().Id("Ready").Params(ctx).Error().Block(Return(Id("s").Dot("sb").Dot("Ready").Call(Id("ctx"))))
	comment(f, "Destroy removes the sandbox and verifies that it is gone, or says what is known. It works after ctx was cancelled.")
	recv().Id("Destroy").Params(ctx).Params(Qual(sandboxPath, "DestroyReport"), Error()).Block(
		Return(Id("s").Dot("sb").Dot("Destroy").Call(Id("ctx"))))
	for _, c := range m.supported() {
		for _, op := range c.capability.methods {
			switch {
			case op.name == "Fork":
				comment(f, op.doc)
				recv().Id("Fork").Params(ctx, Id("request").Qual(contractPath, "ForkRequest")).Params(Op("*").Id("Sandbox"), Error()).Block(
					List(Id("sb"), Err()).Op(":=").Id("s").Dot("sb").Dot("Fork").Call(Id("ctx"), Id("request")),
					returnOnError(),
					Return(Op("&").Id("Sandbox").Values(Dict{Id("sb"): Id("sb")}), Nil()))
			case op.onSandbox():
				delegate(f, "s", "Sandbox", "sb", op)
			}
		}
	}
}

// delegate renders a method that calls the same method of the wrapped value.
func delegate(f *File, recv, typ, inner string, op method) {
	comment(f, op.doc)
	f.Func().Params(Id(recv).Op("*").Id(typ)).Id(op.name).Add(signature(op, op.callerParams())).Block(
		Return(Id(recv).Dot(inner).Dot(op.name).CallFunc(func(g *Group) {
			g.Id("ctx")
			for _, p := range op.callerParams() {
				g.Id(goParam(p.name))
			}
		})))
}
