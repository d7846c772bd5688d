package gen

import "github.com/agentworkforce/sbx/schema"

// vocabulary is the capability vocabulary in the shape the generators use.
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

// loadVocabulary reads the vocabulary out of the two schema files.
func loadVocabulary(provider, contract []byte) (*vocabulary, error) {
	s, err := schema.LoadVocabulary(provider, contract)
	if err != nil {
		return nil, err
	}
	v := &vocabulary{core: newCapability(s.Core)}
	for _, c := range s.Capabilities {
		v.capabilities = append(v.capabilities, newCapability(c))
	}
	return v, nil
}

func newCapability(c schema.Capability) capability {
	out := capability{id: c.ID, title: c.Title, doc: c.Description, iface: c.Interface, flag: c.Flag,
		verb: c.Verb, question: c.Question, checks: c.Checks}
	for _, m := range c.Methods {
		out.methods = append(out.methods, method{name: m.Name, doc: m.Doc, effect: string(m.Effect), retry: string(m.Retry),
			params: newParams(m.Params), results: newParams(m.Results), creates: m.Creates, destroys: m.Destroys})
	}
	return out
}

func newParams(in []schema.Param) []param {
	var out []param
	for _, p := range in {
		out = append(out, param{name: p.Name, typ: newTypeRef(p.Type)})
	}
	return out
}

func newTypeRef(t schema.TypeRef) typeRef {
	out := typeRef{kind: string(t.Kind), name: t.Name}
	if t.Elem != nil {
		e := newTypeRef(*t.Elem)
		out.elem = &e
	}
	return out
}
