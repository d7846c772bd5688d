package gate

import "github.com/agentworkforce/sbx/internal/evidence"

// ruleOf is the rule that a finding about evidence breaks. Several kinds that
// one reader would call the same mistake share a rule.
func ruleOf(k evidence.Kind) string {
	switch k {
	case evidence.KindMissing:
		return ruleEvidenceAbsent
	case evidence.KindDigest, evidence.KindLink:
		return ruleEvidenceDigest
	case evidence.KindUnreadable:
		return ruleUnreadable
	case evidence.KindExtra:
		return ruleNotCovered
	case evidence.KindUnsigned:
		return ruleUnsigned
	case evidence.KindUntrustedKey:
		return ruleUntrustedKey
	case evidence.KindBadSignature, evidence.KindBadEnvelope:
		return ruleBadSignature
	case evidence.KindKeyTime:
		return ruleKeyTime
	case evidence.KindProvider:
		return ruleOtherEvidence
	case evidence.KindRun:
		return ruleOtherRun
	case evidence.KindVerdict:
		return ruleFailedRun
	case evidence.KindMode:
		return ruleNotLive
	case evidence.KindNothingRun:
		return ruleNothingRun
	case evidence.KindCoverage, evidence.KindNotPassed:
		return ruleOwedCheck
	case evidence.KindCounts, evidence.KindStatistics:
		return ruleSums
	case evidence.KindSamples:
		return ruleSamples
	case evidence.KindLedger, evidence.KindBalance:
		return ruleBalance
	}
	return laterRuleOf(k)
}

func laterRuleOf(k evidence.Kind) string {
	switch k {
	case evidence.KindVendor:
		return ruleVendorSide
	case evidence.KindTimes:
		return ruleTimes
	case evidence.KindAdapter:
		return ruleAdapterChanged
	case evidence.KindClaims:
		return ruleClaimsChanged
	case evidence.KindCore, evidence.KindContract:
		return ruleContractChanged
	case evidence.KindStaleCheck:
		return ruleCheckChanged
	case evidence.KindExpired:
		return ruleExpired
	case evidence.KindKnownSecret:
		return ruleDummyLeaked
	case evidence.KindVendorKey:
		return ruleVendorKey
	case evidence.KindURLSecret:
		return ruleURLSecret
	case evidence.KindPrivateKey:
		return rulePrivateKey
	case evidence.KindDeepSecret:
		return ruleDeepSecret
	}
	return ruleUnreadable
}

// evidenceRules are the rules that only evidence can break.
func evidenceRules() []string {
	return []string{ruleUnreadable, ruleNotCovered, ruleUnsigned, ruleNotLive, ruleAdapterChanged, ruleClaimsChanged,
		ruleContractChanged, ruleCheckChanged, ruleOwedCheck, ruleSums, ruleBalance, ruleSamples, ruleFailedRun,
		ruleNothingRun, ruleUntrustedKey, ruleBadSignature, ruleKeyTime, ruleOtherRun, ruleVendorSide, evidence.RuleKeys}
}

// The rules about the content of evidence.
const (
	ruleUnreadable      = "SBX206"
	ruleNotCovered      = "SBX207"
	ruleUnsigned        = "SBX208"
	ruleNotLive         = "SBX209"
	ruleAdapterChanged  = "SBX210"
	ruleClaimsChanged   = "SBX211"
	ruleContractChanged = "SBX212"
	ruleCheckChanged    = "SBX213"
	ruleOwedCheck       = "SBX214"
	ruleSums            = "SBX215"
	ruleBalance         = "SBX216"
	ruleSamples         = "SBX217"
	ruleFailedRun       = "SBX227"
	ruleNothingRun      = "SBX231"
	ruleUntrustedKey    = "SBX232"
	ruleBadSignature    = "SBX233"
	ruleKeyTime         = "SBX234"
	ruleOtherRun        = "SBX235"
	ruleVendorSide      = "SBX236"
	ruleDummyLeaked     = "SBX505"
)

// RuleExpired is the rule of evidence that is only too old.
const RuleExpired = ruleExpired
