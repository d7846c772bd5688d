package gate

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/yamldoc"
)

// identity checks the id against the folder, and lists whose entries have IDs.
func (m *manifest) identity() {
	id, folder := m.at("id"), path.Base(path.Dir(m.doc.Name()))
	if id.text() != "" && folder != "." && folder != "/" && id.text() != folder {
		m.onValue(ruleFolder, id, "the id is %q and the folder %q", id.text(), folder).Suggestion = folder
	}
	m.unique("provenance", "id")
	m.unique("config", "key")
	m.unique("endpoints", "name")
	m.unique("machineClasses", "id")
	m.unique("hazards", "id")
}

// unique reports entries of a list with the same ID as an earlier one.
func (m *manifest) unique(list, key string) {
	first := map[string]cursor{}
	for _, item := range m.at(list).items() {
		c := item.at(key)
		if c.text() == "" {
			continue
		}
		if earlier, ok := first[c.text()]; ok {
			d := m.onValue(ruleDuplicateID, c, "%s %q is there twice under %s", key, c.text(), list)
			d.Related = []diag.Related{{Span: m.spanOf(earlier), Message: "the first is here"}}
			continue
		}
		first[c.text()] = c
	}
}

// texts looks at every text of the document once: reasons and descriptions for
// words that stand for a text nobody has written yet, addresses for those without
// encryption, and what facts say they rest on.
func (m *manifest) texts() {
	for _, p := range m.at("provenance").items() {
		m.sources = append(m.sources, p.at("id").text())
		m.sourceKinds = append(m.sourceKinds, p.at("kind").text())
	}
	m.used = make([]bool, len(m.sources))
	for _, g := range m.at("adapter", "gap").items() {
		m.use(g.at("evidence").text())
	}
	m.walk(m.cursor.value, nil)
}

// walk looks at every text below v, which path leads to.
func (m *manifest) walk(v any, path []string) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if s, ok := value.(string); ok {
				m.text(v, append(path, key), s)
				continue
			}
			m.walk(value, append(path, key))
		}
	case []any:
		for i, item := range v {
			m.walk(item, append(path, strconv.Itoa(i)))
		}
	}
}

// text looks at one text of a mapping; path ends with its key.
func (m *manifest) text(parent map[string]any, path []string, s string) {
	here := func() cursor { return cursor{pointer: yamldoc.Join("", path...), value: s} }
	switch key := path[len(path)-1]; key {
	case "reason", "unknown", "mitigation", "summary", "note", "computesdkFact", "detail":
		if isPlaceholder(s) {
			m.onValue(rulePlaceholder, here(), "%q says nothing: a sentence is wanted here", key)
		}
	case "url", "homepage", "docs":
		if rest, ok := strings.CutPrefix(s, "http://"); ok && !isLoopback(rest) {
			m.onValue(rulePlainHTTP, here(), "the address is not encrypted").Suggestion = "https://" + rest
		}
	case "from":
		if m.use(s) < 0 {
			m.onValue(ruleNoProvenance, here(), "no entry of provenance is called %q", s).Suggestion = diag.Suggest(s, m.sources)
		}
	case "class":
		from, _ := parent["from"].(string)
		m.class(here, s, from)
	}
}

// use marks a source as used and returns its index, -1 when there is none.
func (m *manifest) use(source string) int {
	i := slices.Index(m.sources, source)
	if i >= 0 {
		m.used[i] = true
	}
	return i
}

// class checks how a value is known against the entry it rests on.
func (m *manifest) class(here func() cursor, class, from string) {
	if class != "observed" && class != "documented" {
		return
	}
	if from == "" {
		m.onValue(ruleClassAlone, here(), "%s without from: where?", class).Help = "add from with the ID of a provenance entry"
		return
	}
	if i := slices.Index(m.sources, from); i >= 0 && class == "observed" && m.sourceKinds[i] != "observed" {
		m.onValue(ruleNotObserved, here(), "observed, but %q is a source of kind %s, not a run", from, m.sourceKinds[i])
	}
}

// unused warns about sources that nothing refers to.
func (m *manifest) unused() {
	for i, p := range m.at("provenance").items() {
		if id := p.at("id"); id.text() != "" && !m.used[i] && slices.Index(m.sources, id.text()) == i {
			m.onValue(ruleUnusedProvenance, id, "nothing refers to %q", id.text())
		}
	}
}

// isPlaceholder reports whether a text only stands for one.
func isPlaceholder(s string) bool {
	word := strings.ToLower(strings.Trim(s, " .!?-_<>[](){}:\"'*"))
	if word == "" {
		return s != ""
	}
	for _, p := range []string{"todo", "fixme", "tbd", "xxx"} {
		if rest, ok := strings.CutPrefix(word, p); ok && (rest == "" || !isLetter(rest[0])) {
			return true
		}
	}
	switch word {
	case "n/a", "na", "none", "unknown", "not known", "no reason", "reason", "why", "why it is not known",
		"dunno", "placeholder", "lorem ipsum", "change me", "changeme", "fill in", "to do", "not yet", "same":
		return true
	}
	return false
}

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }

func isLoopback(rest string) bool {
	host, _, _ := strings.Cut(rest, "/")
	if i := strings.LastIndexByte(host, ':'); i > 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	return host == "localhost" || host == "[::1]" || strings.HasPrefix(host, "127.")
}
