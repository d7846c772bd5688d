package schema

import (
	"fmt"
	"slices"
)

// Vocabulary is what providers can be asked to do: the core and the
// capabilities in document order.
type Vocabulary struct {
	Core         Capability
	Capabilities []Capability
}

// Capability is one entry of the vocabulary.
type Capability struct {
	// ID is the name in manifests, as in "files" or "exec.stream"; "core" for
	// the core.
	ID          string
	Title       string
	Description string
	// Interface is the Go interface an adapter implements; empty when the
	// capability is a flag or only reserved.
	Interface string
	// Flag lists the contract fields that carry a capability without methods,
	// as in "CreateRequest.labels".
	Flag []string
	// Verb is the command that uses it; empty when there is none.
	Verb     string
	Question string
	// Checks are the IDs of the checks a provider owes that supports it.
	Checks  []string
	Methods []Method
}

// Effect is what a method does to the vendor's side.
type Effect string

// The effects. Deadline, ownership and ledger follow from them.
const (
	EffectRead    Effect = "read"
	EffectMutate  Effect = "mutate"
	EffectCreate  Effect = "create"
	EffectDestroy Effect = "destroy"
)

// Retry says whether a method may be repeated when its outcome is unknown.
type Retry string

// The retry classes.
const (
	RetrySafe  Retry = "safe"
	RetryNever Retry = "never"
)

// Method is one method of a capability's interface. The leading context and
// the trailing error are not listed.
type Method struct {
	Name    string
	Doc     string
	Effect  Effect
	Retry   Retry
	Params  []Param
	Results []Param
	// Creates and Destroys name the kind of resource, as in "snapshot"; empty
	// when the method makes or removes none.
	Creates  string
	Destroys string
}

// Param is a named parameter or result.
type Param struct {
	Name string
	Type TypeRef
}

// TypeKind tells what a TypeRef stands for.
type TypeKind string

// The kinds of types.
const (
	KindRef    TypeKind = "ref"    // a definition of contract.schema.json
	KindArray  TypeKind = "array"  // a list of Elem
	KindScalar TypeKind = "scalar" // string, bool, int, duration, time, bytes or ID
	KindHandle TypeKind = "handle" // a handle of package port
)

// TypeRef is a resolved parameter or result type. Name is empty for arrays,
// Elem is nil for everything else.
type TypeRef struct {
	Kind TypeKind
	Name string
	Elem *TypeRef
}

// ScalarTypes returns the names of scalar parameter types.
func ScalarTypes() []string {
	return []string{"string", "bool", "int", "duration", "time", "bytes", "ID"}
}

// HandleTypes returns the names of the handles of package port that may be
// parameters or results. The set is closed: a new one is a design decision.
func HandleTypes() []string {
	return []string{"Process", "PTY", "ReadStream", "WriteStream", "DestroyOutcome"}
}

// contractRef is how a type in x-sbx points into the contract schema.
const contractRef = ContractFile + "#/$defs/"

// LoadVocabulary reads the vocabulary out of the two schemas. It fails at the
// first mistake with its position; Lint finds them all.
func LoadVocabulary(provider, contract []byte) (*Vocabulary, error) {
	contractTree, _, serr := parseTree(contract)
	if serr != nil {
		return nil, positioned(ContractFile, contract, serr.off, serr.msg)
	}
	root, _, serr := parseTree(provider)
	if serr != nil {
		return nil, positioned(ProviderFile, provider, serr.off, serr.msg)
	}
	r := &vocabularyReader{src: provider, contract: contractTree}
	core, err := r.capability("core", root.at("$defs", "core"))
	if err != nil {
		return nil, err
	}
	v := &Vocabulary{Core: core}
	properties := root.at("$defs", "capabilities", "properties")
	if properties == nil {
		return nil, positioned(ProviderFile, provider, 0, "no $defs/capabilities/properties")
	}
	for _, m := range properties.members {
		c, err := r.capability(m.key, m.val)
		if err != nil {
			return nil, err
		}
		v.Capabilities = append(v.Capabilities, c)
	}
	return v, nil
}

func positioned(file string, src []byte, off int, msg string) error {
	line, col := position(src, off)
	return fmt.Errorf("%s:%d:%d: %s", file, line, col, msg)
}

type vocabularyReader struct {
	src      []byte
	contract *node
}

func (r *vocabularyReader) fail(n *node, format string, args ...any) error {
	off := 0
	if n != nil {
		off = n.off
	}
	return positioned(ProviderFile, r.src, off, fmt.Sprintf(format, args...))
}

func (r *vocabularyReader) capability(id string, n *node) (Capability, error) {
	x := n.get("x-sbx")
	if x == nil {
		return Capability{}, r.fail(n, "capability %s has no x-sbx", id)
	}
	c := Capability{
		ID:          id,
		Title:       n.get("title").str(),
		Description: n.get("description").str(),
		Interface:   x.get("interface").str(),
		Flag:        x.get("flag").strs(),
		Verb:        x.get("verb").str(),
		Question:    x.get("question").str(),
		Checks:      x.get("checks").strs(),
	}
	methods := x.get("methods")
	if methods == nil {
		return c, nil
	}
	for _, item := range methods.items {
		m, err := r.method(item)
		if err != nil {
			return Capability{}, err
		}
		c.Methods = append(c.Methods, m)
	}
	return c, nil
}

func (r *vocabularyReader) method(n *node) (Method, error) {
	m := Method{
		Name:     n.get("name").str(),
		Doc:      n.get("doc").str(),
		Effect:   Effect(n.get("effect").str()),
		Retry:    Retry(n.get("retry").str()),
		Creates:  n.get("creates").str(),
		Destroys: n.get("destroys").str(),
	}
	if m.Name == "" {
		return m, r.fail(n, "a method has no name")
	}
	if !slices.Contains(effects(), string(m.Effect)) {
		return m, r.fail(n.get("effect"), "method %s has no effect of the list %v", m.Name, effects())
	}
	if !slices.Contains(retries(), string(m.Retry)) {
		return m, r.fail(n.get("retry"), "method %s has no retry of the list %v", m.Name, retries())
	}
	var err error
	if m.Params, err = r.params(n.get("params")); err != nil {
		return m, err
	}
	m.Results, err = r.params(n.get("results"))
	return m, err
}

func effects() []string {
	return []string{string(EffectRead), string(EffectMutate), string(EffectCreate), string(EffectDestroy)}
}

func retries() []string { return []string{string(RetrySafe), string(RetryNever)} }

func (r *vocabularyReader) params(n *node) ([]Param, error) {
	if n == nil {
		return nil, nil
	}
	var out []Param
	for _, item := range n.items {
		ref, msg := resolveType(item.get("type"), r.contract)
		if msg != "" {
			return nil, r.fail(item, "%s", msg)
		}
		out = append(out, Param{Name: item.get("name").str(), Type: ref})
	}
	return out, nil
}

// resolveType turns the type of a parameter into a TypeRef. msg says what is
// wrong with it and is empty when nothing is.
func resolveType(n *node, contract *node) (ref TypeRef, msg string) {
	switch {
	case n == nil:
		return TypeRef{}, "a parameter has no type"
	case n.kind == stringNode && slices.Contains(ScalarTypes(), n.text):
		return TypeRef{Kind: KindScalar, Name: n.text}, ""
	case n.kind == stringNode && slices.Contains(HandleTypes(), n.text):
		return TypeRef{Kind: KindHandle, Name: n.text}, ""
	case n.kind == stringNode:
		return TypeRef{}, fmt.Sprintf("%q is neither a scalar nor a handle", n.text)
	case n.kind != objectNode || len(n.members) != 1:
		return TypeRef{}, "a type is a name, {\"$ref\": ...} or {\"items\": type}"
	}
	switch only := n.members[0]; only.key {
	case "items":
		elem, msg := resolveType(only.val, contract)
		if msg != "" {
			return TypeRef{}, msg
		}
		return TypeRef{Kind: KindArray, Elem: &elem}, ""
	case "$ref":
		name, ok := contractName(only.val.str())
		if !ok || contract.at("$defs", name) == nil {
			return TypeRef{}, fmt.Sprintf("%q names no definition of %s", only.val.str(), ContractFile)
		}
		return TypeRef{Kind: KindRef, Name: name}, ""
	default:
		return TypeRef{}, fmt.Sprintf("a type has no key %q", only.key)
	}
}
