package gate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agentworkforce/sbx/internal/diag"
)

// settings checks the defaults of configuration and that no variable is used
// twice.
func (m *manifest) settings() {
	for _, s := range m.at("config").items() {
		typ, def := s.at("type").text(), s.at("default")
		if typ == "enum" && !s.has("allowed") {
			m.onValue(ruleDefaultType, s.at("type"), "an enum lists its words under allowed").Help = "add: allowed: [first, second]"
		}
		if def.text() == "" {
			continue
		}
		if soundsSecret(s.at("key").text()) || soundsSecret(s.at("env").text()) {
			m.onKey(ruleSecretDefault, def, "the setting sounds like a credential and has a default")
			continue
		}
		var allowed []string
		for _, a := range s.at("allowed").items() {
			allowed = append(allowed, a.text())
		}
		if !fits(def.text(), typ, allowed) {
			d := m.onValue(ruleDefaultType, def, "the default is no %s", typeWord(typ))
			if typ == "enum" {
				d.Help, d.Suggestion = "use one of: "+strings.Join(allowed, ", "), diag.Suggest(def.text(), allowed)
			}
		}
	}
}

func fits(s, typ string, allowed []string) bool {
	switch typ {
	case "integer":
		_, err := strconv.ParseInt(s, 10, 64)
		return err == nil
	case "boolean":
		return s == "true" || s == "false"
	case "duration":
		_, ok := parseDuration(s)
		return ok
	case "enum":
		return len(allowed) == 0 || slices.Contains(allowed, s)
	}
	return true
}

func typeWord(typ string) string {
	switch typ {
	case "integer":
		return "whole number"
	case "boolean":
		return "true or false"
	case "enum":
		return "allowed word"
	}
	return typ
}

// soundsSecret reports whether a name is one that credentials have.
func soundsSecret(name string) bool {
	low := strings.ToLower(name)
	for _, word := range []string{"password", "passwd", "secret", "apikey", "api_key", "token", "privatekey", "private_key"} {
		if strings.HasSuffix(low, word) {
			return true
		}
	}
	return false
}

// credentials checks that every variable means one thing.
func (m *manifest) credentials() {
	users := map[string]cursor{}
	use := func(c cursor, shared string) {
		if c.text() == "" {
			return
		}
		key := c.text()
		if earlier, ok := users[key]; ok {
			if shared != "" && earlier.value == shared {
				return
			}
			m.onValue(ruleDuplicateEnv, c, "variable %s is used twice", key).Related =
				[]diag.Related{{Span: m.spanOf(cursor{pointer: earlier.pointer}), Message: "the first use"}}
			return
		}
		owner := cursor{pointer: c.pointer}
		if shared != "" {
			owner.value = shared
		}
		users[key] = owner
	}
	for i, set := range m.at("credentialSets").items() {
		inSet := map[string]cursor{}
		for _, c := range set.items() {
			env := c.at("env")
			if earlier, ok := inSet[env.text()]; ok && env.text() != "" {
				m.onValue(ruleDuplicateEnv, env, "variable %s is twice in set %d", env.text(), i+1).Related =
					[]diag.Related{{Span: m.spanOf(earlier), Message: "the first use"}}
				continue
			}
			inSet[env.text()] = env
			use(env, "credential") // one credential may be part of several sets
			for _, alias := range c.at("aliases").items() {
				use(alias, "credential")
			}
		}
	}
	for _, s := range m.at("config").items() {
		use(s.at("env"), "")
	}
	for _, e := range m.at("endpoints").items() {
		use(e.at("env"), "")
	}
}

// endpoints checks that a test can point the adapter elsewhere.
func (m *manifest) endpoints() {
	if !m.hasAdapter() {
		return
	}
	for _, e := range m.at("endpoints").items() {
		if e.value != nil && !e.has("env") {
			m.onValue(ruleNoOverride, e.at("url"), "endpoint %q cannot be replaced", e.at("name").text()).Help =
				"add: env: " + strings.ToUpper(strings.ReplaceAll(m.at("id").text(), "-", "_")) + "_URL"
		}
	}
}

// hazards checks the hazards and that those the facts imply are there.
func (m *manifest) hazards() {
	have := map[string]bool{}
	for _, h := range m.at("hazards").items() {
		id, check := h.at("id").text(), h.at("check")
		have[id] = true
		if check.text() == "" {
			continue
		}
		if !slices.Contains(m.vocab().checks, check.text()) {
			m.onValue(ruleNoCheck, check, "there is no check %q", check.text()).Suggestion = diag.Suggest(check.text(), m.vocab().checks)
		} else if want := m.vocab().hazards[id]; want != "" && want != check.text() {
			m.onValue(ruleOtherCheck, check, "%s is proven by another check", id).Suggestion = want
		}
	}
	for _, i := range []struct{ word, hazard string }{
		{m.at("lifecycle", "delete", "mode").factText() + "/lifecycle/delete/mode", "delete-async"},
		{m.at("exec", "streams").factText() + "/exec/streams", "stderr-merged"},
		{m.at("exec", "timeoutEnforced").factText() + "/exec/timeoutEnforced", "exec-timeout-ignored"},
		{m.at("labels", "encoding").factText() + "/labels/encoding", "no-labels"},
		{m.at("egress", "control").factText() + "/egress/control", "egress-hosts-only"},
		{m.at("lifecycle", "delete", "tombstones").factText() + "/lifecycle/delete/tombstones", "tombstones-listed"},
		{m.at("capabilities", "list", "support").text() + "/capabilities/list/support", "no-listing"},
	} {
		word, pointer, _ := strings.Cut(i.word, "/")
		if implies(i.hazard, word) && !have[i.hazard] {
			c := m.at(strings.Split(pointer, "/")...)
			if v, ok := c.fact(); ok {
				c = v
			}
			m.onValue(ruleImpliedHazard, c, "this is the hazard %q, which is not listed", i.hazard).Help =
				`add under hazards: {id: ` + i.hazard + `, summary: "...", mitigation: "...", check: ` + m.vocab().hazards[i.hazard] + `}`
		}
	}
}

// implies reports whether a word is what a hazard is about.
func implies(hazard, word string) bool {
	switch hazard {
	case "delete-async":
		return word == "acknowledged"
	case "stderr-merged":
		return word == "merged"
	case "exec-timeout-ignored", "no-labels":
		return word == "none"
	case "egress-hosts-only":
		return word == "hosts"
	case "tombstones-listed":
		return word == "listed" || word == "both"
	case "no-listing":
		return word == "unsupported"
	}
	return false
}
