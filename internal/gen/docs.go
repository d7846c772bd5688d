package gen

import (
	"bytes"
	"fmt"
	"path"
	"strings"
	"text/template"

	"github.com/agentworkforce/sbx/internal/gen/tree"
	"github.com/agentworkforce/sbx/templates"
)

// docs are the files of a provider that people read: scaffolded once, with
// blocks inside that stay current.
type docs struct {
	scaffold map[string][]byte
	blocks   map[string]map[string]string
	appends  map[string][]tree.Append
}

func (d docs) into(dir string, out *tree.Output) {
	out.Blocks = map[string]map[string]string{}
	for name, b := range d.scaffold {
		out.Scaffold[path.Join(dir, name)] = b
	}
	for name, blocks := range d.blocks {
		out.Blocks[path.Join(dir, name)] = blocks
	}
	for name, appends := range d.appends {
		out.Appends[path.Join(dir, name)] = append(out.Appends[path.Join(dir, name)], appends...)
	}
}

// readmeView is what the README templates may use.
type readmeView struct {
	Name, Summary, Package, Image string
	Native                        bool
	Capabilities                  []capabilityRow
	Settings                      []settingRow
	Hazards                       []hazardRow
}

type capabilityRow struct{ ID, Title, Support, Detail string }
type settingRow struct {
	Key, Env, Label, Default string
	Aliases                  []string
	Secret                   bool
}
type hazardRow struct{ ID, Summary, Mitigation, Check string }

// checklistView is what the checklist templates may use.
type checklistView struct {
	Name, ID       string
	Machine, Human []checklistItem
}

// checklistItem is one line of a checklist. Next says what to do when it is
// not done.
type checklistItem struct {
	Done       bool
	Text, Next string
}

// providerDocs renders README.md and CHECKLIST.md.
func providerDocs(m *providerModel, src adapterSource, entry entryFacts) (docs, error) {
	d := docs{scaffold: map[string][]byte{}, blocks: map[string]map[string]string{}, appends: map[string][]tree.Append{}}
	view := newReadmeView(m)
	checklist := newChecklistView(m, src, entry)
	for name, data := range map[string]any{"README.md": view, "CHECKLIST.md": checklist} {
		text, err := execute(name+".tmpl", data)
		if err != nil {
			return d, err
		}
		d.scaffold[name] = []byte(text)
	}
	facts, err := execute("facts.md.tmpl", view)
	if err != nil {
		return d, err
	}
	use := "There is no adapter yet: the manifest and the catalog entry are all there is.\n"
	if m.native() {
		if use, err = execute("use.md.tmpl", view); err != nil {
			return d, err
		}
	}
	machine, err := execute("machine.md.tmpl", checklist)
	if err != nil {
		return d, err
	}
	d.blocks["README.md"] = map[string]string{"facts": facts, "use": use}
	d.blocks["CHECKLIST.md"] = map[string]string{"machine": machine}
	d.appends["CHECKLIST.md"] = humanAppends(m)
	return d, nil
}

func execute(name string, data any) (string, error) {
	t, err := template.ParseFS(templates.FS, "provider/"+name)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = t.Execute(&out, data)
	return out.String(), err
}

func newReadmeView(m *providerModel) readmeView {
	v := readmeView{Name: m.name, Summary: m.summary, Package: m.pkg(), Image: m.image, Native: m.native()}
	for _, c := range m.claims {
		v.Capabilities = append(v.Capabilities, capabilityRow{c.capability.id, c.capability.title, c.support, cell(claimDetail(c))})
	}
	for _, s := range m.settings {
		v.Settings = append(v.Settings, settingRow{Key: s.key, Env: s.env, Label: cell(settingLabel(s)), Default: s.def, Aliases: s.aliases, Secret: s.secret})
	}
	for _, h := range m.hazards {
		v.Hazards = append(v.Hazards, hazardRow{h.id, cell(h.summary), cell(h.mitigation), h.check})
	}
	return v
}

// claimDetail says how a claim is met, or why it is not, and how that is known.
func claimDetail(c claimModel) string {
	parts := []string{}
	if c.via != "" {
		parts = append(parts, c.via)
	}
	if c.reason != "" {
		parts = append(parts, c.reason)
	}
	for _, f := range c.facts {
		if f.support != "supported" {
			parts = append(parts, f.name+": "+f.support+" ("+f.reason+")")
		}
	}
	if c.class != "" {
		parts = append(parts, c.class)
	}
	return strings.Join(parts, "; ")
}

// cell makes text safe inside a Markdown table.
func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", "\\|")
}

// Checklist returns the checklist of a provider as text: the machine's list
// computed now, and the person's list as it stands in the file.
func (p *Project) Checklist(id string) (string, error) {
	for _, m := range p.Manifests {
		if m.ID() == id {
			return p.checklistText(m)
		}
	}
	return "", fmt.Errorf("no provider %q", id)
}

// settingLabel is a setting in words; a manifest need not have any.
func settingLabel(s settingModel) string {
	if s.label != "" {
		return s.label
	}
	return s.key
}
