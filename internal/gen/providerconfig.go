package gen

import (
	. "github.com/dave/jennifer/jen" //nolint:revive // jennifer reads as Go only when dot-imported
)

// configFile renders zz_generated_config.go: the provider's settings as a Go
// struct and the function that reads them from resolved settings.
func configFile(m *providerModel) ([]byte, error) {
	f := providerFile(m)
	comment(f, "Config holds the settings of "+m.name+". Package sandbox resolves them (option, environment, default of provider.yaml); "+
		"the adapter reads no environment. Credentials print as [redacted] everywhere.")
	f.Type().Id("Config").StructFunc(func(g *Group) {
		for _, s := range m.settings {
			for _, line := range wrap(settingLabel(s)+" ("+s.env+").", 90) {
				g.Comment(line)
			}
			g.Id(goName(s.key)).Add(settingType(s))
		}
	})
	comment(f, "configFrom reads Config from resolved settings and names the setting and its source when a value does not parse.")
	f.Func().Id("configFrom").Params(Id("s").Qual(portPath, "Settings")).Params(Id("Config"), Error()).BlockFunc(func(g *Group) {
		g.Var().Id("c").Id("Config")
		if m.parsesSettings() {
			g.Var().Err().Error()
		}
		for _, s := range m.settings {
			readSetting(g, s)
		}
		if len(m.settings) == 0 {
			g.If(Len(Id("s")).Op(">").Lit(0)).Block(Return(Id("c"), Op("&").Qual(portPath, "Error").Values(Dict{
				Id("Code"): Qual(portPath, "CodeInvalidArgument"), Id("Op"): Lit("Open"), Id("Provider"): Lit(m.id),
				Id("Outcome"): Qual(portPath, "OutcomeUnchanged"), Id("Reason"): Lit("this provider has no settings")})))
		}
		g.Return(Id("c"), Nil())
	})
	return render(f)
}

func (m *providerModel) parsesSettings() bool {
	for _, s := range m.settings {
		if !s.secret && s.typ != "string" {
			return true
		}
	}
	return false
}

func settingType(s settingModel) *Statement {
	if s.secret {
		return Qual(portPath, "Secret")
	}
	switch s.typ {
	case "integer":
		return Int()
	case "boolean":
		return Bool()
	case "duration":
		return Qual("time", "Duration")
	}
	return String()
}

func readSetting(g *Group, s settingModel) {
	dst := func() *Statement { return Id("c").Dot(goName(s.key)) }
	call := func(method string, args ...Code) {
		g.If(List(dst(), Err()).Op("=").Id("s").Dot(method).Call(append([]Code{Lit(s.key)}, args...)...), Err().Op("!=").Nil()).
			Block(Return(Id("c"), Err()))
	}
	switch {
	case s.secret:
		g.Add(dst()).Op("=").Id("s").Dot("Secret").Call(Lit(s.key))
	case s.typ == "integer":
		call("Int", Lit(0))
	case s.typ == "boolean":
		call("Bool", False())
	case s.typ == "duration":
		call("Duration", Lit(0))
	case s.typ == "enum":
		args := []Code{Lit("")}
		for _, a := range s.allowed {
			args = append(args, Lit(a))
		}
		call("Enum", args...)
	default:
		g.Add(dst()).Op("=").Id("s").Dot("String").Call(Lit(s.key))
	}
}
