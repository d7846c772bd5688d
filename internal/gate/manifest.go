package gate

import (
	"slices"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/yamldoc"
)

// manifest is one provider.yaml while its rules run.
type manifest struct {
	*report
	cursor
	known func() (*vocabulary, error)
	out   facts
	err   error
	// Of the provenance entries, side by side: IDs, kinds, whether used.
	sources, sourceKinds []string
	used                 []bool
}

// examineManifest runs every rule about one manifest by itself.
func examineManifest(doc *yamldoc.Doc, known func() (*vocabulary, error)) ([]diag.Diagnostic, facts, error) {
	m := &manifest{report: &report{doc: doc}, cursor: cursor{value: doc.Value()}, known: known}
	m.extract()
	for _, rules := range []func(){
		m.identity, m.texts, m.unused, m.adapter, m.capabilities, m.snapshot, m.sections,
		m.lifecycle, m.durations, m.labels, m.settings, m.credentials, m.endpoints, m.hazards, m.stated,
	} {
		rules()
	}
	return m.found, m.out, m.err
}

// vocab returns the vocabulary, empty when it cannot be read; the error is kept
// and ends the run.
func (m *manifest) vocab() *vocabulary {
	v, err := m.known()
	if err != nil {
		m.err = err
		return &vocabulary{}
	}
	return v
}

// extract collects the facts of the manifest.
func (m *manifest) extract() {
	a := m.at("adapter")
	m.out.ID = wordAt(m.report, m.at("id"))
	m.out.Kind = a.at("kind").text()
	if a.has("base") {
		m.out.Base = wordAt(m.report, a.at("base"))
	}
	if v, ok := m.at("isolation").fact(); ok {
		m.out.Isolation = wordAt(m.report, v)
	}
	if lock := a.at("bridge", "lockfile"); lock.value != nil {
		m.out.Lock = link{Path: wordAt(m.report, lock.at("path")), SHA256: wordAt(m.report, lock.at("sha256"))}
	}
	claims, _ := m.at("capabilities").value.(map[string]any)
	for id := range claims {
		if m.support(id) == "supported" {
			m.out.Supported = append(m.out.Supported, id)
		}
	}
	slices.Sort(m.out.Supported)
	for _, p := range m.at("provenance").items() {
		m.day(p.at("retrievedAt"), false)
	}
	m.day(m.at("pricing", "source", "readOn"), true)
	for _, o := range m.at("pricing", "observations").items() {
		m.day(o.at("at"), false)
	}
}

func (m *manifest) day(c cursor, price bool) {
	if c.text() != "" {
		m.out.Days = append(m.out.Days, day{word: wordAt(m.report, c), Price: price})
	}
}

// support returns the support of a capability; that of a snapshot follows from
// its first and last fact. Not
// stated is unknown, and a word that is none is empty.
func (m *manifest) support(id string) string {
	claim := m.at("capabilities", id)
	if id != "snapshot" {
		if !claim.has("support") {
			return "unknown"
		}
		s := claim.at("support").text()
		if !slices.Contains([]string{"supported", "unsupported", "not-exposed", "unknown"}, s) {
			return ""
		}
		return s
	}
	first, last := claim.at("createsObject", "support").text(), claim.at("restoreMakesNew", "support").text()
	for _, want := range []string{"unsupported", "not-exposed"} {
		if first == want || last == want {
			return want
		}
	}
	if first == "supported" && last == "supported" {
		return "supported"
	}
	return "unknown"
}

// hasAdapter reports whether there is code behind the manifest.
func (m *manifest) hasAdapter() bool {
	kind := m.at("adapter", "kind").text()
	return kind != "" && kind != "none"
}
