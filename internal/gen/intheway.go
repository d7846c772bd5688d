package gen

import (
	"path"
	"slices"

	"github.com/agentworkforce/sbx/internal/diag"
)

// InTheWay returns those of the findings of Load that stand in the way of working
// on the providers named, and of making a new one when none is: mistakes in the
// manifests and catalog entries of others do not. One that is named and was not
// loaded may be any of those with a mistake, so that all findings are returned.
func (p *Project) InTheWay(found []diag.Diagnostic, ids ...string) []diag.Diagnostic {
	names, dirs := slices.Clone(ids), []string{}
	for i := 0; i < len(names); i++ { // grows by the bases
		m := p.manifest(names[i])
		if m == nil && i < len(ids) {
			return found
		}
		if m == nil {
			continue // a base that was not loaded is known by the name of its folder
		}
		dirs = append(dirs, m.Dir)
		if base := m.base(); base != "" && !slices.Contains(names, base) {
			names = append(names, base)
		}
	}
	return slices.DeleteFunc(slices.Clone(found), func(d diag.Diagnostic) bool {
		dir, name := path.Split(d.File)
		dir = path.Clean(dir)
		switch {
		case name == ManifestName:
			return !slices.Contains(dirs, dir) && !slices.Contains(names, path.Base(dir))
		case dir == "catalog" && path.Ext(name) == ".yaml":
			return !slices.Contains(names, name[:len(name)-len(".yaml")])
		}
		return false
	})
}

func (p *Project) manifest(id string) *Manifest {
	if i := slices.IndexFunc(p.Manifests, func(m *Manifest) bool { return m.ID() == id }); i >= 0 {
		return p.Manifests[i]
	}
	return nil
}
