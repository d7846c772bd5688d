package gen

import (
	"bytes"
	"fmt"

	. "github.com/dave/jennifer/jen" //nolint:revive // jennifer reads as Go only when dot-imported
)

// sandboxOperationsFile renders sandbox/zz_generated_operations.go: one method
// per operation of every capability, on *Sandbox when its first parameter is an
// ID and on *Provider otherwise. The methods are thin: what an operation owes is
// in the helper that its effect selects. An operation that makes a sandbox is
// not here, because its result has to become a handle.
func sandboxOperationsFile(v *vocabulary) ([]byte, error) {
	f := NewFilePathName(sandboxPath, "sandbox")
	f.HeaderComment(generatedHeader("schema/provider.schema.json"))
	for _, c := range v.capabilities {
		for _, m := range c.methods {
			if m.creates == "sandbox" {
				continue
			}
			o := operationMethod{c: c, m: m}
			if err := o.render(f); err != nil {
				return nil, fmt.Errorf("capability %s, method %s: %w", c.id, m.name, err)
			}
		}
	}
	var out bytes.Buffer
	err := f.Render(&out)
	return out.Bytes(), err
}

// operationMethod is one generated method.
type operationMethod struct {
	c capability
	m method
}

// onSandbox reports whether the operation is about one sandbox.
func (o operationMethod) onSandbox() bool {
	return len(o.m.params) > 0 && o.m.params[0].typ.kind == "scalar" && o.m.params[0].typ.name == "ID" &&
		o.m.params[0].name == "id"
}

func (o operationMethod) params() []param {
	if o.onSandbox() {
		return o.m.params[1:]
	}
	return o.m.params
}

// streams reports whether a result is a live handle, and which.
func (o operationMethod) stream() string {
	for _, r := range o.m.results {
		if r.typ.kind == "handle" && r.typ.name != "DestroyOutcome" {
			return r.typ.name
		}
	}
	return ""
}

// lifecycle: a change that answers with the sandbox's new state is about its
// life, and needs ownership.
func (o operationMethod) lifecycle() bool {
	return o.m.effect == "mutate" && len(o.m.results) == 1 && o.m.results[0].typ.kind == "ref" &&
		o.m.results[0].typ.name == "Instance"
}

func (o operationMethod) limit() string {
	for _, p := range o.m.params {
		if p.typ.kind == "handle" && p.typ.name == "WriteStream" {
			return "limitTransfer"
		}
	}
	switch o.m.effect {
	case "read":
		return "limitLookup"
	case "create":
		return "limitProvision"
	case "destroy":
		return "limitDestroy"
	}
	return "limitOperation"
}

func (o operationMethod) render(f *File) error {
	if len(o.m.results) > 1 {
		return fmt.Errorf("%d results; the helpers carry one beside the error", len(o.m.results))
	}
	doc := o.m.doc + " Where the provider does not have " + o.c.id + ", it is unsupported and calls nothing."
	if o.lifecycle() {
		doc += " Only the owner may do it."
	}
	comment(f, doc)
	receiver, typ := "p", "Provider"
	if o.onSandbox() {
		receiver, typ = "s", "Sandbox"
	}
	body, err := o.body()
	if err != nil {
		return err
	}
	f.Func().Params(Id(receiver).Op("*").Id(typ)).Id(o.m.name).Add(signature(o.m, o.params())).Block(
		Id("op").Op(":=").Add(o.operation()), body)
	return nil
}

// operation renders the literal that the helpers read.
func (o operationMethod) operation() *Statement {
	d := Dict{
		Id("name"):       Lit(o.m.name),
		Id("capability"): Qual(contractPath, "Capability"+goName(o.c.id)),
		Id("effect"):     Qual(contractPath, "Effect"+goName(o.m.effect)),
		Id("limit"):      Id(o.limit()),
	}
	var args []Code
	for _, p := range o.params() {
		if p.typ.kind == "ref" {
			args = append(args, Id(goParam(p.name)))
		}
	}
	if len(args) > 0 {
		d[Id("args")] = Index().Any().Values(args...)
	}
	return Id("operation").Values(d)
}

func (o operationMethod) body() (*Statement, error) {
	if o.m.effect == "destroy" {
		if o.m.destroys == "" || o.onSandbox() || len(o.m.params) != 1 {
			return nil, fmt.Errorf("a destroy names what it destroys and takes its ID only")
		}
		return Return(Id("p").Dot("destroyOwned").Call(Id("ctx"), Id("op"),
			Qual(contractPath, "ResourceKind"+goName(o.m.destroys)), Id(goParam(o.m.params[0].name)))), nil
	}
	if o.m.effect == "create" {
		return o.creation()
	}
	call := Func().Params(Id("ctx").Qual("context", "Context")).Add(resultTypes(o.m)).Block(Return(o.tableCall()))
	helper, subject := "call", Id("p")
	if o.onSandbox() {
		helper, subject = "sandboxCall", Id("s")
	}
	switch stream := o.stream(); {
	case stream != "" && o.onSandbox():
		return Return(Id("sandboxOpen").Call(Id("ctx"), subject, Id("op"), call, Id("wrap"+stream))), nil
	case stream != "":
		return Return(Id("open").Call(Id("ctx"), subject, Id("op"), call, Id("wrap"+stream))), nil
	case o.lifecycle() && o.onSandbox():
		return Return(Id("lifecycle").Call(Id("ctx"), subject, Id("op"), call)), nil
	case len(o.m.results) == 0:
		helper += "None"
	}
	return Return(Id(helper).Call(Id("ctx"), subject, Id("op"), call)), nil
}

// creation renders an operation that makes something which is not a sandbox. Its
// request carries the ownership tags, its result the ID.
func (o operationMethod) creation() (*Statement, error) {
	params := o.params()
	if !o.onSandbox() || o.m.creates == "" || len(params) != 1 || params[0].typ.kind != "ref" || len(o.m.results) != 1 {
		return nil, fmt.Errorf("a create takes a sandbox and one request, says what it creates, and returns it")
	}
	request, result := goParam(params[0].name), paramType(o.m.results[0].typ)
	return Return(Id("sandboxCreate").Call(Id("ctx"), Id("s"), Id("op"),
		Qual(contractPath, "ResourceKind"+goName(o.m.creates)), Id(request).Dot("Name"),
		Func().Params(Id("made").Add(result)).String().Block(Return(Id("made").Dot("ID"))),
		Func().Params(Id("ctx").Qual("context", "Context"), Id("tags").Qual(contractPath, "Tags")).Add(resultTypes(o.m)).Block(
			Id(request).Dot("Tags").Op("=").Id("tags"),
			Return(o.tableCall())))), nil
}

// tableCall renders the call of the adapter's operation.
func (o operationMethod) tableCall() *Statement {
	table := Id("p").Dot("table")
	if o.onSandbox() {
		table = Id("s").Dot("p").Dot("table")
	}
	return table.Dot(o.m.name).CallFunc(func(g *Group) {
		g.Id("ctx")
		if o.onSandbox() {
			g.Id("s").Dot("ID").Call()
		}
		for _, p := range o.params() {
			g.Id(goParam(p.name))
		}
	})
}
