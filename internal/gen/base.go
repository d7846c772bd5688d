package gen

import (
	"bytes"
	"context"
	"os/exec"
	"path"
	"path/filepath"
)

// baseModel finds the provider that another one builds on: in this module, or
// in the sbx module that this module requires.
func (p *Project) baseModel(id string) (*providerModel, bool) {
	v, module, dir, ok := p.baseManifest(id)
	if !ok {
		return nil, false
	}
	return newProviderModel(v, p.vocab, module, dir), true
}

// baseManifest is the manifest of that provider, with the module and the folder
// that hold it.
func (p *Project) baseManifest(id string) (v map[string]any, module, dir string, ok bool) {
	for _, m := range p.Manifests {
		if m.ID() == id {
			return m.value(), p.Module, m.Dir, true
		}
	}
	if p.InTree {
		return nil, "", "", false
	}
	root := p.sbxDir
	if root == "" {
		var err error
		if root, err = requiredModuleDir(p.Root); err != nil {
			return nil, "", "", false
		}
	}
	dir = path.Join("providers", id)
	src, err := readLimited(filepath.Join(root, filepath.FromSlash(dir), ManifestName))
	if err != nil {
		return nil, "", "", false
	}
	v = newManifest(dir, src).value()
	return v, modulePath, dir, len(v) > 0
}

// adapterOf is baseManifest of a provider that has an adapter.
func (p *Project) adapterOf(id string) (map[string]any, bool) {
	v, _, _, ok := p.baseManifest(id)
	return v, ok && node(v).node("adapter").text("kind") != "none"
}

// requiredModuleDir asks the go command where the sbx module is that the
// module at root builds with.
func requiredModuleDir(root string) (string, error) {
	cmd := exec.CommandContext(context.Background(), "go", "list", "-m", "-f", "{{.Dir}}", modulePath)
	cmd.Dir = root
	out, err := cmd.Output()
	return string(bytes.TrimSpace(out)), err
}
