package gate

import (
	"strconv"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/internal/diag"
)

// lifecycle checks states and the proof of absence against the capabilities.
func (m *manifest) lifecycle() {
	l := m.at("lifecycle")
	if states, ok := l.at("states").fact(); ok {
		m.states(states)
	}
	proof, ok := l.at("goneProof").fact()
	if !ok {
		return
	}
	list := m.support("list")
	switch proof.text() {
	case "list", "both":
		if list == "unsupported" || m.hasAdapter() && (list == "not-exposed" || list == "unknown") {
			m.onValue(ruleGoneProof, proof, "a listing is to prove absence, and list is %s", list)
		}
	case "none":
		m.onValue(ruleNeverGone, proof, "no sandbox of this provider can ever be verified as gone")
	}
}

func (m *manifest) states(states cursor) {
	words, ok := states.value.(map[string]any)
	if !ok || m.doc.Unsure(states.pointer) {
		return
	}
	have := map[string]bool{}
	for _, v := range words {
		if s, ok := v.(string); ok {
			have[s] = true
		}
	}
	if !have["running"] {
		m.onKey(ruleNoRunning, m.at("lifecycle", "states"), "no word of the vendor means running")
	}
	for _, need := range [][2]string{{"stop", "stopped"}, {"suspend", "suspended"}} {
		if m.support(need[0]) == "supported" && !have[need[1]] {
			m.onKey(ruleNoState, m.at("lifecycle", "states"), "%s is supported, and no word of the vendor means %s", need[0], need[1])
		}
	}
}

// durations checks limits in time against each other.
func (m *manifest) durations() {
	exec, lifetime, idle := m.at("exec"), m.at("lifecycle", "lifetime"), m.at("lifecycle", "idle")
	if v, ok := exec.at("timeoutCap").fact(); ok && v.text() != "none" && exec.at("timeoutEnforced").factText() == "none" {
		m.onValue(ruleTimeoutCap, v, "there is a cap, but exec.timeoutEnforced says that nobody enforces one").Suggestion = "none"
	}
	m.ordered(exec.at("timeoutDefault"), exec.at("timeoutCap"), "the default is longer than the cap")
	m.ordered(lifetime.at("default"), lifetime.at("max"), "the default is longer than the longest lifetime")
	m.ordered(idle.at("floor"), idle.at("default"), "the floor is longer than the default")
}

// ordered reports a smaller duration that is longer than the greater one.
func (m *manifest) ordered(smaller, greater cursor, message string) {
	s, ok := smaller.fact()
	g, alsoOK := greater.fact()
	if !ok || !alsoOK {
		return
	}
	low, ok := parseDuration(s.text())
	high, alsoOK := parseDuration(g.text())
	if ok && alsoOK && low > high {
		d := m.onValue(ruleDefaultBounds, s, "%s: %s against %s", message, s.text(), g.text())
		d.Related = []diag.Related{{Span: m.spanOf(g), Message: "the bound"}}
	}
}

// parseDuration reads a manifest's duration, such as 90s, 1h30m or 30d.
func parseDuration(s string) (time.Duration, bool) {
	if i := strings.IndexByte(s, 'd'); i > 0 {
		days, err := strconv.Atoi(s[:i])
		if err != nil || days > 100_000 {
			return 0, false
		}
		rest, ok := parseDuration(s[i+1:])
		if s[i+1:] == "" {
			rest, ok = 0, true
		}
		return time.Duration(days)*24*time.Hour + rest, ok
	}
	d, err := time.ParseDuration(s)
	return d, err == nil
}

// labels checks the labels section against itself and the capability.
func (m *manifest) labels() {
	l := m.at("labels")
	encoding, ok := l.at("encoding").fact()
	if !ok {
		return
	}
	if encoding.text() == "none" {
		if m.support("labels") == "supported" {
			m.onValue(ruleNoEncoding, m.at("capabilities", "labels", "support"), "labels are supported, but labels.encoding is none")
		}
		if v, ok := l.at("filter").fact(); ok && v.text() == "server" {
			m.onValue(ruleLabelLimits, v, "nothing is encoded, so there is nothing to filter by").Suggestion = "none"
		}
	}
	for _, limit := range []string{"max", "maxKeyLength", "maxValueLength"} {
		n, ok := l.at(limit).factCount()
		if !ok {
			continue
		}
		if stored := encoding.text() != "none"; stored != (n > 0) {
			m.onValue(ruleLabelLimits, l.at(limit, "value"), "%s is %d, and labels.encoding is %s", limit, n, encoding.text())
		}
	}
}

// stated warns about sections that most readers ask for.
func (m *manifest) stated() {
	if m.isNoMapping() {
		return
	}
	for _, section := range []string{"images", "limits", "pricing"} {
		if !m.has(section) {
			m.onValue(ruleNotStated, m.at("id"), "%q is not stated", section).Help = `add the section, or in it {unknown: "why it is not known"}`
		}
	}
	if !m.at("lifecycle").has("lifetime") && m.has("lifecycle") {
		m.onKey(ruleNotStated, m.at("lifecycle"), "%q is not stated", "lifecycle.lifetime").Help = `add: lifetime: {max: {unknown: "why it is not known"}}`
	}
}

// isNoMapping reports that the document is no mapping at all.
func (m *manifest) isNoMapping() bool {
	_, ok := m.cursor.value.(map[string]any)
	return !ok
}
