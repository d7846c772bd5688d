package gen

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentworkforce/sbx/internal/gen/tree"
)

// newChecklistView puts the lists together. What the machine lists follows from
// the provider's folder and its catalog entry alone, dates as they are written
// there, so that the file does not change by itself: whether a run still counts
// today is not in it.
func newChecklistView(m *providerModel, src adapterSource, entry entryFacts) checklistView {
	return checklistView{Name: m.name, ID: m.id, Machine: append(machineItems(m, src), evidenceItems(m, entry)...), Human: humanItems(m)}
}

// machineItems are the items that follow from the provider's folder.
func machineItems(m *providerModel, src adapterSource) []checklistItem {
	var out []checklistItem
	add := func(done bool, text, next string) {
		if done {
			next = ""
		}
		out = append(out, checklistItem{done, text, next})
	}
	var unknown, facts []string
	for _, c := range m.claims {
		if c.support == "unknown" {
			unknown = append(unknown, c.capability.id)
		}
	}
	for _, f := range []struct{ name, value string }{
		{"isolation", m.isolation}, {"egress.control", m.egress}, {"lifecycle.goneProof", m.goneProof},
		{"labels.encoding", m.labels.encoding}, {"labels.filter", m.labels.filter}} {
		if f.value == "unknown" {
			facts = append(facts, f.name)
		}
	}
	add(len(unknown) == 0, "every capability in provider.yaml is settled", "still unknown: "+strings.Join(unknown, ", "))
	add(len(facts) == 0, "every fact that callers depend on is known", "still unknown: "+strings.Join(facts, ", "))
	add(len(m.hazards) > 0, "known hazards are listed, each with the check that proves its answer", "add hazards[] to provider.yaml; `sbxgen explain` lists the IDs")
	add(m.goneProof != "none" && m.goneProof != "unknown", "absence after destroy can be verified", "without it a destroy ends at acknowledged and the provider can never be verified")
	if !m.native() {
		add(false, "there is an adapter", "adapter.kind is "+m.kind)
		return out
	}
	done, next := writtenOut(src)
	add(done, "no method of the adapter answers not_implemented", next)
	return out
}

// writtenOut reports whether every method is known to be written, and else what
// stands against it.
func writtenOut(src adapterSource) (done bool, next string) {
	switch {
	case src.absent:
		return false, "unknown, because there is no adapter.go; restore it, or `sbxgen generate` scaffolds it again"
	case len(src.unparsed) > 0:
		return false, "unknown, because " + strings.Join(src.unparsed, ", ") + " does not parse; `go vet` names the line"
	case len(src.unwritten) > 0:
		return false, "to write: " + strings.Join(src.unwritten, ", ")
	}
	return true, ""
}

// humanItems are what only a person can judge.
func humanItems(m *providerModel) []checklistItem {
	items := []checklistItem{
		{Text: "Each `from` in provider.yaml was opened and says what the value claims, on the date given."},
		{Text: "The vendor's error codes map to the right codes in the adapter's one table; what is unmapped stays unknown."},
		{Text: "What a delete really leaves behind at the vendor (images, volumes, snapshots, addresses) is in hazards or cleaned up."},
	}
	for _, c := range m.supported() {
		items = append(items, checklistItem{Text: capabilityQuestion(c.capability)})
	}
	return items
}

func capabilityQuestion(c capability) string {
	return fmt.Sprintf("`%s`: the vendor's own words support the semantics that provider.yaml states.", c.id)
}

// humanAppends adds the question of a capability that became supported after
// the checklist was made.
func humanAppends(m *providerModel) []tree.Append {
	var out []tree.Append
	for _, c := range m.supported() {
		text := "- [ ] " + capabilityQuestion(c.capability)
		out = append(out, tree.Append{Key: "capability." + c.capability.id, Text: text + "\n",
			Present: func(content []byte) bool {
				return bytes.Contains(content, []byte(capabilityQuestion(c.capability)))
			}})
	}
	return out
}

func (p *Project) checklistText(m *Manifest) (string, error) {
	src, err := readAdapterSource(filepath.Join(p.Root, filepath.FromSlash(m.Dir)))
	if err != nil {
		return "", err
	}
	src.absent = !src.exists // as it is now, which generate would change
	if _, err := p.vocabulary(); err != nil {
		return "", err
	}
	entry, err := p.entryFacts(m)
	if err != nil {
		return "", err
	}
	model := p.model(m)
	view := newChecklistView(model, src, entry)
	file := filepath.Join(p.Root, filepath.FromSlash(path.Join(m.Dir, "CHECKLIST.md")))
	current, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	lines := strings.Split(string(current), "\n")
	for i, item := range view.Human {
		view.Human[i].Done = slices.Contains(lines, "- [x] "+item.Text)
	}
	machine, err := execute("machine.md.tmpl", view)
	if err != nil {
		return "", err
	}
	human, err := execute("human.md.tmpl", view)
	return "# Checklist of " + model.name + "\n\n## Checked by the machine\n\n" + machine + "\n## Looked at by a person\n\n" + human, err
}
