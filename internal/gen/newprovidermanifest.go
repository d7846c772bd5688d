package gen

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/yamldoc"
)

// notEstablished is the reason of every fact that a new manifest does not know.
const notEstablished = "not established yet"

// Manifest returns provider.yaml for the folder dir with everything that was
// not answered unknown, and what is wrong with it. A whole manifest that was
// read and not changed is returned as it was, its comments with it.
func (d *Draft) Manifest(dir string) ([]byte, []diag.Diagnostic, error) {
	value, _ := clone(d.value).(map[string]any)
	whole := d.from != nil && !d.changed && len(d.checker.Validate(d.from)) == 0
	if whole && !bytes.HasPrefix(bytes.TrimSpace(d.from.Source()), []byte("{")) {
		return d.from.Source(), nil, nil
	}
	if !whole {
		if err := d.copyBase(value); err != nil {
			return nil, nil, err
		}
		d.fill(d.root, value)
	}
	text := d.text(value, dir)
	doc, found := yamldoc.Parse(ManifestName, text)
	if doc == nil || hasErrors(found) {
		return nil, found, nil
	}
	if !reflect.DeepEqual(doc.Value(), normal(value)) {
		return nil, nil, fmt.Errorf("the manifest written does not say what was answered")
	}
	found, err := d.inSource(doc)
	return text, found, err
}

// inSource returns what is wrong with doc, at its place in the file the answers
// were read from. Answers given otherwise have no place.
func (d *Draft) inSource(doc *yamldoc.Doc) ([]diag.Diagnostic, error) {
	findings, err := d.checker.Findings(doc)
	if err != nil {
		return nil, err
	}
	var out []diag.Diagnostic
	for i := range findings {
		f := findings[i].Diagnostic(doc).At(diag.Span{})
		f.File = ""
		if d.from != nil {
			f.File = d.from.Name()
			key, value := d.from.Pos(d.from.Nearest(findings[i].Pointer))
			if key.IsZero() {
				key = value
			}
			f = f.At(key)
		}
		out = append(out, f)
	}
	return out, nil
}

// text renders value and lists what it does not state.
func (d *Draft) text(value map[string]any, dir string) []byte {
	text := manifestYAML(d.root, value, d.project.schemaLine(dir, d.root))
	var sections, capabilities []string
	for _, key := range d.root.object("properties").keys {
		if _, ok := value[key]; !ok {
			sections = append(sections, key)
		}
	}
	claims, _ := value["capabilities"].(map[string]any)
	for _, c := range d.project.vocab().capabilities {
		if _, ok := claims[c.id]; !ok {
			capabilities = append(capabilities, c.id)
		}
	}
	return []byte(text + unstated("Capabilities that are not stated, and so unknown", capabilities) +
		unstated("Sections that can be added", sections))
}

func unstated(what string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "\n# " + strings.Join(wrap(what+": "+strings.Join(names, ", ")+".", yamlWidth-2), "\n# ") + "\n"
}

// copyBase takes over how the base provider is configured, so that its adapter
// can be opened with the same settings. What was answered stays.
func (d *Draft) copyBase(value map[string]any) error {
	id := node(value).node("adapter").text("base")
	if id == "" {
		return nil
	}
	base, ok := d.project.adapterOf(id)
	if !ok {
		return d.noBase(id)
	}
	for _, key := range []string{"credentialSets", "config", "ambient", "endpoints"} {
		if _, ok := value[key]; ok {
			continue
		}
		if v, ok := base[key]; ok {
			value[key] = withoutSources(clone(v))
		}
	}
	return nil
}

func (d *Draft) noBase(id string) error {
	reason := "there is no such provider here"
	if _, _, _, ok := d.project.baseManifest(id); ok {
		reason = "it has no adapter to build on"
	}
	return &AnswerError{d.question("adapter", "base"), id, reason + d.basesHint()}
}

func (d *Draft) basesHint() string {
	var known []string
	for _, m := range d.project.Manifests {
		if d.project.model(m).native() {
			known = append(known, m.ID())
		}
	}
	if len(known) == 0 {
		return ""
	}
	return "; known: " + strings.Join(known, ", ")
}

func (d *Draft) question(path ...string) Question {
	i := slices.IndexFunc(d.questions, func(q Question) bool { return slices.Equal(q.Path, path) })
	if i < 0 {
		return Question{Path: path, Flag: path[len(path)-1]}
	}
	return d.questions[i]
}

// withoutSources drops references to provenance, which is the other manifest's.
func withoutSources(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "from")
		for _, e := range v {
			withoutSources(e)
		}
	case []any:
		for _, e := range v {
			withoutSources(e)
		}
	}
	return v
}

// fill adds what a manifest has and value lacks: constants, defaults, empty
// lists where a list is required, and unknown for every fact, so that each has
// its place.
func (d *Draft) fill(n *object, value map[string]any) {
	properties := n.object("properties")
	if properties == nil {
		return
	}
	required := n.strings("required")
	w := &yamlWriter{schema: d.root}
	for _, key := range properties.keys {
		child := w.resolve(properties.object(key))
		if have, ok := value[key]; ok {
			if m, isMap := have.(map[string]any); isMap {
				d.fill(child, m)
			}
			continue
		}
		if v, ok := d.initial(child, slices.Contains(required, key)); ok {
			value[key] = v
		}
	}
}

// isFact reports whether n is a fact: a value with its source, or unknown.
func (d *Draft) isFact(n *object) bool {
	return slices.ContainsFunc(n.array("oneOf"), func(alt any) bool {
		o, ok := alt.(*object)
		return ok && o.string("$ref") == "#/$defs/unknown"
	})
}

// initial is what a property starts as; false when it stays out, be it that
// only an answer can say or that nothing has to.
func (d *Draft) initial(n *object, needed bool) (any, bool) {
	switch {
	case d.isFact(n):
		return map[string]any{"unknown": notEstablished}, true
	case has(n, "properties"):
		m := map[string]any{}
		d.fill(n, m)
		for _, key := range n.strings("required") {
			if _, ok := m[key]; !ok {
				return nil, false
			}
		}
		return m, needed || len(m) > 0
	case !needed:
		return nil, false
	case has(n, "const"):
		return n.get("const"), true
	case has(n, "default"):
		return n.get("default"), true
	case n.string("type") == "array" && !has(n, "minItems"):
		return []any{}, true
	}
	return nil, false
}

// normal gives a value the types that yamldoc reads.
func normal(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = normal(e)
		}
	case []any:
		for i, e := range v {
			v[i] = normal(e)
		}
	case int:
		return int64(v)
	}
	return v
}
