package gen

import (
	. "github.com/dave/jennifer/jen" //nolint:revive // jennifer reads as Go only when dot-imported
)

// factType renders Fact.
func factType(f *File) {
	comment(f, "Fact is a value with where it comes from, or the reason why it is not known. Exactly one of Value and Unknown is set; "+
		"a fact that is not known is never read as zero.")
	f.Type().Id("Fact").Types(Id("T").Any()).Struct(
		Comment("Value is nil when the fact is not known."),
		Id("Value").Op("*").Id("T").Tag(map[string]string{"json": "value,omitzero", "yaml": "value,omitempty"}),
		Comment("Unknown says why it is not known; empty when it is."),
		Id("Unknown").String().Tag(map[string]string{"json": "unknown,omitzero", "yaml": "unknown,omitempty"}),
		Comment("From is the ID of the provenance entry it rests on; empty when none is given."),
		Id("From").String().Tag(map[string]string{"json": "from,omitzero", "yaml": "from,omitempty"}),
		Comment("Class says how it is known; empty when it is not said."),
		Id("Class").Id("EvidenceClass").Tag(map[string]string{"json": "class,omitzero", "yaml": "class,omitempty"}),
	)
	comment(f, "Known returns the value, and whether it is known.")
	f.Func().Params(Id("f").Id("Fact").Types(Id("T"))).Id("Known").Params().Params(Id("value").Id("T"), Id("ok").Bool()).Block(
		If(Id("f").Dot("Value").Op("==").Nil()).Block(Return(Id("value"), False())),
		Return(Op("*").Id("f").Dot("Value"), True()))
}

// decodeFunc renders a function that decodes a document of one root type.
func decodeFunc(f *File, name, typ, what string) {
	comment(f, name+" turns "+what+" that has passed its schema into "+typ+". The document is made of map[string]any, []any and scalars, "+
		"as YAML and JSON readers give it. A key that "+typ+" does not have is an error.")
	f.Func().Id(name).Params(Id("document").Any()).Params(Op("*").Id(typ), Error()).Block(
		Var().Id("out").Id(typ),
		If(Err().Op(":=").Id("strict").Call(Id("document"), Op("&").Id("out")), Err().Op("!=").Nil()).Block(Return(Nil(), Err())),
		Return(Op("&").Id("out"), Nil()))
}

// strictFunc renders the helper both decoders use.
func strictFunc(f *File) {
	comment(f, "strict decodes a document by way of its text and refuses unknown keys.")
	f.Func().Id("strict").Params(Id("document"), Id("into").Any()).Error().Block(
		List(Id("text"), Err()).Op(":=").Qual("encoding/json", "Marshal").Call(Id("document")),
		If(Err().Op("!=").Nil()).Block(Return(Err())),
		Id("d").Op(":=").Qual("encoding/json", "NewDecoder").Call(Qual("bytes", "NewReader").Call(Id("text"))),
		Id("d").Dot("DisallowUnknownFields").Call(),
		Return(Id("d").Dot("Decode").Call(Id("into"))))
}
