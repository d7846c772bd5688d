package gen

import "fmt"

type vocabulary struct {
	core         capability
	capabilities []capability
}

type capability struct {
	id, title, doc string
	iface          string
	flag           []string
	verb, question string
	checks         []string
	methods        []method
}

type method struct {
	name, doc, effect, retry string
	params, results          []param
	creates, destroys        string
}

type param struct {
	name string
	typ  typeRef
}

// typeRef is a scalar or handle by name, a contract type by ref, or an array.
type typeRef struct {
	kind string // scalar handle ref array
	name string
	elem *typeRef
}

func loadVocabulary(provider []byte) (*vocabulary, error) {
	root, err := parseOrdered(provider)
	if err != nil {
		return nil, fmt.Errorf("provider.schema.json: %w", err)
	}
	v := &vocabulary{core: parseCapability("core", root.object("$defs").object("core"))}
	props := root.object("$defs").object("capabilities").object("properties")
	for _, id := range props.keys {
		v.capabilities = append(v.capabilities, parseCapability(id, props.object(id)))
	}
	return v, nil
}

func parseCapability(id string, o *object) capability {
	x := o.object("x-sbx")
	c := capability{id: id, title: o.string("title"), doc: o.string("description"), iface: x.string("interface"),
		flag: x.strings("flag"), verb: x.string("verb"), question: x.string("question"), checks: x.strings("checks")}
	for _, m := range x.array("methods") {
		mo := m.(*object)
		c.methods = append(c.methods, method{name: mo.string("name"), doc: mo.string("doc"), effect: mo.string("effect"), retry: mo.string("retry"),
			params: parseParams(mo.array("params")), results: parseParams(mo.array("results")), creates: mo.string("creates"), destroys: mo.string("destroys")})
	}
	return c
}

func parseParams(in []any) []param {
	var out []param
	for _, p := range in {
		o := p.(*object)
		out = append(out, param{name: o.string("name"), typ: parseTypeRef(o.get("type"))})
	}
	return out
}

func parseTypeRef(v any) typeRef {
	switch v := v.(type) {
	case string:
		switch v {
		case "Process", "PTY", "ReadStream", "WriteStream", "DestroyOutcome":
			return typeRef{kind: "handle", name: v}
		}
		return typeRef{kind: "scalar", name: v}
	case *object:
		if v.has("items") {
			e := parseTypeRef(v.get("items"))
			return typeRef{kind: "array", elem: &e}
		}
		const prefix = "contract.schema.json#/$defs/"
		return typeRef{kind: "ref", name: v.string("$ref")[len(prefix):]}
	}
	return typeRef{}
}
