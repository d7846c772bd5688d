package gate

import (
	"path"
	"slices"
	"strings"

	"github.com/agentworkforce/sbx/internal/evidence"
)

// touched adds the entries of providers that the given paths belong to: whoever
// edits an adapter, a manifest or a run hears at once what that does to the
// word "verified".
func (p *providers) touched() ([]string, error) {
	if len(p.given) == 0 {
		return nil, nil
	}
	var out []string
	seen := map[string]bool{}
	for _, name := range p.targets {
		dir := path.Dir(name)
		if seen[dir] {
			continue
		}
		seen[dir] = true
		id, err := p.idOf(name)
		if err != nil {
			return nil, err
		}
		entry := path.Join("catalog", id+".yaml")
		if id == "" || slices.Contains(p.targets, entry) || slices.Contains(out, entry) {
			continue
		}
		e, err := p.context(entry, kindCatalog)
		if err != nil {
			return nil, err
		}
		if e != nil {
			out = append(out, entry)
		}
	}
	return out, nil
}

// idOf is the provider that a file belongs to, empty when it is none's.
func (p *providers) idOf(name string) (string, error) {
	if parts := strings.Split(name, "/"); parts[0] == "evidence" {
		if len(parts) > 2 {
			return parts[1], nil
		}
		return "", nil
	}
	m, err := p.manifestAbove(path.Dir(name))
	if m == nil || err != nil {
		return "", err
	}
	return m.facts.ID.Text, nil
}

// linkedRuns are the folders of runs that entries link, among those looked at.
func (p *providers) linkedRuns() map[string]bool {
	out := map[string]bool{}
	for name, e := range p.files {
		if e == nil || e.kind != kindCatalog || !slices.Contains(p.targets, name) {
			continue
		}
		for _, l := range e.facts.Evidence {
			out[path.Dir(l.Path.Text)] = true
		}
	}
	return out
}

// records judges the runs among the targets that no entry links, and the key list.
func (p *providers) records() error {
	linked := p.linkedRuns()
	for _, name := range p.targets {
		if path.Base(name) != evidence.StatementName || !strings.HasPrefix(name, "evidence/") || linked[path.Dir(name)] {
			continue
		}
		if err := p.record(name); err != nil {
			return err
		}
	}
	if slices.Contains(p.targets, evidence.KeysFile) {
		_, err := p.keyList()
		return err
	}
	return nil
}
