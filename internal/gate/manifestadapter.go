package gate

import (
	"slices"

	"github.com/agentworkforce/sbx/internal/diag"
)

// adapter checks how the provider is driven.
func (m *manifest) adapter() {
	a := m.at("adapter")
	kind := a.at("kind").text()
	for _, other := range []string{"computesdk", "process"} {
		section := other
		if other == "computesdk" {
			section = "bridge"
		}
		if kind != "" && kind != other && a.has(section) {
			m.onKey(ruleOtherKind, a.at(section), "%s belongs to an adapter of kind %s, and this one is %s", section, other, kind)
		}
	}
	if kind == "native" {
		serves, known := a.at("computesdkServes").factBool()
		switch {
		case known && serves && !a.has("gap"):
			m.onValue(ruleGapMissing, a.at("kind"), "ComputeSDK serves this vendor and no gap says why there is a native adapter").Help =
				`add under adapter: gap: [{capability: fork, computesdkFact: "what the package lacks", evidence: "where that can be checked"}]`
		case !a.has("computesdkServes"):
			m.onValue(ruleServesMissing, a.at("kind"), "it is not stated whether ComputeSDK serves this vendor").Help =
				`add under adapter: computesdkServes: {unknown: "why it is not known"}`
		}
	}
	for _, g := range a.at("gap").items() {
		if c := g.at("capability"); c.text() != "" && !slices.Contains(m.vocab().ids, c.text()) {
			m.onValue(ruleGapUnknown, c, "there is no capability %q", c.text()).Suggestion = diag.Suggest(c.text(), m.vocab().ids)
		}
		if c := g.at("check"); c.text() != "" && !slices.Contains(m.vocab().checks, c.text()) {
			m.onValue(ruleGapUnknown, c, "there is no check %q", c.text()).Suggestion = diag.Suggest(c.text(), m.vocab().checks)
		}
	}
}

// capabilities checks every claim by itself.
func (m *manifest) capabilities() {
	for _, id := range m.claims() {
		claim, support := m.at("capabilities", id), m.support(id)
		shown := claim.at("support")
		if id == "snapshot" {
			shown = claim.at("createsObject", "support")
		}
		if support == "supported" {
			m.supported(id, claim, shown)
		}
		if claim.has("semantics") && (support == "unsupported" || support == "unknown") && shown.value != nil {
			m.onKey(ruleSemanticsSupport, claim.at("semantics"), "%q is %s and has semantics all the same", id, support)
		}
	}
}

// claims returns the capabilities of the manifest, in the order of the file.
func (m *manifest) claims() []string {
	children := m.doc.Children("/capabilities")
	out := make([]string, len(children))
	for i, c := range children {
		out[i] = c.Name
	}
	return out
}

func (m *manifest) supported(id string, claim, shown cursor) {
	if m.at("adapter", "kind").text() == "none" {
		m.onValue(ruleNoAdapter, shown, "%q is supported, but there is no adapter that could do it", id).Suggestion = "not-exposed"
	}
	if m.vocab().reserved[id] {
		m.onValue(ruleReserved, shown, "%q is reserved: the contract has no operation for it yet", id).Suggestion = "not-exposed"
	}
	if id == "fork" && claim.at("semantics", "via").text() == "" {
		m.onValue(ruleViaMissing, shown, "a fork says whether it is one vendor call or composed of several").Help =
			"add: semantics: {via: composed, keeps: disk}"
	}
}

// snapshot checks the five facts against each other.
func (m *manifest) snapshot() {
	claim := m.at("capabilities", "snapshot")
	if claim.at("createsObject", "support").text() != "unsupported" {
		return
	}
	for _, fact := range []string{"listable", "deletable", "restoreMakesNew"} {
		if c := claim.at(fact, "support"); c.text() == "supported" {
			m.onValue(ruleSnapshotFacts, c, "%s is supported, but createsObject says that there is no object", fact)
		}
	}
}

// sections checks claims against what other sections say of the same thing.
func (m *manifest) sections() {
	m.agree("stop", "keeps", m.at("lifecycle", "stop", "keeps"))
	if m.at("capabilities", "suspend", "semantics", "keeps").text() == "disk" {
		m.onValue(ruleSemanticsSection, m.at("capabilities", "suspend", "semantics", "keeps"),
			"a suspend keeps memory; keeping the disk only is a stop").Suggestion = "disk-and-memory"
	}
	capture := m.at("lifecycle", "persistence", "capture")
	if v, ok := capture.fact(); ok && v.text() == "none" && m.support("snapshot") == "supported" {
		m.onValue(ruleSemanticsSection, v, "nothing can be captured, but snapshot is supported")
	}
	source := m.at("lifecycle", "persistence", "captureSource").factText()
	if c := m.at("capabilities", "snapshot", "semantics", "pausesSource"); c.value == true && source == "keeps-running" {
		m.onValue(ruleSemanticsSection, c, "the source pauses here and keeps running in lifecycle.persistence.captureSource")
	}
	if truth, known := m.at("lifecycle", "persistence", "clone").factBool(); known && !truth &&
		m.at("capabilities", "fork", "semantics", "via").text() == "native" {
		m.onValue(ruleSemanticsSection, m.at("capabilities", "fork", "semantics", "via"),
			"fork is native here, and lifecycle.persistence.clone says that nothing is cloned").Suggestion = "composed"
	}
	if v, ok := m.at("egress", "control").fact(); ok && v.text() == "none" && m.support("egress.update") == "supported" {
		m.onValue(ruleEgressUpdate, m.at("capabilities", "egress.update", "support"), "egress is not controlled, so its policy cannot change")
	}
	if mech, ok := m.at("lifecycle", "idle", "mechanism").fact(); ok && mech.text() == "none" {
		if d, ok := m.at("lifecycle", "idle", "default").fact(); ok && d.text() != "none" {
			m.onValue(ruleSemanticsSection, d, "there is an idle limit, but lifecycle.idle.mechanism says nothing happens").Suggestion = "none"
		}
	}
}

// agree checks a word of a capability's semantics against a fact.
func (m *manifest) agree(capability, key string, fact cursor) {
	said := m.at("capabilities", capability, "semantics", key)
	v, ok := fact.fact()
	if ok && said.text() != "" && said.text() != v.text() {
		d := m.onValue(ruleSemanticsSection, said, "%s %s %s here, and %s elsewhere", capability, key, said.text(), v.text())
		d.Related = []diag.Related{{Span: m.spanOf(v), Message: "the other place"}}
	}
}
