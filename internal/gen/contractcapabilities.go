package gen

import (
	"bytes"

	. "github.com/dave/jennifer/jen" //nolint:revive // jennifer reads as Go only when dot-imported
)

// paramType renders a parameter or result type as seen from package pkg.
// Contract types are qualified, so the same function serves every package.
func paramType(t typeRef) *Statement {
	switch t.kind {
	case "array":
		return Index().Add(paramType(*t.elem))
	case "handle":
		return Qual(portPath, t.name)
	case "ref":
		return Qual(contractPath, t.name)
	}
	switch t.name {
	case "ID", "string":
		return String()
	case "int":
		return Int()
	case "duration":
		return Qual("time", "Duration")
	case "time":
		return Qual("time", "Time")
	case "bytes":
		return Index().Byte()
	}
	return Id(t.name) // bool
}

// signature renders "(ctx context.Context, params...) (results..., error)".
func signature(m method, params []param) *Statement {
	return ParamsFunc(func(g *Group) {
		g.Id("ctx").Qual("context", "Context")
		for _, p := range params {
			g.Id(goParam(p.name)).Add(paramType(p.typ))
		}
	}).Add(resultTypes(m))
}

func resultTypes(m method) *Statement {
	if len(m.results) == 0 {
		return Error()
	}
	return ParamsFunc(func(g *Group) {
		for _, r := range m.results {
			g.Add(paramType(r.typ))
		}
		g.Error()
	})
}

// contractCapabilitiesFile renders generated/contract/capabilities.go: the
// capability IDs, what each means, and one interface per capability.
func contractCapabilitiesFile(v *vocabulary) ([]byte, error) {
	f := NewFilePathName(contractPath, "contract")
	f.HeaderComment(generatedHeader("schema/provider.schema.json"))
	f.Comment("Capability is an ID of the capability vocabulary.")
	f.Type().Id("Capability").String()
	f.Comment("The capability vocabulary, in schema order.")
	f.Const().DefsFunc(func(g *Group) {
		for _, c := range v.capabilities {
			for _, line := range wrap("Capability"+goName(c.id)+": "+c.doc, 90) {
				g.Comment(line)
			}
			g.Id("Capability" + goName(c.id)).Id("Capability").Op("=").Lit(c.id)
		}
	})
	comment(f, "Capabilities returns the whole vocabulary in schema order, reserved entries included.")
	f.Func().Id("Capabilities").Params().Index().Id("Capability").Block(
		Return(Index().Id("Capability").ValuesFunc(func(g *Group) {
			for _, c := range v.capabilities {
				g.Id("Capability" + goName(c.id))
			}
		})))
	comment(f, "Implementable reports whether a provider can support the capability: it has an interface, "+
		"or widens an operation by fields. The others are reserved words.")
	f.Func().Params(Id("c").Id("Capability")).Id("Implementable").Params().Bool().Block(
		Switch(Id("c")).Block(
			CaseFunc(func(g *Group) {
				for _, c := range v.capabilities {
					if c.iface != "" || len(c.flag) > 0 {
						g.Id("Capability" + goName(c.id))
					}
				}
			}).Block(Return(True())),
		),
		Return(False()))
	for _, c := range append([]capability{v.core}, v.capabilities...) {
		if c.iface == "" {
			continue
		}
		comment(f, c.iface+": "+c.doc)
		f.Type().Id(c.iface).InterfaceFunc(func(g *Group) {
			for _, m := range c.methods {
				for _, line := range wrap(m.doc, 90) {
					g.Comment(line)
				}
				g.Id(m.name).Add(signature(m, m.params))
			}
		})
	}
	var out bytes.Buffer
	err := f.Render(&out)
	return out.Bytes(), err
}

// contractTableFile renders generated/contract/table.go: the Table and Bind.
func contractTableFile(v *vocabulary) ([]byte, error) {
	f := NewFilePathName(contractPath, "contract")
	f.HeaderComment(generatedHeader("schema/provider.schema.json"))
	comment(f, "Table holds one function per operation of the contract; nil means the adapter does not have it. "+
		"Wrappers (faults, mutants, tracing, another process) copy a Table and replace functions: never the adapter.")
	all := append([]capability{v.core}, v.capabilities...)
	f.Type().Id("Table").StructFunc(func(g *Group) {
		for _, c := range all {
			for _, m := range c.methods {
				g.Id(m.name).Func().Add(signature(m, m.params))
			}
		}
	})
	comment(f, "Bind asserts once which interfaces an adapter implements and fills a Table with its methods.")
	f.Func().Id("Bind").Params(Id("adapter").Id("Adapter")).Id("Table").BlockFunc(func(g *Group) {
		g.Id("t").Op(":=").Id("Table").Values(DictFunc(func(d Dict) {
			for _, m := range v.core.methods {
				d[Id(m.name)] = Id("adapter").Dot(m.name)
			}
		}))
		for _, c := range v.capabilities {
			if c.iface == "" {
				continue
			}
			g.If(List(Id("a"), Id("ok")).Op(":=").Id("adapter").Assert(Id(c.iface)), Id("ok")).BlockFunc(func(g *Group) {
				for _, m := range c.methods {
					g.Id("t").Dot(m.name).Op("=").Id("a").Dot(m.name)
				}
			})
		}
		g.Return(Id("t"))
	})
	comment(f, "Has reports whether every operation of a capability is in the Table. A capability without operations is never in it.")
	f.Func().Params(Id("t").Id("Table")).Id("Has").Params(Id("c").Id("Capability")).Bool().Block(
		Switch(Id("c")).BlockFunc(func(g *Group) {
			for _, c := range v.capabilities {
				if c.iface == "" {
					continue
				}
				g.Case(Id("Capability" + goName(c.id))).Block(Return(conjunction(c.methods)))
			}
		}),
		Return(False()))
	operationsTable(f, all)
	var out bytes.Buffer
	err := f.Render(&out)
	return out.Bytes(), err
}

func conjunction(ms []method) *Statement {
	s := Null()
	for i, m := range ms {
		if i > 0 {
			s.Op("&&")
		}
		s.Id("t").Dot(m.name).Op("!=").Nil()
	}
	return s
}

// operationsTable renders the descriptors by which generic code (conformance,
// docs, mutants) walks the operations.
func operationsTable(f *File, all []capability) {
	f.Comment("Effect says what an operation does to the vendor's side.")
	f.Type().Id("Effect").String()
	f.Comment("The effects.")
	f.Const().Defs(
		Id("EffectRead").Id("Effect").Op("=").Lit("read"),
		Id("EffectMutate").Id("Effect").Op("=").Lit("mutate"),
		Id("EffectCreate").Id("Effect").Op("=").Lit("create"),
		Id("EffectDestroy").Id("Effect").Op("=").Lit("destroy"),
	)
	f.Comment("Operation describes one operation of the contract.")
	f.Type().Id("Operation").Struct(
		Id("Name").String().Comment("method name, also the Table's field"),
		Id("Capability").Id("Capability").Comment("empty for the core"),
		Id("Effect").Id("Effect"),
		Id("RetrySafe").Bool().Comment("whether a failed call may simply be made again"),
		Id("Creates").Id("ResourceKind").Comment("kind of resource it brings into being, if any"),
	)
	comment(f, "Operations returns every operation in schema order.")
	f.Func().Id("Operations").Params().Index().Id("Operation").Block(
		Return(Index().Id("Operation").ValuesFunc(func(g *Group) {
			for _, c := range all {
				for _, m := range c.methods {
					g.Line().Values(DictFunc(func(d Dict) {
						d[Id("Name")] = Lit(m.name)
						if c.id != "core" {
							d[Id("Capability")] = Id("Capability" + goName(c.id))
						}
						d[Id("Effect")] = Id("Effect" + goName(m.effect))
						if m.retry == "safe" {
							d[Id("RetrySafe")] = True()
						}
						if m.creates != "" {
							d[Id("Creates")] = Id("ResourceKind" + goName(m.creates))
						}
					}))
				}
			}
			g.Line()
		})))
}
