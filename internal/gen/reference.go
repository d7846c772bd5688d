package gen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"

	"github.com/agentworkforce/sbx/schema"
	"github.com/agentworkforce/sbx/templates"
)

// referenceView is what the reference templates may use.
type referenceView struct {
	Families     []ruleFamily
	Groups       []checkGroup
	Capabilities []schema.Capability
	Hazards      []schema.Hazard
	Metrics      []schema.Metric
	Codes        []schema.ErrorCode
	Exits        []schema.ExitCode
}

type ruleFamily struct {
	Title string
	Rules []schema.Rule
}

type checkGroup struct {
	Title  string
	Checks []schema.Check
}

// referenceFiles renders the pages that are made from schema/ alone.
func referenceFiles(s sources) (map[string][]byte, error) {
	view, err := newReferenceView(s)
	if err != nil {
		return nil, err
	}
	files := map[string]func() ([]byte, error){}
	for _, name := range []string{"rules", "capabilities", "hazards", "checks", "metrics"} {
		files["docs/reference/"+name+".md"] = func() ([]byte, error) { return executeReference(name, view) }
	}
	files["docs/exit-codes.md"] = func() ([]byte, error) { return executeReference("exit-codes", view) }
	return renderAll(files)
}

func executeReference(name string, view referenceView) ([]byte, error) {
	t, err := template.ParseFS(templates.FS, "reference/"+name+".md.tmpl")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, view)
	return out.Bytes(), err
}

func newReferenceView(s sources) (referenceView, error) {
	var v referenceView
	vocabulary, err := schema.LoadVocabulary(s.provider, s.contract)
	if err != nil {
		return v, err
	}
	v.Capabilities = vocabulary.Capabilities
	errors, err := loadErrors(s.errors)
	if err != nil {
		return v, err
	}
	v.Codes, v.Exits = errors.Codes, errors.Exits
	var rules struct{ Rules []schema.Rule }
	var checks struct{ Checks []schema.Check }
	var hazards struct{ Hazards []schema.Hazard }
	var metrics struct{ Metrics []schema.Metric }
	for name, dst := range map[string]any{"rules.json": &rules, "checks.json": &checks, "hazards.json": &hazards, "metrics.json": &metrics} {
		if err := json.Unmarshal(s.data[name], dst); err != nil {
			return v, fmt.Errorf("%s: %w", name, err)
		}
	}
	v.Hazards, v.Metrics = hazards.Hazards, metrics.Metrics
	v.Families, v.Groups = ruleFamilies(rules.Rules), checkGroups(checks.Checks)
	for i := range v.Hazards {
		v.Hazards[i].Doc = cell(v.Hazards[i].Doc)
	}
	return v, nil
}

func ruleFamilies(rules []schema.Rule) []ruleFamily {
	var out []ruleFamily
	for _, r := range rules {
		if len(out) == 0 || out[len(out)-1].Title != title(r.Family) {
			out = append(out, ruleFamily{Title: title(r.Family)})
		}
		out[len(out)-1].Rules = append(out[len(out)-1].Rules, r)
	}
	return out
}

func checkGroups(checks []schema.Check) []checkGroup {
	var out []checkGroup
	at := map[string]int{}
	for _, c := range checks {
		i, ok := at[c.Group]
		if !ok {
			i = len(out)
			at[c.Group] = i
			out = append(out, checkGroup{Title: title(c.Group)})
		}
		c.Sentence = cell(c.Sentence)
		out[i].Checks = append(out[i].Checks, c)
	}
	return out
}

// title makes a heading of a word such as "teardown-must-fire".
func title(word string) string {
	if word == "" {
		return ""
	}
	word = strings.ReplaceAll(word, "-", " ")
	return strings.ToUpper(word[:1]) + word[1:]
}
