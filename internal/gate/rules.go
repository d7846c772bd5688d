package gate

import (
	"fmt"
	"slices"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/schemacheck"
	"github.com/agentworkforce/sbx/internal/secretdiag"
	"github.com/agentworkforce/sbx/internal/yamldoc"
	"github.com/agentworkforce/sbx/schema"
)

// The rules that this package itself reports. What each means is in
// schema/rules.json.
const (
	rulePlaceholder      = "SBX133"
	rulePlainHTTP        = "SBX134"
	ruleFolder           = "SBX140"
	ruleDuplicateID      = "SBX141"
	ruleNoProvenance     = "SBX142"
	ruleUnusedProvenance = "SBX143"
	ruleClassAlone       = "SBX144"
	ruleNotObserved      = "SBX145"
	ruleFuture           = "SBX146"
	ruleNoBase           = "SBX147"
	ruleBaseCircle       = "SBX148"
	ruleOtherKind        = "SBX149"
	ruleNoAdapter        = "SBX150"
	ruleReserved         = "SBX152"
	ruleSemanticsSupport = "SBX153"
	ruleSemanticsSection = "SBX154"
	ruleSnapshotFacts    = "SBX155"
	ruleNoEncoding       = "SBX156"
	ruleIsolation        = "SBX157"
	ruleEgressUpdate     = "SBX158"
	ruleGapMissing       = "SBX159"
	ruleGapUnknown       = "SBX160"
	ruleServesMissing    = "SBX161"
	ruleGoneProof        = "SBX162"
	ruleNeverGone        = "SBX163"
	ruleNoRunning        = "SBX164"
	ruleNoState          = "SBX165"
	ruleTimeoutCap       = "SBX166"
	ruleDefaultBounds    = "SBX167"
	ruleDefaultType      = "SBX168"
	ruleDuplicateEnv     = "SBX169"
	ruleSecretDefault    = "SBX170"
	ruleNoCheck          = "SBX171"
	ruleOtherCheck       = "SBX172"
	ruleImpliedHazard    = "SBX173"
	ruleOldPrice         = "SBX177"
	ruleNoOverride       = "SBX178"
	ruleNotStated        = "SBX179"
	ruleLockFile         = "SBX181"
	ruleViaMissing       = "SBX183"
	ruleLabelLimits      = "SBX184"

	ruleEntryAlone     = "SBX201"
	ruleNoEntry        = "SBX202"
	ruleEvidenceAbsent = "SBX204"
	ruleEvidenceDigest = "SBX205"
	ruleTimes          = "SBX218"
	ruleExpired        = "SBX219"
	ruleWaiverExpired  = "SBX223"
	ruleEvidencePath   = "SBX224"
	ruleNothingTested  = "SBX225"
	ruleOtherEvidence  = "SBX226"
	ruleUnlinked       = "SBX229"
	ruleEntryName      = "SBX230"

	ruleStub         = "SBX402"
	ruleImport       = "SBX403"
	ruleEnvironment  = "SBX404"
	rulePolicy       = "SBX405"
	ruleErrorDropped = "SBX406"
	ruleState        = "SBX407"
	ruleErrorText    = "SBX409"
	ruleProcess      = "SBX410"
	ruleSleep        = "SBX411"
	ruleUnbounded    = "SBX412"
	ruleGoSyntax     = "SBX413"
	ruleAdapterGone  = "SBX414"

	ruleVendorKey  = secretdiag.RuleVendorKey
	ruleEntropy    = secretdiag.RuleRandom
	ruleURLSecret  = secretdiag.RuleAddress
	rulePrivateKey = secretdiag.RulePrivateKey
)

// ownRules lists the rules above.
func ownRules() []string {
	return []string{rulePlaceholder, rulePlainHTTP, ruleFolder, ruleDuplicateID, ruleNoProvenance,
		ruleUnusedProvenance, ruleClassAlone, ruleNotObserved, ruleFuture, ruleNoBase, ruleBaseCircle,
		ruleOtherKind, ruleNoAdapter, ruleReserved, ruleSemanticsSupport, ruleSemanticsSection,
		ruleSnapshotFacts, ruleNoEncoding, ruleIsolation, ruleEgressUpdate, ruleGapMissing, ruleGapUnknown,
		ruleServesMissing, ruleGoneProof, ruleNeverGone, ruleNoRunning, ruleNoState, ruleTimeoutCap,
		ruleDefaultBounds, ruleDefaultType, ruleDuplicateEnv, ruleSecretDefault, ruleNoCheck, ruleOtherCheck,
		ruleImpliedHazard, ruleOldPrice, ruleNoOverride, ruleNotStated, ruleLockFile, ruleViaMissing,
		ruleLabelLimits, ruleEntryAlone, ruleNoEntry, ruleEvidenceAbsent, ruleEvidenceDigest, ruleTimes,
		ruleExpired, ruleWaiverExpired, ruleEvidencePath, ruleNothingTested, ruleOtherEvidence, ruleUnlinked,
		ruleEntryName, ruleStub, ruleImport, ruleEnvironment, rulePolicy, ruleErrorDropped, ruleState,
		ruleErrorText, ruleProcess, ruleSleep, ruleUnbounded, ruleGoSyntax, ruleAdapterGone, ruleVendorKey, ruleEntropy,
		ruleURLSecret, rulePrivateKey, ruleDummyLeaked, ruleDeepSecret, ruleNotCompiling, ruleVendorType}
}

// Implemented returns the IDs of every rule that Validate can report without a
// Source, sorted: those of syntax, of the schemas and of this package.
func Implemented() []string {
	out := append(ownRules(), evidenceRules()...)
	for _, r := range yamldoc.Rules() {
		out = append(out, r.ID)
	}
	for _, id := range schemacheck.Rules() {
		if id != schemacheck.RuleSchema { // of a schema under development only
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// UnknownRuleError says that there is no rule of this ID.
type UnknownRuleError struct {
	ID string
	// Suggestion is the nearest rule, empty when none is near.
	Suggestion string
}

// Error names the rule.
func (e *UnknownRuleError) Error() string {
	if e.Suggestion != "" {
		return fmt.Sprintf("no rule %q; did you mean %s?", e.ID, e.Suggestion)
	}
	return fmt.Sprintf("no rule %q", e.ID)
}

// Explain returns what a rule means, why it exists and how to satisfy it. The
// error is an *UnknownRuleError, or that the embedded list cannot be read.
func Explain(id string) (schema.Rule, error) {
	rules, err := schema.Rules()
	if err != nil {
		return schema.Rule{}, err
	}
	ids := make([]string, len(rules))
	for i, r := range rules {
		if r.ID == id {
			return r, nil
		}
		ids[i] = r.ID
	}
	return schema.Rule{}, &UnknownRuleError{ID: id, Suggestion: diag.Suggest(id, ids)}
}

// severities reads the severity of every rule.
func severities() (map[string]diag.Severity, error) {
	rules, err := schema.Rules()
	if err != nil {
		return nil, err
	}
	out := make(map[string]diag.Severity, len(rules))
	for _, r := range rules {
		out[r.ID] = diag.Error
		if r.Severity == "warning" {
			out[r.ID] = diag.Warning
		}
	}
	return out, nil
}
