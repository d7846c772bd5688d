package gen

import (
	. "github.com/dave/jennifer/jen" //nolint:revive // jennifer reads as Go only when dot-imported
)

const (
	conformancePath = modulePath + "/conformance"
	benchPath       = modulePath + "/bench"
)

func testFile(m *providerModel) *File {
	f := NewFilePathName(m.importPath()+"_test", m.pkg()+"_test")
	f.ImportName(conformancePath, "conformance")
	f.ImportName(benchPath, "bench")
	f.ImportName(m.importPath(), m.pkg())
	return f
}

// conformanceTestFile renders zz_generated_conformance_test.go.
func conformanceTestFile(m *providerModel) ([]byte, error) {
	f := testFile(m)
	f.HeaderComment(generatedHeader("provider.yaml"))
	comment(f, "TestContract replays every contract fixture through package sandbox with this provider's manifest: "+
		"what is supported reaches the adapter unchanged, everything else is refused before it. It needs no vendor.")
	f.Func().Id("TestContract").Params(Id("t").Op("*").Qual("testing", "T")).Block(
		Qual(conformancePath, "Contract").Call(Id("t"), Qual(m.importPath(), "Driver").Call(), Qual("os", "DirFS").Call(Lit("testdata"))))
	comment(f, "TestConformance runs the conformance suite against the vendor or engine that is configured here. What could not be "+
		"run is unknown with its reason and is counted in the last line; SBX_REQUIRE=owed makes it fail.")
	f.Func().Id("TestConformance").Params(Id("t").Op("*").Qual("testing", "T")).Block(
		Qual(conformancePath, "Run").Call(Id("t"), Id("harness").Call(Id("t"))))
	return render(f)
}

// benchTestFile renders zz_generated_bench_test.go.
func benchTestFile(m *providerModel) ([]byte, error) {
	f := testFile(m)
	f.HeaderComment(generatedHeader("provider.yaml"))
	comment(f, "BenchmarkProvider measures what schema/metrics.json defines and the capabilities allow. It keeps every sample and counts failures.")
	f.Func().Id("BenchmarkProvider").Params(Id("b").Op("*").Qual("testing", "B")).Block(
		Qual(benchPath, "Run").Call(Id("b"), Id("harness").Call(Id("b"))))
	return render(f)
}

// adapterTestScaffold renders adapter_test.go, which is the contributor's.
func adapterTestScaffold(m *providerModel) ([]byte, error) {
	f := testFile(m)
	comment(f, "harness says how this provider is tested: how it is opened here, what every sandbox is created with, and, "+
		"where the vendor gives a way, how to count what exists without the adapter.")
	d := Dict{Id("Driver"): Qual(m.importPath(), "Driver").Call()}
	if m.image != "" {
		d[Id("Create")] = Index().Qual(sandboxPath, "CreateOption").Values(Qual(sandboxPath, "WithImage").Call(Lit(m.image)))
	}
	f.Func().Id("harness").Params(Id("tb").Qual("testing", "TB")).Qual(conformancePath, "Harness").Block(
		Id("tb").Dot("Helper").Call(),
		Return(Qual(conformancePath, "Harness").Values(d)))
	return render(f)
}
