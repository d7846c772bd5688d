package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/agentworkforce/sbx/bench"
	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/schema"
)

// schemas are the compiled schemas of the artifacts.
type schemas struct {
	byName map[string]*jsonschema.Schema
}

func newSchemas() (*schemas, error) {
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	names := []string{schema.ReportFile, schema.BenchmarkFile, schema.LedgerRecordFile, schema.StatementFile}
	for _, name := range names {
		src, err := schema.Files().ReadFile(name)
		if err != nil {
			return nil, err
		}
		if err := c.AddResource(name, bytes.NewReader(src)); err != nil {
			return nil, fmt.Errorf("evidence: schema: %w", err)
		}
	}
	out := &schemas{byName: map[string]*jsonschema.Schema{}}
	for _, name := range names {
		compiled, err := c.Compile(name)
		if err != nil {
			return nil, fmt.Errorf("evidence: schema: %w", err)
		}
		out.byName[name] = compiled
	}
	return out, nil
}

// unreadable says why an artifact is not what its schema describes, and where.
type unreadable struct {
	pointer string
	reason  string
}

func (e *unreadable) Error() string {
	if e.pointer == "" {
		return e.reason
	}
	return e.pointer + ": " + e.reason
}

var errAfter = errors.New("text after the document")

// decode reads src into v: valid by its schema, each key once, nothing after it.
func (s *schemas) decode(name string, src []byte, v any) error {
	plain, err := uniqueKeys(src)
	if err != nil {
		return &unreadable{reason: err.Error()}
	}
	if err := s.byName[name].Validate(plain); err != nil {
		return describe(err)
	}
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return &unreadable{reason: err.Error()}
	}
	return nil
}

// describe finds the first innermost failure; its words are for people.
func describe(err error) error {
	var v *jsonschema.ValidationError
	if !errors.As(err, &v) {
		return &unreadable{reason: err.Error()}
	}
	for len(v.Causes) > 0 {
		v = v.Causes[0]
	}
	return &unreadable{pointer: v.InstanceLocation, reason: v.Message}
}

// uniqueKeys decodes a document and refuses a key that comes twice in one
// object: readers disagree about which of them counts.
func uniqueKeys(src []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.UseNumber()
	v, err := uniqueValue(dec, 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errAfter
	}
	return v, nil
}

// maxDepth bounds the nesting of an artifact.
const maxDepth = 32

func uniqueValue(dec *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errors.New("nested too deeply")
	}
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		out := map[string]any{}
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			name, _ := key.(string)
			if _, twice := out[name]; twice {
				return nil, fmt.Errorf("key %q comes twice", name)
			}
			if out[name], err = uniqueValue(dec, depth+1); err != nil {
				return nil, err
			}
		}
		_, err = dec.Token()
		return out, err
	case json.Delim('['):
		out := []any{}
		for dec.More() {
			v, err := uniqueValue(dec, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		_, err = dec.Token()
		return out, err
	}
	return t, nil
}

func (s *schemas) statement(src []byte) (*Statement, error) {
	var out Statement
	if err := s.decode(schema.StatementFile, src, &out); err != nil {
		return nil, err
	}
	if out.Type != StatementType || out.PredicateType != PredicateType {
		return nil, &unreadable{"/predicateType", fmt.Sprintf("is a %s about %s; this reader knows %s about %s",
			out.Type, out.PredicateType, StatementType, PredicateType)}
	}
	return &out, nil
}

func (s *schemas) report(src []byte) (*conformance.Report, error) {
	var out conformance.Report
	if err := s.decode(schema.ReportFile, src, &out); err != nil {
		return nil, err
	}
	return conformance.DecodeReport(src)
}

func (s *schemas) benchmark(src []byte) (*bench.Artifact, error) {
	var out bench.Artifact
	if err := s.decode(schema.BenchmarkFile, src, &out); err != nil {
		return nil, err
	}
	return bench.DecodeArtifact(src)
}

// records checks each line of a ledger against its schema; whether the lines
// follow from one another is package ledger's to say.
func (s *schemas) records(src []byte) (line int, err error) {
	n := 0
	for text := range strings.Lines(string(src)) {
		n++
		if !strings.HasSuffix(text, "\n") {
			return 0, nil // torn: package ledger says so
		}
		var r ledger.Record
		if err := s.decode(schema.LedgerRecordFile, []byte(text), &r); err != nil {
			return n, err
		}
	}
	return 0, nil
}
