package gen

import (
	"time"

	. "github.com/dave/jennifer/jen" //nolint:revive // jennifer reads as Go only when dot-imported
)

func cqual(name string) *Statement { return Qual(contractPath, name) }

// word renders an enum constant of the contract.
func word(typ, value string) *Statement { return cqual(typ + goName(value)) }

// driverFile renders zz_generated_driver.go: the Driver, what the library must
// know of the manifest, and the assertions that make an over-claim not compile.
func driverFile(m *providerModel, core capability) ([]byte, error) {
	f := providerFile(m)
	comment(f, "Driver is how package sandbox opens "+m.name+".")
	f.Func().Id("Driver").Params().Qual(sandboxPath, "Driver").Block(
		Return(Qual(sandboxPath, "Driver").Values(Dict{
			Id("ID"): Lit(m.id), Id("Manifest"): Id("manifest").Call(), Id("Open"): Id("open")})))
	f.Func().Id("open").Params(Id("ctx").Qual("context", "Context"), Id("s").Qual(portPath, "Settings")).Params(cqual("Adapter"), Error()).Block(
		List(Id("cfg"), Err()).Op(":=").Id("configFrom").Call(Id("s")),
		returnOnError(),
		Return(Id("New").Call(Id("ctx"), Id("cfg"))),
	)
	f.Comment("A capability that provider.yaml supports and Adapter does not implement does not compile.")
	f.Var().DefsFunc(func(g *Group) {
		g.Id("_").Add(cqual(core.iface)).Op("=").Parens(Op("*").Id("Adapter")).Parens(Nil())
		for _, c := range m.supported() {
			if c.capability.iface != "" {
				g.Id("_").Add(cqual(c.capability.iface)).Op("=").Parens(Op("*").Id("Adapter")).Parens(Nil())
			}
		}
	})
	f.Func().Id("manifest").Params().Add(cqual("Manifest")).Block(Return(manifestLiteral(m)))
	f.Add(pointerFunc(m))
	return render(f)
}

// pointerFunc renders ptr when the manifest literal needs it.
func pointerFunc(m *providerModel) *Statement {
	if !m.needsPointer() {
		return Null()
	}
	return Func().Id("ptr").Types(Id("T").Any()).Params(Id("v").Id("T")).Op("*").Id("T").Block(Return(Op("&").Id("v")))
}

func (m *providerModel) needsPointer() bool {
	return m.deleteSynchronous != nil || m.execTimeoutCap != "" || m.execTimeoutDefault != "" || m.labels.max != nil ||
		m.labels.maxKeyLength != nil || m.labels.maxValueLength != nil
}

func manifestLiteral(m *providerModel) *Statement {
	d := Dict{
		Id("ID"): Lit(m.id), Id("Name"): Lit(m.name), Id("Kind"): word("AdapterKind", m.kind),
		Id("Claims"): claimsLiteral(m), Id("Labels"): labelsLiteral(m.labels),
		Id("Egress"): word("EgressControl", m.egress), Id("BrokersSecrets"): Lit(m.brokersSecrets),
		Id("Isolation"): word("Isolation", m.isolation), Id("GoneProof"): word("GoneProof", m.goneProof),
		Id("Leaves"): Id("leaves").Call(),
	}
	if m.base != "" {
		d[Id("Base")] = Lit(m.base)
	}
	if len(m.settings) > 0 {
		d[Id("Settings")] = Index().Add(cqual("SettingRule")).ValuesFunc(func(g *Group) {
			for _, s := range m.settings {
				g.Line().Add(settingLiteral(s))
			}
			g.Line()
		})
	}
	if len(m.credentialSets) > 0 {
		d[Id("CredentialSets")] = Index().Index().String().ValuesFunc(func(g *Group) {
			for _, set := range m.credentialSets {
				g.Add(stringsLiteral(set))
			}
		})
	}
	if len(m.endpoints) > 0 {
		d[Id("Endpoints")] = Index().Add(cqual("Endpoint")).ValuesFunc(func(g *Group) {
			for _, e := range m.endpoints {
				g.Line().Values(Dict{Id("Name"): Lit(e.name), Id("URL"): Lit(e.url), Id("Env"): Lit(e.env)})
			}
			g.Line()
		})
	}
	if m.deleteSynchronous != nil {
		d[Id("DeleteSynchronous")] = Id("ptr").Call(Lit(*m.deleteSynchronous))
	}
	if m.execStreams != "" {
		d[Id("ExecStreams")] = word("Streams", m.execStreams)
	}
	for name, text := range map[string]string{"ExecTimeoutCap": m.execTimeoutCap, "ExecTimeoutDefault": m.execTimeoutDefault} {
		if life, err := time.ParseDuration(text); err == nil {
			d[Id(name)] = Id("ptr").Call(Qual("time", "Duration").Call(Lit(int(life/time.Second))).Op("*").Qual("time", "Second"))
		}
	}
	clientFacts(m, d)
	if m.image != "" {
		d[Id("Image")] = Lit(m.image)
	}
	if m.forkKeeps != "" {
		d[Id("ForkKeeps")] = word("Keeps", m.forkKeeps)
	}
	return cqual("Manifest").Values(d)
}

// clientFacts adds what the conformance checks hold against the sandbox.
func clientFacts(m *providerModel, d Dict) {
	if len(m.envReserved) > 0 {
		d[Id("EnvReserved")] = Index().String().Add(stringsLiteral(m.envReserved))
	}
	if m.egressDefault != "" {
		d[Id("EgressDefault")] = word("EgressMode", m.egressDefault)
	}
	if m.portAudience != "" {
		d[Id("PortAudience")] = word("PortAudience", m.portAudience)
	}
	if len(m.clients) > 0 {
		d[Id("Clients")] = Index().Add(cqual("PinnedClient")).ValuesFunc(func(g *Group) {
			for _, c := range m.clients {
				g.Line().Values(Dict{Id("Module"): Lit(c.module), Id("Version"): Lit(c.version), Id("Sha256"): Lit(c.sha256)})
			}
			g.Line()
		})
	}
}

func stringsLiteral(in []string) *Statement {
	return ValuesFunc(func(g *Group) {
		for _, s := range in {
			g.Lit(s)
		}
	})
}

func settingLiteral(s settingModel) *Statement {
	d := Dict{Id("Key"): Lit(s.key), Id("Env"): Lit(s.env), Id("Secret"): Lit(s.secret), Id("Type"): word("SettingType", s.typ)}
	if s.label != "" {
		d[Id("Label")] = Lit(s.label)
	}
	if s.def != "" {
		d[Id("Default")] = Lit(s.def)
	}
	if len(s.aliases) > 0 {
		d[Id("Aliases")] = Index().String().Add(stringsLiteral(s.aliases))
	}
	if len(s.allowed) > 0 {
		d[Id("Allowed")] = Index().String().Add(stringsLiteral(s.allowed))
	}
	return Values(d)
}

func labelsLiteral(l labelModel) *Statement {
	d := Dict{Id("Encoding"): word("LabelEncoding", l.encoding), Id("Filter"): word("LabelFilter", l.filter)}
	for name, v := range map[string]*int64{"Max": l.max, "MaxKeyLength": l.maxKeyLength, "MaxValueLength": l.maxValueLength} {
		if v != nil {
			d[Id(name)] = Id("ptr").Call(Int64().Call(Lit(int(*v))))
		}
	}
	return cqual("LabelRules").Values(d)
}

func claimsLiteral(m *providerModel) *Statement {
	return Map(String()).Add(cqual("Claim")).Values(DictFunc(func(d Dict) {
		for _, c := range m.claims {
			v := Dict{Id("Support"): word("Support", c.support)}
			if c.reason != "" {
				v[Id("Reason")] = Lit(c.reason)
			}
			if c.via != "" {
				v[Id("Via")] = word("Via", c.via)
			}
			d[Lit(c.capability.id)] = Values(v)
		}
	}))
}

// ledgerFile renders zz_generated_ledger.go: which kinds of things this
// provider can leave behind, and the operations that find, read and remove
// each. The ledger writes an intent of that kind before the operation that
// creates one, and the reaper uses the same list.
func ledgerFile(m *providerModel, core capability) ([]byte, error) {
	f := providerFile(m)
	comment(f, "leaves lists what "+m.name+" can leave behind, for the cleanup ledger and its reaper.")
	f.Func().Id("leaves").Params().Index().Add(cqual("Leaves")).Block(
		Return(Index().Add(cqual("Leaves")).ValuesFunc(func(g *Group) {
			find := ""
			if c, ok := m.claim("list"); ok && c.support == "supported" {
				find = "List"
			}
			g.Line().Values(Dict{Id("Kind"): word("ResourceKind", "sandbox"), Id("Find"): Lit(find),
				Id("Inspect"): Lit("Inspect"), Id("Destroy"): Lit("Destroy")})
			if c, ok := m.claim("snapshot"); ok && c.support == "supported" {
				for _, kind := range m.snapshotKinds() {
					g.Line().Values(Dict{Id("Kind"): word("ResourceKind", kind), Id("Find"): Lit("ListSnapshots"),
						Id("Inspect"): Lit("InspectSnapshot"), Id("Destroy"): Lit("DeleteSnapshot")})
				}
			}
			g.Line()
		})))
	return render(f)
}

// snapshotKinds are the kinds that the snapshot operations manage: snapshots,
// and the intermediate images of a composed fork.
func (m *providerModel) snapshotKinds() []string {
	if c, ok := m.claim("fork"); ok && c.support == "supported" && c.via == "composed" {
		return []string{"snapshot", "image"}
	}
	return []string{"snapshot"}
}
