package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/ledger"
)

// SuiteRevision rises when the engine judges differently than before. The
// meaning of a single check is in its own revision.
const SuiteRevision = 1

// Verdict is how a check ended.
type Verdict string

// The verdicts.
const (
	// Passed: the check's sentence held.
	Passed Verdict = "passed"
	// Failed: it did not, or the check's own teardown failed.
	Failed Verdict = "failed"
	// RefusedAsDeclared: the manifest says that the provider does not have it,
	// the call was refused as unsupported, and nothing reached the adapter.
	RefusedAsDeclared Verdict = "refused-as-declared"
	// Unknown: nobody can say; Reason says why.
	Unknown Verdict = "unknown"
)

// Reason is why a check is unknown.
type Reason string

// The reasons.
const (
	AuthUnavailable   Reason = "auth-unavailable"    // no credentials, or the vendor cannot be reached with them
	NoInstanceCreated Reason = "no-instance-created" // the sandbox that the check needs could not be made
	NotAttempted      Reason = "not-attempted"       // not run: not selected, not written yet, or not possible here
	NotImplemented    Reason = "not-implemented"     // the adapter method is still the scaffolded one
	BlockedBy         Reason = "blocked-by"          // a check that this one depends on did not pass
	TimedOut          Reason = "timeout"             // the check's deadline passed before it could judge
	SimOnly           Reason = "sim-only"            // needs a vendor simulator, or ran against one
)

// Reasons lists every reason.
func Reasons() []Reason {
	return []Reason{AuthUnavailable, NoInstanceCreated, NotAttempted, NotImplemented, BlockedBy, TimedOut, SimOnly}
}

// Result is how one check ended.
type Result struct {
	// ID and Revision name the check and what it proved then.
	ID       string `json:"id"`
	Revision int    `json:"revision"`
	// Group, Capability, Level and Rule are copied from the list of checks.
	Group      string `json:"group"`
	Capability string `json:"capability"`
	Level      string `json:"level"`
	Rule       string `json:"rule,omitempty"`
	// Owed tells whether this provider needs the check to count as verified.
	Owed    bool    `json:"owed"`
	Verdict Verdict `json:"verdict"`
	// Reason is set exactly when the verdict is unknown.
	Reason Reason `json:"reason,omitempty"`
	// BlockedBy is the ID of the check that did not pass, with that reason.
	BlockedBy string `json:"blockedBy,omitempty"`
	// StartedAt is absent for a check that was not executed.
	StartedAt time.Time `json:"startedAt,omitzero"`
	// Duration of the check with its teardown, in nanoseconds.
	Duration time.Duration `json:"duration"`
	// Message says what was seen, redacted; empty for a check that passed.
	Message string `json:"message,omitempty"`
	// Method and Location name the adapter's method that the check is about, and
	// where it is written as package-relative file:line.
	Method   string `json:"method,omitempty"`
	Location string `json:"location,omitempty"`
	// Repro is a command that runs this check alone.
	Repro string `json:"repro,omitempty"`
}

// Counts counts results by verdict, and the unknown ones by reason.
type Counts struct {
	Passed            int            `json:"passed"`
	Failed            int            `json:"failed"`
	RefusedAsDeclared int            `json:"refusedAsDeclared"`
	Unknown           int            `json:"unknown"`
	Reasons           map[Reason]int `json:"reasons,omitempty"`
	// Executed is how many check functions ran.
	Executed int `json:"executed"`
	// OwedUnknown is how many owed checks are unknown.
	OwedUnknown int `json:"owedUnknown"`
}

// Report is the record of one run. Its JSON form is stable: fields are added,
// never changed; DecodeReport refuses what it does not know.
type Report struct {
	// Format is "sbx.conformance/1".
	Format string `json:"format"`
	// Suite is SuiteRevision.
	Suite    int    `json:"suite"`
	Provider string `json:"provider"`
	// Run is a random identity of this run.
	Run         string      `json:"run"`
	StartedAt   time.Time   `json:"startedAt"`
	FinishedAt  time.Time   `json:"finishedAt"`
	Mode        Mode        `json:"mode"`
	Environment Environment `json:"environment"`
	// Selected is the regular expression that chose the checks; empty chose all.
	Selected string `json:"selected,omitempty"`
	// Checks has every check of the list, in its order.
	Checks []Result     `json:"checks"`
	Counts Counts       `json:"counts"`
	Vendor VendorCounts `json:"vendor"`
	// Ledgers are the runs that were recorded, by name.
	Ledgers []LedgerSummary `json:"ledgers,omitempty"`
	// Controls names what was looked for beyond the checks and not found, with a
	// search that finds it when it is planted.
	Controls []string `json:"controls,omitempty"`
	// Problems are failures of the run itself: preflight, teardown of what
	// several checks shared, ledgers that cannot be read.
	Problems []string `json:"problems,omitempty"`
}

// Mode is what decides whether a run was against the real vendor. It holds
// facts; the judgement is made by whoever reads them.
type Mode struct {
	// Settings says where each setting's value came from, never the value.
	Settings []SettingSource `json:"settings,omitempty"`
	// Endpoints are the addresses of the manifest and whether one was overridden.
	Endpoints []EndpointMode `json:"endpoints,omitempty"`
	// Scope is a hash of the account or engine that was used; empty when unknown.
	Scope string `json:"scope,omitempty"`
	// Probing tells whether capabilities of unknown support were called.
	Probing bool `json:"probing"`
}

// SettingSource is one setting and its source: "option", "default" or the name
// of a variable.
type SettingSource struct {
	Key    string `json:"key"`
	Source string `json:"source"`
}

// EndpointMode is one endpoint of the manifest.
type EndpointMode struct {
	Name string `json:"name"`
	// URL is the manifest's.
	URL string `json:"url"`
	// Overridden: another address than the manifest's was used.
	Overridden bool `json:"overridden"`
}

// Environment is where the run happened, without host names and paths.
type Environment struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPUs int    `json:"cpus"`
	Go   string `json:"go"`
	// Modules are the versions of the main module and of the suite's.
	Modules map[string]string `json:"modules,omitempty"`
	// Parallel is how many checks could run at once.
	Parallel int `json:"parallel"`
}

// CountMethod is how the vendor's side was counted.
type CountMethod string

// The count methods.
const (
	CountIndependent CountMethod = "independent"  // without the adapter
	CountAdapterList CountMethod = "adapter-list" // through the adapter under test
	CountNone        CountMethod = "none"         // there is no way
)

// VendorCounts are resources at the vendor by kind before and after the run.
// A side that could not be counted is absent.
type VendorCounts struct {
	Method  CountMethod    `json:"method"`
	Before  map[string]int `json:"before,omitempty"`
	After   map[string]int `json:"after,omitempty"`
	Problem string         `json:"problem,omitempty"`
}

// LedgerSummary is what one run's ledger says.
type LedgerSummary struct {
	// File is the name of the ledger file, without its directory.
	File         string `json:"file"`
	Run          string `json:"run"`
	Intact       bool   `json:"intact"`   // chain and sequence hold
	Balanced     bool   `json:"balanced"` // nothing is owed any more
	Created      int    `json:"created"`
	Destroyed    int    `json:"destroyed"`
	VerifiedGone int    `json:"verifiedGone"`
	Leaked       int    `json:"leaked"`
	Unresolved   int    `json:"unresolved"`
}

func summarize(file string, rep *ledger.Report, state *ledger.State) LedgerSummary {
	c := state.Counts()
	return LedgerSummary{File: file, Run: state.Run, Intact: rep.OK(), Balanced: state.Balanced(), Created: c.Created,
		Destroyed: c.Destroyed, VerifiedGone: c.VerifiedGone, Leaked: c.Leaked, Unresolved: c.Unresolved}
}

// OK reports whether the run as a whole stands: something was executed, nothing
// failed, and the run itself had no problem. Unknown checks do not make it fail.
func (r *Report) OK() bool {
	return r.Counts.Executed > 0 && r.Counts.Failed == 0 && len(r.Problems) == 0
}

// Result returns the result of a check.
func (r *Report) Result(id string) (Result, bool) {
	for _, c := range r.Checks {
		if c.ID == id {
			return c, true
		}
	}
	return Result{}, false
}

// Summary is the run in one line.
func (r *Report) Summary() string {
	var reasons []string
	for _, reason := range Reasons() {
		if n := r.Counts.Reasons[reason]; n > 0 {
			reasons = append(reasons, fmt.Sprintf("%s %d", reason, n))
		}
	}
	line := fmt.Sprintf("conformance %s: %d passed, %d refused-as-declared, %d failed, %d unknown",
		r.Provider, r.Counts.Passed, r.Counts.RefusedAsDeclared, r.Counts.Failed, r.Counts.Unknown)
	if len(reasons) > 0 {
		line += " (" + strings.Join(reasons, ", ") + ")"
	}
	return line
}

// Encode writes the report as indented JSON with a final newline.
func (r *Report) Encode(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// DecodeReport reads a report strictly: unknown fields, another format and text
// after the document are errors.
func DecodeReport(b []byte) (*Report, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	var r Report
	if err := dec.Decode(&r); err != nil {
		return nil, fmt.Errorf("conformance: report: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("conformance: report: text after the document")
	}
	if r.Format != reportFormat {
		return nil, fmt.Errorf("conformance: report: format %q is not %q", r.Format, reportFormat)
	}
	return &r, nil
}

const reportFormat = "sbx.conformance/1"
