package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentworkforce/sbx/schema"
)

// topic is one thing that can be explained.
type topic struct {
	Kind  string `json:"kind"` // rule, capability, hazard, check, metric or manifest key
	ID    string `json:"id"`
	Title string `json:"title"`
	Parts []part `json:"parts,omitempty"`
}

// part is one paragraph, or one list of named texts.
type part struct {
	Name string `json:"name"`
	Text string `json:"text,omitempty"`
	List []item `json:"list,omitempty"`
}

type item struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// loadTopics reads everything there is to explain, by kind and document order.
func loadTopics() ([]topic, error) {
	rules, err := schema.Rules()
	if err != nil {
		return nil, err
	}
	checks, err := schema.Checks()
	if err != nil {
		return nil, err
	}
	hazards, err := schema.Hazards()
	if err != nil {
		return nil, err
	}
	metrics, err := schema.Metrics()
	if err != nil {
		return nil, err
	}
	vocabulary, err := loadVocabulary()
	if err != nil {
		return nil, err
	}
	byID := map[string]schema.Check{}
	for _, c := range checks {
		byID[c.ID] = c
	}
	var out []topic
	for _, r := range rules {
		out = append(out, topic{"rule", r.ID, r.Title, []part{{Name: "Severity", Text: r.Severity + ", family " + r.Family},
			{Name: "Why", Text: r.Why}, {Name: "How to put it right", Text: r.Fix}, {Name: "Breaks it", Text: r.Example}}})
	}
	for _, c := range append([]schema.Capability{vocabulary.Core}, vocabulary.Capabilities...) {
		out = append(out, capabilityTopic(c, byID))
	}
	for _, h := range hazards {
		out = append(out, topic{"hazard", h.ID, h.Doc, []part{{Name: "Check", List: checkItems([]string{h.Check}, byID)}}})
	}
	for _, c := range checks {
		out = append(out, checkTopic(c, hazards))
	}
	for _, m := range metrics {
		out = append(out, topic{"metric", m.ID, m.Doc, []part{{Name: "From", Text: m.Start}, {Name: "To", Text: m.Stop},
			{Name: "Unit", Text: m.Unit}, {Name: "Needs", Text: m.Capability}}})
	}
	keys, err := keyTopics()
	if err != nil {
		return nil, err
	}
	out = append(out, keys...)
	for i := range out {
		out[i].Parts = slices.DeleteFunc(out[i].Parts, func(p part) bool { return p.Text == "" && len(p.List) == 0 })
	}
	return out, nil
}

func loadVocabulary() (*schema.Vocabulary, error) {
	fsys := schema.Files()
	provider, err := fsys.ReadFile(schema.ProviderFile)
	if err != nil {
		return nil, err
	}
	contract, err := fsys.ReadFile(schema.ContractFile)
	if err != nil {
		return nil, err
	}
	return schema.LoadVocabulary(provider, contract)
}

func capabilityTopic(c schema.Capability, checks map[string]schema.Check) topic {
	t := topic{Kind: "capability", ID: c.ID, Title: c.Description}
	t.Parts = append(t.Parts, part{Name: "Question", Text: c.Question})
	switch {
	case c.Interface != "":
		t.Parts = append(t.Parts, part{Name: "Interface", Text: "contract." + c.Interface})
	case len(c.Flag) > 0:
		t.Parts = append(t.Parts, part{Name: "Fields", Text: strings.Join(c.Flag, ", ")})
	default:
		t.Parts = append(t.Parts, part{Name: "Reserved", Text: "The name is kept; no adapter can implement it yet, so it cannot be supported."})
	}
	var methods []item
	for _, m := range c.Methods {
		methods = append(methods, item{m.Name + signatureOf(m), fmt.Sprintf("%s Effect %s; retry %s.", m.Doc, m.Effect, m.Retry)})
	}
	t.Parts = append(t.Parts, part{Name: "Methods", List: methods})
	if c.Verb != "" {
		t.Parts = append(t.Parts, part{Name: "Command", Text: "sbx " + c.Verb})
	}
	if owed := checkItems(c.Checks, checks); len(owed) > 0 {
		t.Parts = append(t.Parts, part{Name: "Checks owed when supported", List: owed})
	} else if c.ID != "core" {
		t.Parts = append(t.Parts, part{Name: "Checks owed when supported", Text: "None exist, so it can never be verified."})
	}
	return t
}

func signatureOf(m schema.Method) string {
	params := []string{"ctx"}
	for _, p := range m.Params {
		params = append(params, p.Name+" "+typeName(p.Type))
	}
	var results []string
	for _, r := range m.Results {
		results = append(results, typeName(r.Type))
	}
	if len(results) == 0 {
		return "(" + strings.Join(params, ", ") + ") error"
	}
	return "(" + strings.Join(params, ", ") + ") (" + strings.Join(results, ", ") + ", error)"
}

func typeName(t schema.TypeRef) string {
	if t.Elem != nil {
		return "[]" + typeName(*t.Elem)
	}
	return t.Name
}

func checkItems(ids []string, checks map[string]schema.Check) []item {
	var out []item
	for _, id := range ids {
		out = append(out, item{id, checks[id].Sentence})
	}
	return out
}

func checkTopic(c schema.Check, hazards []schema.Hazard) topic {
	var proves []item
	for _, h := range hazards {
		if h.Check == c.ID {
			proves = append(proves, item{h.ID, h.Doc})
		}
	}
	state := "The suite has it."
	if !c.Implemented {
		state = "The suite does not have it yet, so its verdict is unknown."
	}
	owedBy := "providers that support " + c.Capability
	if c.Capability == "core" {
		owedBy = "every provider"
	}
	return topic{"check", c.ID, c.Sentence, []part{
		{Name: "Owed by", Text: owedBy}, {Name: "Group and level", Text: c.Group + ", " + c.Level}, {Name: "Revision", Text: fmt.Sprint(c.Revision)},
		{Name: "Adapter rule", Text: c.Rule}, {Name: "State", Text: state}, {Name: "Hazards it answers", List: proves}}}
}
