package main

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/invopop/jsonschema"

	"github.com/agentworkforce/sbx/bench"
	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/internal/evidence"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/schema"
)

// artifact is a type that is written to a file.
type artifact struct {
	file, title, description string
	value                    any
}

func artifacts() []artifact {
	return []artifact{
		{schema.ReportFile, "sbx conformance report", "What a run of the conformance suite found.", &conformance.Report{}},
		{schema.BenchmarkFile, "sbx benchmark", "Every sample of a benchmark run.", &bench.Artifact{}},
		{schema.LedgerRecordFile, "sbx ledger record", "One line of a cleanup ledger.", &ledger.Record{}},
		{schema.StatementFile, "sbx evidence statement", "An in-toto statement about one run.", &evidence.Statement{}},
	}
}

// schemas returns every schema by its file.
func schemas() (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, a := range artifacts() {
		r := &jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, Mapper: words}
		s := r.Reflect(a.value)
		s.ID = jsonschema.ID("https://sbx.dev/schema/" + a.file)
		s.Title, s.Description = a.title, a.description
		if a.file == schema.StatementFile {
			constant(s, "_type", evidence.StatementType)
			constant(s, "predicateType", evidence.PredicateType)
		}
		plain, err := json.Marshal(s)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := json.Indent(&b, plain, "", "  "); err != nil {
			return nil, err
		}
		b.WriteByte('\n')
		out[a.file] = b.Bytes()
	}
	return out, nil
}

func constant(s *jsonschema.Schema, property, value string) {
	if p, ok := s.Properties.Get(property); ok {
		p.Const = value
	}
}

// words gives types that are a closed list of words their list, and digests
// their form.
func words(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[conformance.Verdict]():
		return oneOf(conformance.Passed, conformance.Failed, conformance.RefusedAsDeclared, conformance.Unknown)
	case reflect.TypeFor[conformance.Reason]():
		return oneOf(conformance.Reasons()...)
	case reflect.TypeFor[conformance.CountMethod]():
		return oneOf(conformance.CountIndependent, conformance.CountAdapterList, conformance.CountNone)
	case reflect.TypeFor[ledger.Event]():
		return oneOf(ledger.Events()...)
	case reflect.TypeFor[ledger.Kind]():
		return oneOf(ledger.Kinds()...)
	case reflect.TypeFor[ledger.Disposition]():
		return oneOf(ledger.Scoped, ledger.Kept)
	case reflect.TypeFor[evidence.Verdict]():
		return oneOf(evidence.Passed, evidence.Failed, evidence.Blocked)
	case reflect.TypeFor[evidence.Mode]():
		return oneOf(evidence.Live, evidence.Simulated)
	}
	return nil
}

func oneOf[T ~string](all ...T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, w := range all {
		s.Enum = append(s.Enum, string(w))
	}
	return s
}
