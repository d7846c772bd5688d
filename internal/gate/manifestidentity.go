package gate

import (
	"maps"
	"path"
	"slices"
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

// texts looks at every reason and description for words that stand for a text
// nobody has written yet, and at every address for one without encryption.
func (m *manifest) texts() {
	m.walk(m.cursor, func(key string, c cursor) {
		s := c.text()
		switch key {
		case "reason", "unknown", "mitigation", "summary", "note", "computesdkFact", "detail":
			if isPlaceholder(s) {
				m.onValue(rulePlaceholder, c, "%q says nothing: a sentence is wanted here", key)
			}
		case "url", "homepage", "docs":
			if rest, ok := strings.CutPrefix(s, "http://"); ok && !isLoopback(rest) {
				m.onValue(rulePlainHTTP, c, "the address is not encrypted").Suggestion = "https://" + rest
			}
		}
	})
}

// walk calls f for every string of the document with the key it stands under.
func (m *manifest) walk(c cursor, f func(key string, c cursor)) {
	switch v := c.value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if s, ok := v[key].(string); ok {
				f(key, cursor{pointer: yamldoc.Join(c.pointer, key), value: s})
				continue
			}
			m.walk(c.at(key), f)
		}
	case []any:
		for _, item := range c.items() {
			m.walk(item, f)
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

// provenance checks what facts say they rest on.
func (m *manifest) provenance() {
	kinds, used := map[string]string{}, map[string]bool{}
	var ids []string
	for _, p := range m.at("provenance").items() {
		kinds[p.at("id").text()] = p.at("kind").text()
		ids = append(ids, p.at("id").text())
	}
	for _, g := range m.at("adapter", "gap").items() {
		used[g.at("evidence").text()] = true
	}
	m.walk(m.cursor, func(key string, c cursor) {
		parent := strings.TrimSuffix(c.pointer, "/"+key)
		switch key {
		case "from":
			used[c.text()] = true
			if _, ok := kinds[c.text()]; !ok {
				d := m.onValue(ruleNoProvenance, c, "no entry of provenance is called %q", c.text())
				d.Suggestion = diag.Suggest(c.text(), ids)
			}
		case "class":
			m.class(c, yamldoc.Join(parent, "from"), kinds)
		}
	})
	for _, p := range m.at("provenance").items() {
		if id := p.at("id"); id.text() != "" && !used[id.text()] {
			m.onValue(ruleUnusedProvenance, id, "nothing refers to %q", id.text())
		}
	}
}

// class checks how a value is known against the entry it rests on.
func (m *manifest) class(c cursor, from string, kinds map[string]string) {
	if c.text() != "observed" && c.text() != "documented" {
		return
	}
	keys, _ := yamldoc.Split(from)
	source := m.descend(keys).text()
	if source == "" {
		m.onValue(ruleClassAlone, c, "%s without from: where?", c.text()).Help = "add from with the ID of a provenance entry"
		return
	}
	if kind, ok := kinds[source]; ok && c.text() == "observed" && kind != "observed" {
		m.onValue(ruleNotObserved, c, "observed, but %q is a source of kind %s, not a run", source, kind)
	}
}

// descend follows keys through mappings and lists.
func (m *manifest) descend(keys []string) cursor {
	c := m.cursor
	for _, key := range keys {
		if list, ok := c.value.([]any); ok {
			found := false
			for i, item := range c.items() {
				if path.Base(item.pointer) == key && i < len(list) {
					c, found = item, true
					break
				}
			}
			if !found {
				return cursor{}
			}
			continue
		}
		c = c.at(key)
	}
	return c
}
