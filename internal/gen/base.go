package gen

import (
	"bytes"
	"context"
	"os/exec"
	"path"
)

// baseModel finds the provider that another one builds on: in this module, or
// in the sbx module that this module requires.
func (p *Project) baseModel(id string) (*providerModel, bool) {
	for _, m := range p.Manifests {
		if m.ID() == id {
			return p.model(m), true
		}
	}
	if p.InTree {
		return nil, false
	}
	dir := path.Join("providers", id)
	root, err := requiredModuleDir(p.Root)
	if err != nil {
		return nil, false
	}
	m, found, err := readManifest(root, dir)
	if err != nil || hasErrors(found) {
		return nil, false
	}
	v, _ := m.Doc.Value().(map[string]any)
	return newProviderModel(v, p.vocab, modulePath, dir), true
}

// requiredModuleDir asks the go command where the sbx module is that the
// module at root builds with.
func requiredModuleDir(root string) (string, error) {
	cmd := exec.CommandContext(context.Background(), "go", "list", "-m", "-f", "{{.Dir}}", modulePath)
	cmd.Dir = root
	out, err := cmd.Output()
	return string(bytes.TrimSpace(out)), err
}
