package gen

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentworkforce/sbx/internal/yamldoc"
	"github.com/agentworkforce/sbx/schema"
)

// CatalogFormat is the format of catalog/catalog.json, which
// schema/catalog-index.schema.json describes.
const CatalogFormat = "sbx.catalog/1"

// Catalog is what the catalog says of every provider. It holds dates and no ages,
// so it is the same on every day.
type Catalog struct {
	Format    string          `json:"format"`
	Providers []CatalogRecord `json:"providers"`
}

// CatalogRecord is one provider of the catalog.
type CatalogRecord struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Summary  string `json:"summary"`
	Homepage string `json:"homepage"`
	Adapter  string `json:"adapter"`
	Base     string `json:"base,omitempty"`
	// Status is what a person wrote and the gate let pass; from ExpiresAt on it
	// has to be read as unknown.
	Status     string             `json:"status"`
	Reason     string             `json:"reason,omitempty"`
	VerifiedAt string             `json:"verifiedAt,omitempty"`
	VerifiedBy string             `json:"verifiedBy,omitempty"`
	ExpiresAt  string             `json:"expiresAt,omitempty"`
	Evidence   []CatalogEvidence  `json:"evidence,omitempty"`
	Waivers    []CatalogWaiver    `json:"waivers,omitempty"`
	Claims     []CatalogClaim     `json:"capabilities"`
	Core       CatalogCoreVerdict `json:"core"`
}

// CatalogEvidence is a linked run.
type CatalogEvidence struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// CatalogWaiver is an exception for a time.
type CatalogWaiver struct {
	Subject string `json:"subject,omitempty"`
	Owner   string `json:"owner"`
	Reason  string `json:"reason"`
	Until   string `json:"until"`
}

// CatalogClaim is what the manifest claims of a capability, and whether the linked
// run shows it: every check that it owes passed in its revision of today.
type CatalogClaim struct {
	ID       string `json:"id"`
	Support  string `json:"support"`
	Verified bool   `json:"verified"`
}

// CatalogCoreVerdict is the same of what every provider owes.
type CatalogCoreVerdict struct {
	Verified bool `json:"verified"`
}

// catalogSource is what the catalog is made from, with its digests.
type catalogSource struct {
	inputs  map[string]string
	entries map[string]node       // by provider
	passed  map[string]passedByID // by provider: of the linked run
}

// passedByID are the revisions of the checks that a run has as passed, or as
// refused where the core refuses.
type passedByID map[string]runCheck

type runCheck struct {
	ID       string `json:"id"`
	Revision int    `json:"revision"`
	Verdict  string `json:"verdict"`
}

// readCatalog reads entries and linked reports. A provider without an entry is
// read as the entry it is given when it is made.
func (p *Project) readCatalog() (*catalogSource, error) {
	src := &catalogSource{inputs: map[string]string{}, entries: map[string]node{}, passed: map[string]passedByID{}}
	scaffold := catalogEntries(p.Manifests)
	for _, m := range p.Manifests {
		name := path.Join("catalog", m.ID()+".yaml")
		text, err := os.ReadFile(filepath.Join(p.Root, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			text, err = scaffold[name], nil
		}
		if err != nil {
			return nil, err
		}
		src.inputs[name] = digest(text)
		src.inputs[m.Path] = digest(m.src)
		doc, found := yamldoc.Parse(name, text)
		if doc == nil || hasErrors(found) {
			src.entries[m.ID()] = node{"status": "unknown", "reason": "The entry cannot be read."}
			continue
		}
		v, _ := doc.Value().(map[string]any)
		src.entries[m.ID()] = v
		if err := p.readLinked(src, m.ID(), v); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// readLinked reads the reports of the runs that a verified entry rests on. A
// statement that is not the linked one shows nothing.
func (p *Project) readLinked(src *catalogSource, id string, entry node) (err error) {
	if entry.text("status") != "verified" {
		return nil
	}
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	for _, e := range entry.nodes("evidence") {
		name := e.text("path")
		if !fs.ValidPath(name) || !strings.HasPrefix(name, "evidence/"+id+"/") {
			continue
		}
		report := path.Join(path.Dir(name), "conformance.json")
		for _, file := range []string{name, report} {
			text, err := fs.ReadFile(root.FS(), file)
			if err != nil {
				src.inputs[file] = digest(nil)
				break // the gate says what is wrong with it
			}
			src.inputs[file] = digest(text)
			if file == name && digest(text) != e.text("sha256") {
				break
			}
			if file == report {
				src.passed[id] = readPassed(text)
			}
		}
	}
	return nil
}

func readPassed(report []byte) passedByID {
	var r struct{ Checks []runCheck }
	if err := json.Unmarshal(report, &r); err != nil {
		return nil // the gate says so
	}
	out := passedByID{}
	for _, c := range r.Checks {
		if c.Verdict == "passed" || c.Verdict == "refused-as-declared" {
			out[c.ID] = c
		}
	}
	return out
}

// catalog makes the catalog of what was read.
func (p *Project) catalog(src *catalogSource) (Catalog, error) {
	var checks struct{ Checks []schema.Check }
	if err := json.Unmarshal(p.src.data["checks.json"], &checks); err != nil {
		return Catalog{}, err
	}
	out := Catalog{Format: CatalogFormat, Providers: []CatalogRecord{}}
	for _, m := range p.Manifests {
		model, v := p.model(m), m.value()
		e := src.entries[model.id]
		r := CatalogRecord{ID: model.id, Name: model.name, Summary: model.summary, Homepage: v.text("homepage"), Adapter: v.node("adapter").text("kind"),
			Base: model.base, Status: e.text("status"), Reason: e.text("reason"), VerifiedAt: e.text("verifiedAt"), VerifiedBy: e.text("verifiedBy"), ExpiresAt: e.text("expiresAt")}
		if r.Status != "verified" {
			r.Status, r.VerifiedAt, r.VerifiedBy, r.ExpiresAt = "unknown", "", "", ""
		}
		for _, l := range e.nodes("evidence") {
			r.Evidence = append(r.Evidence, CatalogEvidence{l.text("path"), l.text("sha256")})
		}
		for _, w := range e.nodes("waivers") {
			r.Waivers = append(r.Waivers, CatalogWaiver{w.text("subject"), w.text("owner"), w.text("reason"), w.text("until")})
		}
		r.Claims = []CatalogClaim{}
		passed := src.passed[model.id]
		r.Core.Verified = shown(passed, checks.Checks, func(c schema.Check) bool { return slices.Contains(coreGroups(), c.Group) }, true)
		for _, c := range model.claims {
			id := c.capability.id
			r.Claims = append(r.Claims, CatalogClaim{id, c.support, c.support == "supported" &&
				shown(passed, checks.Checks, func(row schema.Check) bool { return row.Group == "capability" && row.Capability == id }, false)})
		}
		out.Providers = append(out.Providers, r)
	}
	slices.SortFunc(out.Providers, func(a, b CatalogRecord) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

// coreGroups are the groups of checks that everybody owes.
func coreGroups() []string {
	return []string{"create", "ready", "execute", "cleanup", "teardown-must-fire", "teardown-must-not-fire"}
}

// shown reports whether a run has every check that is owed, and at least one, in
// its revision of today.
func shown(passed passedByID, checks []schema.Check, owed func(schema.Check) bool, core bool) bool {
	n := 0
	for _, c := range checks {
		if !owed(c) {
			continue
		}
		n++
		got, ok := passed[c.ID]
		if !ok || got.Revision != c.Revision || got.Verdict != "passed" && !core {
			return false
		}
	}
	return n > 0
}
