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
	Levels       []checkLevel
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
	Word, Title, Anchor, Asks string
	// Owed says that every provider owes the group.
	Owed   bool
	Checks []schema.Check
}

type checkLevel struct {
	Level, Asks string
	Count       int
}

// referenceFiles renders the pages that are made from schema/ alone.
func referenceFiles(s sources) (map[string][]byte, error) {
	view, err := newReferenceView(s)
	if err != nil {
		return nil, err
	}
	files := map[string]func() ([]byte, error){}
	for _, name := range []string{"rules", "capabilities", "hazards", "metrics"} {
		files["docs/reference/"+name+".md"] = func() ([]byte, error) { return executeReference(name, view) }
	}
	for _, name := range []string{"exit-codes", "conformance"} {
		files["docs/"+name+".md"] = func() ([]byte, error) { return executeReference(name, view) }
	}
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
	v.Families = ruleFamilies(rules.Rules)
	if v.Groups, v.Levels, err = conformanceOf(checks.Checks); err != nil {
		return v, err
	}
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

// title makes a heading of a word such as "teardown-must-fire".
func title(word string) string {
	if word == "" {
		return ""
	}
	word = strings.ReplaceAll(word, "-", " ")
	return strings.ToUpper(word[:1]) + word[1:]
}
