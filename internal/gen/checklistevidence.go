package gen

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/agentworkforce/sbx/internal/yamldoc"
)

// entryFacts are what a provider's catalog entry says, in its own absolute words.
// Whether it still holds on a day is not among them: sbxgen status answers that.
// The zero value is an entry that claims nothing, or none.
type entryFacts struct {
	verified bool
	runs     []string // paths of the linked statements
	from, to string   // verifiedAt and expiresAt
	by       string
}

// entryFacts reads the entry of a manifest, by the folder's name, which is the ID.
func (p *Project) entryFacts(m *Manifest) (entryFacts, error) {
	id := path.Base(m.Dir)
	if m.Dir == "." {
		id = m.ID()
	}
	name := path.Join("catalog", id+".yaml")
	src, err := os.ReadFile(filepath.Join(p.Root, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return entryFacts{}, nil
	}
	if err != nil {
		return entryFacts{}, err
	}
	return readEntryFacts(name, src), nil
}

func readEntryFacts(name string, src []byte) entryFacts {
	if !bytes.Contains(src, []byte("evidence")) && !bytes.Contains(src, []byte("verified")) && !bytes.Contains(src, []byte(`\`)) {
		return entryFacts{} // it claims nothing, and need not be parsed to know that
	}
	doc, found := yamldoc.Parse(name, src)
	if doc == nil || hasErrors(found) {
		return entryFacts{} // the gate has something to say about it
	}
	v, _ := doc.Value().(map[string]any)
	e := node(v)
	f := entryFacts{verified: e.text("status") == "verified", from: e.text("verifiedAt"), to: e.text("expiresAt"), by: e.text("verifiedBy")}
	for _, l := range e.nodes("evidence") {
		f.runs = append(f.runs, l.text("path"))
	}
	return f
}

// input stands for the facts among the inputs of a lock.
func (f entryFacts) input() string { return digest([]byte(fmt.Sprintf("%+v", f))) }

// evidenceItems are what the machine sees of the way from a claim to its proof.
func evidenceItems(m *providerModel, entry entryFacts) []checklistItem {
	var out []checklistItem
	add := func(done bool, text, next string) {
		if done {
			next = ""
		}
		out = append(out, checklistItem{done, text, next})
	}
	var bare []string
	for _, c := range m.supported() {
		if len(c.capability.checks) == 0 {
			bare = append(bare, c.capability.id)
		}
	}
	lacking := "no check is owed for: " + strings.Join(bare, ", ")
	if len(m.supported()) == 0 {
		lacking = "nothing is supported yet"
	}
	add(len(bare) == 0 && len(m.supported()) > 0, "every supported capability has checks that can prove it", lacking)
	file := "`catalog/" + m.id + ".yaml`"
	linked := file + " links a run"
	if len(entry.runs) > 0 {
		linked += ": `" + strings.Join(entry.runs, "`, `") + "`"
	}
	collect := fmt.Sprintf("`sbxgen conformance %[1]s` until nothing fails, then `sbxgen evidence collect %[1]s` and `sbxgen evidence sign`, which say what to write there", m.id)
	if !m.native() {
		collect = "there has to be an adapter first"
	}
	add(len(entry.runs) > 0, linked, collect)
	answered := "a person answers for it in " + file
	if entry.verified {
		answered += fmt.Sprintf(": `status: verified`, from %s until %s, by %s", entry.from, entry.to, entry.by)
	}
	add(entry.verified, answered, "after looking at the list below, write `status: verified` there; `sbxgen validate` accepts or refuses it")
	return out
}
