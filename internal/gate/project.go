package gate

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/evidence"
	"github.com/agentworkforce/sbx/schema"
)

// project runs the rules about several files and about time.
func (r *run) project(ctx context.Context) error {
	p, err := r.newProviders(ctx)
	if err != nil {
		return err
	}
	more, err := p.touched()
	if err != nil {
		return err
	}
	for _, name := range slices.Concat(r.targets, more) {
		e := r.files[name]
		switch e.kind {
		case kindManifest:
			r.days(name, e)
			if err := p.manifest(name, e); err != nil {
				return err
			}
		case kindCatalog:
			r.entryTimes(name, e)
			if err := p.entry(name, e); err != nil {
				return err
			}
		case kindGo:
			if err := p.code(name, e); err != nil {
				return err
			}
		}
	}
	if len(r.given) == 0 {
		p.unlinked()
	}
	return p.records()
}

// providers looks providers up by ID: among the targets, beside them, and at
// last in the whole tree.
type providers struct {
	*run
	ctx    context.Context
	byID   map[string]string // ID -> path of the manifest
	walked bool
	module func() string // path of the module at the root, empty when there is none

	keys     *evidence.Keys
	keysRead bool
}

func (r *run) newProviders(ctx context.Context) (*providers, error) {
	p := &providers{run: r, ctx: ctx, byID: map[string]string{}, walked: len(r.given) == 0, module: sync.OnceValue(r.modulePath)}
	for _, name := range r.targets {
		if e := r.files[name]; e.kind == kindManifest {
			p.note(name, e)
		}
	}
	return p, ctx.Err()
}

// sbxModule is the module whose providers other modules may build on.
const sbxModule = "github.com/agentworkforce/sbx"

// modulePath reads the module line of the root's go.mod.
func (r *run) modulePath() string {
	src, err := os.ReadFile(filepath.Join(r.root, "go.mod"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(src)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "module "); ok {
			return strings.Trim(strings.TrimSpace(rest), `"`)
		}
	}
	return ""
}

// note files a manifest under its ID; a second one with the same ID is reported.
func (p *providers) note(name string, e *examined) {
	id := e.facts.ID
	if id.Text == "" {
		return
	}
	first, taken := p.byID[id.Text]
	if !taken {
		p.byID[id.Text] = name
		return
	}
	if first != name && slices.Contains(p.targets, name) {
		d := diag.Diagnostic{File: name, Rule: ruleDuplicateID, Message: "another provider has the id " + quote(id.Text),
			Related: []diag.Related{{File: first, Span: p.files[first].facts.ID.At, Message: "the first is here"}}}
		p.add(d.At(id.At))
	}
}

// find returns the manifest with an ID and its path; nil when there is none.
// Near is a manifest whose neighbours are looked at first.
func (p *providers) find(id, near string) (string, *examined, error) {
	if name, ok := p.byID[id]; ok {
		return name, p.files[name], nil
	}
	if id == "" || strings.ContainsAny(id, `/\.`) {
		return "", nil, nil
	}
	for _, dir := range []string{path.Join(path.Dir(path.Dir(near)), id), path.Join("providers", id)} {
		name := path.Join(dir, ManifestName)
		e, err := p.context(name, kindManifest)
		if err != nil {
			return "", nil, err
		}
		if e != nil && e.facts.ID.Text == id {
			p.note(name, e)
			return name, e, nil
		}
	}
	if p.walked {
		return "", nil, nil
	}
	p.walked = true
	all, err := p.tree(p.ctx, ".")
	if err != nil {
		return "", nil, err
	}
	for _, t := range all {
		if t.kind != kindManifest {
			continue
		}
		e, err := p.context(t.name, kindManifest)
		if err != nil {
			return "", nil, err
		}
		if e != nil {
			p.note(t.name, e)
		}
	}
	return p.find(id, near)
}

func (p *providers) ids() []string {
	var out []string
	for id := range p.byID {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// manifest runs the rules about a manifest and what it refers to.
func (p *providers) manifest(name string, e *examined) error {
	f := e.facts
	if f.Base.Text != "" {
		if err := p.base(name, f); err != nil {
			return err
		}
	}
	if f.Lock.Path.Text != "" && f.Lock.SHA256.Text != "" {
		if err := p.lock(name, f.Lock); err != nil {
			return err
		}
	}
	if err := p.adapter(name, f); err != nil {
		return err
	}
	if folder := path.Base(path.Dir(name)); !p.entries || f.ID.Text != folder && folder != "." {
		return nil // a wrong id is reported as such
	}
	_, err := os.Stat(filepath.Join(p.root, "catalog", f.ID.Text+".yaml"))
	if os.IsNotExist(err) {
		p.at(name, ruleNoEntry, f.ID.At, "there is no catalog/"+f.ID.Text+".yaml").Help =
			`write one: {provider: ` + f.ID.Text + `, status: unknown, reason: "what is missing to verify it"}`
		err = nil
	}
	return err
}

// adapter reports a native provider that was generated and has no Go file of its
// own: its driver does not compile without the adapter. One that was never
// generated is another matter.
func (p *providers) adapter(name string, f facts) error {
	dir := path.Dir(name)
	if f.Kind != "native" {
		return nil
	}
	entries, err := os.ReadDir(filepath.Join(p.root, filepath.FromSlash(dir)))
	if err != nil {
		return err
	}
	generated := false
	for _, e := range entries {
		switch file := e.Name(); {
		case e.IsDir(), path.Ext(file) != ".go", strings.HasSuffix(file, "_test.go"):
		case strings.HasPrefix(file, "zz_generated_"):
			generated = true
		default:
			return nil
		}
	}
	if generated {
		p.at(name, ruleAdapterGone, f.ID.At, "the adapter is missing: "+quote(path.Join(dir, "adapter.go"))+" is not there, nor another Go file by hand").Help =
			"restore it, or run sbxgen generate, which scaffolds it again with every method unwritten"
	}
	return nil
}

// at reports a finding at a known place.
func (r *run) at(file, rule string, at diag.Span, message string) *diag.Diagnostic {
	r.add(diag.Diagnostic{File: file, Rule: rule, Message: message}.At(at))
	return &r.found[len(r.found)-1]
}

// base follows adapter.base to its end.
func (p *providers) base(name string, f facts) error {
	baseName, base, err := p.find(f.Base.Text, name)
	if err != nil {
		return err
	}
	if base == nil {
		if m := p.run.modulePath(); m != "" && m != sbxModule {
			return nil // it may be one of the sbx module's; the compiler knows
		}
		p.at(name, ruleNoBase, f.Base.At, "there is no provider "+quote(f.Base.Text)).Suggestion = diag.Suggest(f.Base.Text, p.ids())
		return nil
	}
	if base.facts.Kind == "none" {
		p.at(name, ruleNoBase, f.Base.At, "provider "+quote(f.Base.Text)+" has no adapter to build on: its adapter.kind is none")
		return nil
	}
	if weaker(f.Isolation.Text, base.facts.Isolation.Text) {
		d := p.at(name, ruleIsolation, f.Isolation.At, "isolation is "+f.Isolation.Text+", and that of its base "+f.Base.Text+" is "+base.facts.Isolation.Text)
		d.Related = []diag.Related{{File: baseName, Span: base.facts.Isolation.At, Message: "the base"}}
	}
	circle := schema.BaseCircle(f.ID.Text, func(id string) string {
		_, e, failed := p.find(id, name)
		if err = errors.Join(err, failed); e == nil {
			return ""
		}
		return e.facts.Base.Text
	})
	if circle != nil {
		p.at(name, ruleBaseCircle, f.Base.At, "the base goes in a circle: "+strings.Join(circle, " -> "))
	}
	return err
}

// weaker reports whether isolation a holds back less than b; unknown words are
// not compared.
func weaker(a, b string) bool {
	order := []string{"none", "process", "container", "user-kernel", "vm"}
	i, j := slices.Index(order, a), slices.Index(order, b)
	return i >= 0 && j >= 0 && i < j
}
