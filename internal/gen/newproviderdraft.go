package gen

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/schemacheck"
	"github.com/agentworkforce/sbx/internal/secretscan"
	"github.com/agentworkforce/sbx/internal/yamldoc"
)

// Draft is a provider manifest that is being put together from answers. The
// answers have the form of the manifest, whoever gives them: flags, a file or a
// person in a terminal. A Draft is used by one goroutine.
type Draft struct {
	project   *Project
	root      *object // the provider schema
	checker   *schemacheck.Checker
	questions []Question
	value     map[string]any
	from      *yamldoc.Doc // what Read was given
	changed   bool         // whether an answer was given after Read
}

// AnswerError says that an answer cannot stand in a manifest.
type AnswerError struct {
	Question Question
	Answer   string
	Reason   string
}

// Error names the question, the answer and the reason.
func (e *AnswerError) Error() string {
	name := "--" + e.Question.Flag
	if e.Question.Flag == "" {
		name = "ID"
	}
	return fmt.Sprintf("%s %q: %s", name, e.Answer, e.Reason)
}

// NewDraft starts a manifest without answers.
func (p *Project) NewDraft() (*Draft, error) {
	root, err := parseOrdered(p.src.provider)
	if err != nil {
		return nil, err
	}
	checker, err := schemacheck.New("provider.schema.json", p.src.provider)
	if err != nil {
		return nil, err
	}
	vocab, err := p.vocabulary()
	if err != nil {
		return nil, err
	}
	return &Draft{project: p, root: root, checker: checker, questions: providerQuestions(root, vocab), value: map[string]any{}}, nil
}

// Questions returns what can be asked, in order.
func (d *Draft) Questions() []Question { return d.questions }

// Read takes the answers of a whole or partial manifest. It returns what is
// wrong with them at their place; what is missing is not wrong yet.
func (d *Draft) Read(doc *yamldoc.Doc) ([]diag.Diagnostic, error) {
	found, err := d.wrong(doc)
	if err != nil {
		return nil, err
	}
	if found = append(found, secretsIn(doc)...); len(found) > 0 {
		return found, nil
	}
	d.value, _ = clone(doc.Value()).(map[string]any)
	d.from, d.changed = doc, false
	return nil, nil
}

// wrong returns what the schema refuses in doc, missing properties aside.
func (d *Draft) wrong(doc *yamldoc.Doc) ([]diag.Diagnostic, error) {
	findings, err := d.checker.Findings(doc)
	if err != nil {
		return nil, err
	}
	var out []diag.Diagnostic
	for i := range findings {
		if findings[i].Kind != schemacheck.KindMissingProperty {
			out = append(out, findings[i].Diagnostic(doc))
		}
	}
	return out, nil
}

// Answered reports whether there is an answer to a question.
func (d *Draft) Answered(q Question) bool {
	_, ok := lookup(d.value, q.Path)
	return ok
}

// Current returns the answer to a question as words, none when there is none.
func (d *Draft) Current(q Question) []string {
	v, ok := lookup(d.value, q.Path)
	if !ok {
		return nil
	}
	claims, ok := v.(map[string]any)
	if !ok {
		return []string{scalarText(v)}
	}
	var out []string
	for _, o := range q.Options {
		if _, ok := claims[o.Word]; ok {
			out = append(out, o.Word)
		}
	}
	return out
}

// Check reports whether words can be the answer to a question, the other
// answers aside. The error is an *AnswerError, or says that the check itself failed.
func (d *Draft) Check(q Question, words ...string) error {
	if q.Many {
		return d.checkMany(q, words)
	}
	answer := ""
	if len(words) > 0 {
		answer = strings.TrimSpace(words[0])
	}
	if answer == "" {
		if q.Required {
			return &AnswerError{q, answer, "an answer is needed"}
		}
		return nil
	}
	if c, ok := yamldoc.Forbidden(answer); ok {
		return &AnswerError{q, strconv.QuoteToASCII(answer), fmt.Sprintf("character U+%04X is not accepted", c)}
	}
	if found := secretscan.Scan([]byte(answer), secretscan.Options{Entropy: true}); len(found) > 0 {
		return &AnswerError{q, "(hidden)", found[0].What + "; only names belong here, never values"}
	}
	probe := map[string]any{}
	store(probe, q.Path, answer)
	doc, err := document(probe)
	if err != nil {
		return err
	}
	found, err := d.wrong(doc)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return &AnswerError{q, answer, refusal(q, found[0])}
	}
	if strings.Join(q.Path, ".") == "adapter.base" {
		if _, ok := d.project.adapterOf(answer); !ok {
			return d.noBase(answer)
		}
	}
	return nil
}

// refusal says in words what the schema has against an answer.
func refusal(q Question, found diag.Diagnostic) string {
	reason := found.Message
	if len(q.Options) > 0 {
		reason = "is not one of " + strings.Join(optionWords(q), ", ")
	}
	switch {
	case found.Suggestion != "":
		reason += "; did you mean " + strings.Trim(found.Suggestion, `"`) + "?"
	case len(q.Options) == 0 && found.Help != "":
		reason += ". " + found.Help
	}
	return reason
}

func optionWords(q Question) []string {
	var out []string
	for _, o := range q.Options {
		out = append(out, o.Word)
	}
	return out
}

func (d *Draft) checkMany(q Question, words []string) error {
	offered := optionWords(q)
	for _, w := range words {
		if slices.Contains(offered, w) {
			continue
		}
		reason := "there is no such capability; one of " + strings.Join(offered, ", ")
		if near := diag.Suggest(w, offered); near != "" {
			reason = "there is no such capability; did you mean " + near + "?"
		}
		for _, c := range d.project.vocab().capabilities {
			if c.id == w {
				reason = "this name is reserved: no adapter can have it yet"
			}
		}
		return &AnswerError{q, w, reason}
	}
	return nil
}

// Answer checks an answer and takes it. No words, or an empty one, take back
// what was answered.
func (d *Draft) Answer(q Question, words ...string) error {
	if err := d.Check(q, words...); err != nil {
		return err
	}
	if slices.Equal(d.Current(q), words) {
		return nil
	}
	d.changed = true
	if q.Many {
		d.chooseCapabilities(q, words)
		return nil
	}
	answer := ""
	if len(words) > 0 {
		answer = strings.TrimSpace(words[0])
	}
	if answer == "" {
		remove(d.value, q.Path)
		return nil
	}
	store(d.value, q.Path, answer)
	return nil
}

// chooseCapabilities states every chosen capability as unknown: it becomes
// supported when somebody has written it. What was stated already stays.
func (d *Draft) chooseCapabilities(q Question, words []string) {
	old, _ := d.value["capabilities"].(map[string]any)
	claims := map[string]any{}
	properties := d.root.object("$defs").object("capabilities").object("properties")
	for id, claim := range old {
		if slices.Contains(words, id) || !slices.ContainsFunc(q.Options, func(o Option) bool { return o.Word == id }) {
			claims[id] = claim
		}
	}
	for _, id := range words {
		if claims[id] == nil {
			claims[id] = d.planned(properties.object(id))
		}
	}
	d.value["capabilities"] = claims
}

// planned is the claim of a capability that somebody means to write.
func (d *Draft) planned(n *object) map[string]any {
	n = (&yamlWriter{schema: d.root}).resolve(n)
	properties := n.object("properties")
	if has(properties, "support") {
		return map[string]any{"support": "unknown", "reason": d.plannedReason()}
	}
	out := map[string]any{}
	for _, name := range n.strings("required") {
		out[name] = d.planned(properties.object(name))
	}
	return out
}

func (d *Draft) plannedReason() string {
	if base, ok := lookup(d.value, []string{"adapter", "base"}); ok {
		return "planned: see that what " + scalarText(base) + " does holds here, then change this to supported"
	}
	return "planned: write the methods, then change this to supported"
}

// Missing returns the required questions without an answer, in order.
func (d *Draft) Missing() []Question {
	var out []Question
	for _, q := range d.questions {
		if q.Required && !d.Answered(q) && q.Default == "" {
			out = append(out, q)
		}
	}
	return out
}

// ID is the answer to the first question, empty when there is none.
func (d *Draft) ID() string {
	return node(d.value).text("id")
}

// Answers returns the answers so far as YAML in the form of the manifest, to be
// read again.
func (d *Draft) Answers() []byte { return []byte(manifestYAML(d.root, d.value, "")) }

// schemaLine is what the editor line on top of a manifest says: the schema as
// a relative path in the sbx module, its address elsewhere.
func (p *Project) schemaLine(dir string, root *object) string {
	if !p.InTree {
		return root.string("$id")
	}
	return path.Join(strings.Repeat("../", strings.Count(path.Clean(dir), "/")+1), "schema/provider.schema.json")
}
