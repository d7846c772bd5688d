package gen

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// fixture is one contract fixture: an operation, what a caller gives, what the
// vendor's side answers, and whether this provider's manifest lets the call
// through. The set is closed: every operation of the vocabulary has one.
type fixture struct {
	Operation  string         `json:"operation"`
	Capability string         `json:"capability,omitempty"`
	Request    map[string]any `json:"request"`
	Answer     map[string]any `json:"answer"`
	Want       string         `json:"want"`
}

// fixturesName is the file that holds a provider's contract fixtures. It is one
// file: a pull request is read by people, and a file an operation made more work
// for the disk than all that is generated otherwise.
const fixturesName = "testdata/contract.json"

// contractFixtures renders fixturesName for a provider, in the vocabulary's
// order. Values come from the examples in schema/contract.schema.json.
func contractFixtures(m *providerModel, v *vocabulary, contract *object) ([]byte, error) {
	defs := contract.object("$defs")
	var list []fixture
	for _, c := range append([]capability{v.core}, v.capabilities...) {
		for _, op := range c.methods {
			f, err := operationFixture(m, c, op, defs)
			if err != nil {
				return nil, err
			}
			list = append(list, f)
		}
	}
	return marshalReadable(list)
}

func operationFixture(m *providerModel, c capability, op method, defs *object) (fixture, error) {
	f := fixture{Operation: op.name, Request: map[string]any{}, Answer: map[string]any{}, Want: "delivered"}
	if c.id != "core" {
		f.Capability = c.id
		if claim, ok := m.claim(c.id); !ok || claim.support != "supported" {
			f.Want = "unsupported"
		}
	}
	for _, p := range op.callerParams() {
		v, err := exampleValue(p, defs)
		if err != nil {
			return f, fmt.Errorf("%s parameter %s: %w", op.name, p.name, err)
		}
		f.Request[p.name] = v
	}
	for _, r := range op.results {
		v, err := exampleValue(r, defs)
		if err != nil {
			return f, fmt.Errorf("%s result %s: %w", op.name, r.name, err)
		}
		f.Answer[r.name] = v
	}
	return f, nil
}

func exampleValue(p param, defs *object) (any, error) {
	switch p.typ.kind {
	case "array":
		e, err := exampleValue(param{name: p.name, typ: *p.typ.elem}, defs)
		return []any{e}, err
	case "ref":
		examples := defs.object(p.typ.name).array("examples")
		if len(examples) == 0 {
			return nil, fmt.Errorf("contract.schema.json: $defs/%s has no examples; contract fixtures are made from them", p.typ.name)
		}
		return plain(examples[0]), nil
	case "handle":
		switch p.typ.name {
		case "DestroyOutcome":
			return "accepted", nil
		case "ReadStream", "WriteStream":
			return base64.StdEncoding.EncodeToString([]byte("some\x00bytes\n")), nil
		}
		return nil, nil // a live handle has no value form
	}
	switch p.typ.name {
	case "ID":
		return "object-1", nil
	case "int", "duration":
		return 420, nil
	case "bool":
		return true, nil
	case "time":
		return "2026-01-02T03:04:05Z", nil
	case "bytes":
		return base64.StdEncoding.EncodeToString([]byte("some\x00bytes\n")), nil
	}
	return "/tmp/" + p.name, nil
}

// plain turns ordered JSON into what encoding/json marshals with sorted keys.
func plain(v any) any {
	switch v := v.(type) {
	case *object:
		out := map[string]any{}
		for k, e := range v.values {
			out[k] = plain(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = plain(e)
		}
		return out
	}
	return v
}

func marshalReadable(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return out.Bytes(), err
}
