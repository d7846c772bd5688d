package gen

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/schema"
)

// baseModel finds the provider that another one builds on: in this module, or
// in the sbx module that this module requires.
func (p *Project) baseModel(id string) (*providerModel, bool) {
	v, module, dir, ok := p.baseManifest(id)
	if !ok {
		return nil, false
	}
	return newProviderModel(v, p.vocab(), module, dir), true
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

// BaseError says that an adapter cannot be scaffolded: its base was not found,
// in this module or in the sbx module that it requires.
type BaseError struct{ Base, Module string }

// Error names the base, and what to do where the sbx module is not required yet.
func (e *BaseError) Error() string {
	text := fmt.Sprintf("adapter.base %q is not a provider of this module or of %s", e.Base, modulePath)
	if e.Module != modulePath {
		text += "; run `go get " + modulePath + "@latest` first if it is one of that module"
	}
	return text
}

// The rules about adapter.base, which the gate reports too.
const (
	ruleNoBase     = "SBX147"
	ruleBaseCircle = "SBX148"
)

// wrongBases finds manifests whose base goes in a circle, or is not there when an
// adapter has to be written on top of it. Manifests as they were when their files
// were generated are not asked: then it was right, and a circle that came about
// since goes through one that changed.
func (p *Project) wrongBases() []diag.Diagnostic {
	var out []diag.Diagnostic
	for _, m := range p.Manifests {
		if !m.checked || m.base() == "" {
			continue
		}
		circle := schema.BaseCircle(m.ID(), func(id string) string {
			v, _, _, _ := p.baseManifest(id)
			return node(v).node("adapter").text("base")
		})
		rule, message := ruleBaseCircle, "the base goes in a circle: "+strings.Join(circle, " -> ")
		if circle == nil {
			v, _, _, there := p.baseManifest(m.base())
			if there && node(v).node("adapter").text("kind") != "none" || !there && !p.InTree {
				continue // one of the sbx module's, as far as is known; the compiler knows
			}
			rule, message = ruleNoBase, "there is no provider "+strconv.Quote(m.base())+" with an adapter to build on"
		}
		doc, _ := m.doc()
		_, at := doc.Pos("/adapter/base")
		out = append(out, diag.Diagnostic{File: m.Path, Rule: rule, Message: message, Next: "sbxgen explain " + rule}.At(at))
	}
	return out
}

func (m *Manifest) base() string { return m.value().node("adapter").text("base") }

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
