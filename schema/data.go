package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// ErrorData is the content of errors.json.
type ErrorData struct {
	Codes []ErrorCode `json:"codes"`
	Exits []ExitCode  `json:"exits"`
}

// ErrorCode is one error code of the contract.
type ErrorCode struct {
	Code string `json:"code"`
	// Exit is the exit status of a command that ends with this code.
	Exit int `json:"exit"`
	// Effect says whether the operation had an effect: none, unknown or done.
	Effect string `json:"effect"`
	Doc    string `json:"doc"`
}

// ExitCode is one exit status of the commands.
type ExitCode struct {
	Exit int    `json:"exit"`
	Doc  string `json:"doc"`
}

// Check is one conformance check.
type Check struct {
	ID string `json:"id"`
	// Revision rises when the check proves something else than before; older
	// evidence for it is stale then.
	Revision int `json:"revision"`
	// Group is create, ready, execute, cleanup, teardown-must-fire,
	// teardown-must-not-fire, capability, egress, shape or honesty.
	Group string `json:"group"`
	// Capability owes the check; "core" is owed by everybody.
	Capability string `json:"capability"`
	// Level is L0 to L4, cheapest first.
	Level string `json:"level"`
	// Rule is the adapter rule R1 to R44 the check proves; empty when none.
	Rule string `json:"rule"`
	// Sentence is what holds when the check passes.
	Sentence string `json:"sentence"`
	// Implemented tells whether the suite has a function for it.
	Implemented bool `json:"implemented"`
}

// Metric is one benchmark metric.
type Metric struct {
	ID string `json:"id"`
	// Start and Stop name the events between which time is measured.
	Start string `json:"start"`
	Stop  string `json:"stop"`
	// Unit is the unit of a sample, ms for milliseconds.
	Unit string `json:"unit"`
	// Capability is needed to measure it; "core" needs none.
	Capability string `json:"capability"`
	Doc        string `json:"doc"`
}

// Rule is one rule of the validator.
type Rule struct {
	ID string `json:"id"`
	// Family is manifest, catalog, generated, adapter or secrets.
	Family string `json:"family"`
	// Severity is error or warning.
	Severity string `json:"severity"`
	Title    string `json:"title"`
	Why      string `json:"why"`
	Fix      string `json:"fix"`
	// Example is a text that breaks the rule; empty when there is none.
	Example string `json:"example,omitempty"`
}

// Hazard is a known way in which a vendor misleads its callers.
type Hazard struct {
	ID  string `json:"id"`
	Doc string `json:"doc"`
	// Check is the ID of the check that proves an adapter copes with it.
	Check string `json:"check"`
}

// Errors returns the error codes and exit statuses in document order.
func Errors() (*ErrorData, error) {
	var data struct {
		Comment string `json:"$comment"`
		ErrorData
	}
	if err := decodeFile(errorsFile, &data); err != nil {
		return nil, err
	}
	return &data.ErrorData, nil
}

// Checks returns the conformance checks in document order.
func Checks() ([]Check, error) {
	src, err := files.ReadFile(checksFile)
	if err != nil {
		return nil, err
	}
	return decodeChecks(src)
}

func decodeChecks(src []byte) ([]Check, error) {
	var data struct {
		Comment string  `json:"$comment"`
		Checks  []Check `json:"checks"`
	}
	if err := decodeStrict(checksFile, src, &data); err != nil {
		return nil, err
	}
	return data.Checks, nil
}

// Metrics returns the benchmark metrics in document order.
func Metrics() ([]Metric, error) {
	var data struct {
		Comment string   `json:"$comment"`
		Metrics []Metric `json:"metrics"`
	}
	err := decodeFile(metricsFile, &data)
	return data.Metrics, err
}

// Rules returns the validation rules in document order.
func Rules() ([]Rule, error) {
	var data struct {
		Comment string `json:"$comment"`
		Rules   []Rule `json:"rules"`
	}
	err := decodeFile(rulesFile, &data)
	return data.Rules, err
}

// Hazards returns the hazards in document order. Their IDs are the enum
// $defs/hazardId of the manifest schema.
func Hazards() ([]Hazard, error) {
	var data struct {
		Comment string   `json:"$comment"`
		Hazards []Hazard `json:"hazards"`
	}
	err := decodeFile(hazardsFile, &data)
	return data.Hazards, err
}

func decodeFile(name string, into any) error {
	src, err := files.ReadFile(name)
	if err != nil {
		return err
	}
	return decodeStrict(name, src, into)
}

// decodeStrict refuses unknown members and text after the document.
func decodeStrict(name string, src []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("schema: %s: %w", name, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return fmt.Errorf("schema: %s: text after the document", name)
	}
	return nil
}
