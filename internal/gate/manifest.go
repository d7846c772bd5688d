package gate

import (
	"slices"
	"sync"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/yamldoc"
	"github.com/agentworkforce/sbx/schema"
)

// manifest is one provider.yaml while its rules run.
type manifest struct {
	*report
	cursor
	known func() (*vocabulary, error)
	out   facts
	err   error
}

// vocabulary is what the embedded schema lists that rules look IDs up in.
type vocabulary struct {
	capabilities map[string]schema.Capability
	ids          []string          // of capabilities, in order
	methods      map[string]string // method name -> capability
	checks       []string
	hazards      map[string]string // hazard -> its check
}

// newVocabulary returns a function that reads the vocabulary at its first call.
func newVocabulary() func() (*vocabulary, error) {
	return sync.OnceValues(func() (*vocabulary, error) {
		fsys := schema.Files()
		provider, err := fsys.ReadFile(schema.ProviderFile)
		if err != nil {
			return nil, err
		}
		contract, err := fsys.ReadFile(schema.ContractFile)
		if err != nil {
			return nil, err
		}
		voc, err := schema.LoadVocabulary(provider, contract)
		if err != nil {
			return nil, err
		}
		v := &vocabulary{capabilities: map[string]schema.Capability{}, methods: map[string]string{}, hazards: map[string]string{}}
		for _, c := range voc.Capabilities {
			v.capabilities[c.ID] = c
			v.ids = append(v.ids, c.ID)
			for _, m := range c.Methods {
				v.methods[m.Name] = c.ID
			}
		}
		checks, err := schema.Checks()
		if err != nil {
			return nil, err
		}
		for _, c := range checks {
			v.checks = append(v.checks, c.ID)
		}
		hazards, err := schema.Hazards()
		if err != nil {
			return nil, err
		}
		for _, h := range hazards {
			v.hazards[h.ID] = h.Check
		}
		return v, nil
	})
}

// examineManifest runs every rule about one manifest by itself.
func examineManifest(doc *yamldoc.Doc, known func() (*vocabulary, error)) ([]diag.Diagnostic, facts, error) {
	m := &manifest{report: &report{doc: doc}, cursor: cursor{value: doc.Value()}, known: known}
	m.extract()
	for _, rules := range []func(){
		m.identity, m.texts, m.provenance, m.adapter, m.capabilities, m.snapshot, m.sections,
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
// its first and last fact. Not stated is unknown.
func (m *manifest) support(id string) string {
	claim := m.at("capabilities", id)
	if id != "snapshot" {
		if s := claim.at("support").text(); s != "" {
			return s
		}
		return "unknown"
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
