package schemacheck

import (
	"strings"

	"github.com/agentworkforce/sbx/schema"
)

// The rules this package reports. Those of a kind come first, the nearer ones
// of certain places after them.
const (
	RuleUnknownProperty = "SBX120"
	RuleMissingProperty = "SBX121"
	RuleType            = "SBX122"
	RuleWord            = "SBX123"
	RulePattern         = "SBX124"
	RuleRange           = "SBX125"
	RuleRepeated        = "SBX126"
	RuleFact            = "SBX127"
	RuleAlternative     = "SBX128"
	RuleDate            = "SBX129"
	RuleAddress         = "SBX130"
	RuleVariable        = "SBX131"
	RuleVersion         = "SBX132"
	RulePackage         = "SBX135"
	RuleRun             = "SBX145"
	RuleReason          = "SBX151"
	RuleDefault         = "SBX170"
	RuleUnit            = "SBX174"
	RuleCostRun         = "SBX175"
	RuleRate            = "SBX176"
	RulePin             = "SBX180"
	RuleMove            = "SBX182"
	RuleNoEvidence      = "SBX203"
	RuleVerifiedBy      = "SBX220"
	RuleUnknownReason   = "SBX221"
	RuleWaiver          = "SBX222"
	RuleEvidencePath    = "SBX224"
	RuleSchema          = "SBX310"
)

// Rules returns the IDs of every rule this package reports.
func Rules() []string {
	return []string{RuleUnknownProperty, RuleMissingProperty, RuleType, RuleWord, RulePattern, RuleRange,
		RuleRepeated, RuleFact, RuleAlternative, RuleDate, RuleAddress, RuleVariable, RuleVersion, RulePackage, RuleRun,
		RuleReason, RuleDefault, RuleUnit, RuleCostRun, RuleRate, RulePin, RuleMove, RuleNoEvidence, RuleVerifiedBy,
		RuleUnknownReason, RuleWaiver, RuleEvidencePath, RuleSchema}
}

// nearer is a rule that says more about a place than that of its kind. Under is
// a prefix of the keyword's location; name is the property, empty for any.
type nearer struct {
	file  string
	under string
	kind  Kind // 0: any
	name  string
	rule  string
}

func nearerRules() []nearer {
	const p, c = schema.ProviderFile, schema.CatalogFile
	return []nearer{
		{p, "/properties/apiVersion/", KindConst, "", RuleVersion},
		{p, "/$defs/date/", 0, "", RuleDate},
		{p, "/$defs/url/", KindFormat, "", RuleAddress},
		{p, "/$defs/url/", KindPattern, "", RuleAddress},
		{p, "/$defs/endpoint/properties/url/", KindPattern, "", RuleAddress},
		{p, "/$defs/envName/", KindPattern, "", RuleVariable},
		{p, "/$defs/provenance/then/", KindMissingProperty, "run", RuleRun},
		{p, "/$defs/claim/else/", KindMissingProperty, "reason", RuleReason},
		{p, "/$defs/snapshotFact/else/", KindMissingProperty, "reason", RuleReason},
		{p, "/$defs/usdPer/", KindMissingProperty, "per", RuleUnit},
		{p, "/$defs/observedCost/", KindMissingProperty, "per", RuleUnit},
		{p, "/$defs/observedCost/", KindMissingProperty, "run", RuleCostRun},
		{p, "/$defs/machineClass/", KindMissingProperty, "rate", RuleRate},
		{p, "/$defs/credential/", KindUnknownProperty, "default", RuleDefault},
		{p, "/$defs/bridge/", KindMissingProperty, "version", RulePin},
		{p, "/$defs/bridge/", KindMissingProperty, "integrity", RulePin},
		{p, "/$defs/bridge/", KindMissingProperty, "lockfile", RulePin},
		{p, "/$defs/bridge/properties/version/", KindPattern, "", RulePin},
		{p, "/$defs/bridge/properties/integrity/", KindPattern, "", RulePin},
		{p, "/$defs/capabilities/", KindUnknownProperty, "move", RuleMove},
		{c, "/then/", KindMissingProperty, "evidence", RuleNoEvidence},
		{c, "/then/", KindMissingProperty, "verifiedBy", RuleVerifiedBy},
		{c, "/else/", KindMissingProperty, "reason", RuleUnknownReason},
		{c, "/properties/evidence/", KindRange, "", RuleNoEvidence},
		{c, "/$defs/evidence/properties/path/", KindPattern, "", RuleEvidencePath},
		{c, "/$defs/time/", KindFormat, "", RuleDate},
		{c, "/$defs/time/", KindPattern, "", RuleDate},
		{c, "/$defs/waiver/properties/until/", KindFormat, "", RuleDate},
		{c, "/$defs/waiver/properties/until/", KindPattern, "", RuleDate},
		{c, "/$defs/waiver/", KindMissingProperty, "", RuleWaiver},
		{c, "/$defs/waiver/", KindRange, "", RuleWaiver},
	}
}

// ruleOf returns the nearest rule of a finding in a document of the schema file.
func ruleOf(file string, f *Finding) string {
	for _, n := range nearerRules() {
		if n.file == file && strings.HasPrefix(f.Location, n.under) &&
			(n.kind == 0 || n.kind == f.Kind) && (n.name == "" || n.name == f.Name) && f.Kind != KindType {
			return n.rule
		}
	}
	return kindRule(f.Kind)
}

func kindRule(k Kind) string {
	switch k {
	case KindUnknownProperty:
		return RuleUnknownProperty
	case KindMissingProperty:
		return RuleMissingProperty
	case KindType:
		return RuleType
	case KindWord, KindConst:
		return RuleWord
	case KindPattern, KindFormat, KindName:
		return RulePattern
	case KindRange:
		return RuleRange
	case KindRepeated:
		return RuleRepeated
	case KindFact:
		return RuleFact
	case KindPackage:
		return RulePackage
	}
	return RuleAlternative
}
