package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/agentworkforce/sbx/schema"
)

// fixturesName is where the contract fixtures of a provider are, below its testdata.
const fixturesName = "contract.json"

// fixture is one element of fixturesName.
type fixture struct {
	Operation  string                     `json:"operation"`
	Capability string                     `json:"capability"`
	Request    map[string]json.RawMessage `json:"request"`
	Answer     map[string]json.RawMessage `json:"answer"`
	Want       string                     `json:"want"`
}

const (
	fixtureDelivered   = "delivered"
	fixtureUnsupported = "unsupported"
)

// Contract replays every contract fixture through package sandbox with d's
// manifest and a recording Table in place of the adapter. A fixture that is
// "delivered" has to reach the Table exactly once with exactly its request, and
// its answer has to come back; an "unsupported" one is refused with a reason and
// reaches nothing. They are in contract.json of testdata, the generated one. The
// set is closed: an operation without a fixture fails, and so does a fixture of no
// operation. The adapter is not opened and no vendor is needed.
func Contract(t *testing.T, d sandbox.Driver, testdata fs.FS) {
	t.Helper()
	operations, err := describedOperations()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := fs.ReadFile(testdata, fixturesName)
	if err != nil {
		t.Fatal(err)
	}
	fixtures, problems := readFixtures(operations, raw)
	for _, problem := range problems {
		t.Errorf("%s: %v", fixturesName, problem)
	}
	for _, op := range operations {
		f, ok := fixtures[op.Name]
		if !ok {
			continue // one of problems
		}
		t.Run(op.Name, func(t *testing.T) {
			t.Helper()
			if err := replay(t.Context(), d, op, f, t.TempDir()); err != nil {
				t.Errorf("%s: %s: %v", fixturesName, op.Name, err)
			}
		})
	}
}

// described is an operation with the names of its parameters and results, which
// its Go type does not have.
type described struct {
	contract.Operation
	method    schema.Method
	fn        reflect.Type
	onSandbox bool
}

// params are the parameters that a caller gives.
func (o described) params() []schema.Param {
	if o.onSandbox {
		return o.method.Params[1:]
	}
	return o.method.Params
}

// paramType is the Go type of the i-th of params.
func (o described) paramType(i int) reflect.Type { return o.fn.In(i + o.fn.NumIn() - len(o.params())) }

func describedOperations() ([]described, error) {
	files := schema.Files()
	provider, err := files.ReadFile(schema.ProviderFile)
	if err != nil {
		return nil, err
	}
	types, err := files.ReadFile(schema.ContractFile)
	if err != nil {
		return nil, err
	}
	v, err := schema.LoadVocabulary(provider, types)
	if err != nil {
		return nil, err
	}
	methods := map[string]schema.Method{}
	for _, c := range append([]schema.Capability{v.Core}, v.Capabilities...) {
		for _, m := range c.Methods {
			methods[m.Name] = m
		}
	}
	var out []described
	for _, op := range contract.Operations() {
		m, ok := methods[op.Name]
		f, has := reflect.TypeFor[contract.Table]().FieldByName(op.Name)
		if !ok || !has {
			return nil, fmt.Errorf("conformance: operation %s is not in schema and Table alike", op.Name)
		}
		out = append(out, described{Operation: op, method: m, fn: f.Type,
			onSandbox: len(m.Params) > 0 && m.Params[0].Name == "id"})
	}
	return out, nil
}

// readFixtures decodes fixturesName and names what is missing, twice, of no
// operation or not in the form of a fixture.
func readFixtures(operations []described, raw []byte) (map[string]fixture, []error) {
	var list []json.RawMessage
	if err := strict(raw, &list); err != nil {
		return nil, []error{err}
	}
	var problems []error
	fixtures := map[string]fixture{}
	for i, element := range list {
		var f fixture
		if err := strict(element, &f); err != nil {
			problems = append(problems, fmt.Errorf("fixture %d: %w", i, err))
			continue
		}
		if _, twice := fixtures[f.Operation]; twice {
			problems = append(problems, fmt.Errorf("operation %s has two fixtures", f.Operation))
		}
		fixtures[f.Operation] = f
	}
	unknown := maps.Clone(fixtures)
	for _, op := range operations {
		if _, ok := fixtures[op.Name]; !ok {
			problems = append(problems, fmt.Errorf("operation %s has no fixture", op.Name))
		}
		delete(unknown, op.Name)
	}
	for _, name := range sortedKeys(unknown) {
		problems = append(problems, fmt.Errorf("a fixture is of %q, which is no operation", name))
	}
	return fixtures, problems
}

// strict refuses unknown members and text after the document.
func strict(raw []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("text after the document")
	}
	return nil
}

// exact decodes raw into typ and requires that encoding gives the same document
// again: nothing is lost, renamed or added.
func exact(raw json.RawMessage, typ reflect.Type) (reflect.Value, error) {
	v := reflect.New(typ)
	if err := strict(raw, v.Interface()); err != nil {
		return reflect.Value{}, err
	}
	again, err := json.Marshal(v.Interface())
	if err != nil {
		return reflect.Value{}, err
	}
	var want, got any
	if err := json.Unmarshal(raw, &want); err != nil {
		return reflect.Value{}, err
	}
	if err := json.Unmarshal(again, &got); err != nil {
		return reflect.Value{}, err
	}
	if !reflect.DeepEqual(want, got) {
		return reflect.Value{}, fmt.Errorf("decoded and encoded again it is %s", again)
	}
	return v.Elem(), nil
}

// values decodes the members of a fixture's request or answer, in the order of
// names; missing and additional members are errors.
func values(raw map[string]json.RawMessage, names []schema.Param, typ func(int) reflect.Type) ([]value, error) {
	var out []value
	for i, p := range names {
		member, ok := raw[p.Name]
		if !ok {
			return nil, fmt.Errorf("%q is missing", p.Name)
		}
		v, err := newValue(member, p, typ(i))
		if err != nil {
			return nil, fmt.Errorf("%q: %w", p.Name, err)
		}
		out = append(out, v)
	}
	if len(raw) != len(names) {
		return nil, fmt.Errorf("it has %d members, the operation has %d", len(raw), len(names))
	}
	return out, nil
}

// value is one argument or result of a fixture.
type value struct {
	content []byte        // of a stream
	plain   reflect.Value // of everything else that has a value form
	live    bool          // a handle without a value form
}

func newValue(raw json.RawMessage, p schema.Param, typ reflect.Type) (value, error) {
	switch typ {
	case reflect.TypeFor[port.ReadStream](), reflect.TypeFor[port.WriteStream]():
		var b []byte
		err := strict(raw, &b)
		return value{content: b}, err
	case reflect.TypeFor[port.Process](), reflect.TypeFor[port.PTY]():
		if strings.TrimSpace(string(raw)) != "null" {
			return value{}, errors.New("a live handle has no value form; want null")
		}
		return value{live: true}, nil
	}
	v, err := exact(raw, typ)
	return value{plain: v}, err
}
