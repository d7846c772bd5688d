package gen

import (
	. "github.com/dave/jennifer/jen" //nolint:revive // jennifer reads as Go only when dot-imported
)

const registryPath = modulePath + "/generated/registry"

// registryFile renders generated/registry/registry.go: every provider of this
// module that is driven by Go code, one line each in ID order.
func registryFile(models []*providerModel) ([]byte, error) {
	f := NewFilePathName(registryPath, "registry")
	f.HeaderComment(generatedHeader("providers/*/provider.yaml"))
	f.PackageComment("Package registry knows every provider of this module by its ID. Importing it links")
	f.PackageComment("all of them; a program that uses one provider imports that provider instead.")
	f.ImportName(sandboxPath, "sandbox")
	f.ImportName(modulePath+"/catalog", "catalog")
	for _, m := range models {
		f.ImportName(m.importPath(), m.pkg())
	}
	comment(f, "Drivers returns the providers that can be opened, by ID order.")
	f.Func().Id("Drivers").Params().Index().Qual(sandboxPath, "Driver").Block(
		Return(Index().Qual(sandboxPath, "Driver").ValuesFunc(func(g *Group) {
			for _, m := range models {
				g.Line().Qual(m.importPath(), "Driver").Call()
			}
			g.Line()
		})))
	comment(f, "Lookup returns the provider with this ID.")
	f.Func().Id("Lookup").Params(Id("id").String()).Params(Qual(sandboxPath, "Driver"), Bool()).Block(
		Switch(Id("id")).BlockFunc(func(g *Group) {
			for _, m := range models {
				g.Case(Lit(m.id)).Block(Return(Qual(m.importPath(), "Driver").Call(), True()))
			}
		}),
		Return(Qual(sandboxPath, "Driver").Values(), False()))
	comment(f, "Open opens the provider with this ID. An ID that is not in the registry is invalid_argument.")
	f.Func().Id("Open").Params(Id("ctx").Qual("context", "Context"), Id("id").String(), Id("opts").Op("...").Qual(sandboxPath, "Option")).
		Params(Op("*").Qual(sandboxPath, "Provider"), Error()).Block(
		List(Id("d"), Id("ok")).Op(":=").Id("Lookup").Call(Id("id")),
		If(Op("!").Id("ok")).Block(Return(Nil(), Op("&").Qual(portPath, "Error").Values(Dict{
			Id("Code"): Qual(portPath, "CodeInvalidArgument"), Id("Op"): Lit("Open"), Id("Outcome"): Qual(portPath, "OutcomeUnchanged"),
			Id("Reason"): Qual(modulePath+"/catalog", "Unbuilt").CallFunc(func(g *Group) {
				g.Id("id")
				for _, m := range models {
					g.Lit(m.id)
				}
			})}))),
		Return(Qual(sandboxPath, "Open").Call(Id("ctx"), Id("d"), Id("opts").Op("..."))))
	return render(f)
}
