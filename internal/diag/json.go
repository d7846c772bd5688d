package diag

import (
	"bytes"
	"encoding/json"
	"io"
)

// JSONVersion is the version of the shape JSON writes. It changes when a field
// is removed or changes its meaning, never when one is added.
const JSONVersion = 1

// The JSON shape, in this order; a field whose value is not known is absent:
//
//	{
//	  "version": 1,
//	  "counts": {"errors": 1, "warnings": 0, "notes": 0, "files": 1},
//	  "diagnostics": [
//	    {
//	      "file": "catalog/acme.yaml",
//	      "line": 14, "col": 5, "endLine": 14, "endCol": 12,
//	      "rule": "SBX203",
//	      "severity": "error",
//	      "message": "...",
//	      "help": "...", "suggestion": "...", "next": "...",
//	      "related": [{"file": "...", "line": 3, "col": 1, "message": "..."}]
//	    }
//	  ]
//	}
type jsonReport struct {
	Version     int              `json:"version"`
	Counts      Counts           `json:"counts"`
	Diagnostics []jsonDiagnostic `json:"diagnostics"`
}

type jsonSpan struct {
	Line    int `json:"line,omitempty"`
	Col     int `json:"col,omitempty"`
	EndLine int `json:"endLine,omitempty"`
	EndCol  int `json:"endCol,omitempty"`
}

type jsonDiagnostic struct {
	File string `json:"file,omitempty"`
	jsonSpan
	Rule       string        `json:"rule,omitempty"`
	Severity   string        `json:"severity"`
	Message    string        `json:"message"`
	Help       string        `json:"help,omitempty"`
	Suggestion string        `json:"suggestion,omitempty"`
	Next       string        `json:"next,omitempty"`
	Related    []jsonRelated `json:"related,omitempty"`
}

type jsonRelated struct {
	File string `json:"file,omitempty"`
	jsonSpan
	Message string `json:"message"`
}

// JSON prints a set as one object: version, counts, and the diagnostics as an
// array that is empty, never null, for an empty set. The error is w's.
func JSON(w io.Writer, s *Set) error {
	all := s.All()
	r := jsonReport{Version: JSONVersion, Counts: count(all), Diagnostics: make([]jsonDiagnostic, len(all))}
	for i, d := range all {
		j := jsonDiagnostic{
			File: d.File, jsonSpan: jsonSpan(d.Span()), Rule: d.Rule, Severity: d.Severity.String(),
			Message: d.Message, Help: d.Help, Suggestion: d.Suggestion, Next: d.Next,
		}
		for _, rel := range d.Related {
			j.Related = append(j.Related, jsonRelated{File: relatedFile(d, rel), jsonSpan: jsonSpan(rel.Span), Message: rel.Message})
		}
		r.Diagnostics[i] = j
	}
	return writeJSON(w, r)
}

func relatedFile(d Diagnostic, r Related) string {
	if r.File == "" {
		return d.File
	}
	return r.File
}

// writeJSON writes v indented by two spaces, with <, > and & as they are.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}
