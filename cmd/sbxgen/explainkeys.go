package main

import (
	"strings"

	"github.com/agentworkforce/sbx/internal/schemacheck"
)

// kindKey is the kind of the topics that are properties of provider.yaml.
const kindKey = "manifest key"

// keyTopics are the properties of provider.yaml, from its schema.
func keyTopics() ([]topic, error) {
	checker, err := schemacheck.Provider()
	if err != nil {
		return nil, err
	}
	var out []topic
	for _, k := range checker.Keys() {
		value := k.Form
		if len(k.Words) > 0 {
			value += ": one of " + strings.Join(k.Words, ", ")
			if len(k.Words) == 1 {
				value = "always " + k.Words[0]
			}
		}
		written := ""
		if k.Fact {
			written = "{value: ...}, with from and class to say how it is known, or {unknown: why it is not known}"
		}
		needed := ""
		if k.Required {
			needed = "yes, by what holds it"
		}
		out = append(out, topic{kindKey, k.Path, k.Title, []part{{Name: "What it says", Text: strings.TrimSpace(k.Description)}, {Name: "Value", Text: value},
			{Name: "Form", Text: k.Pattern}, {Name: "Written as", Text: written}, {Name: "Required", Text: needed},
			{Name: "Below it", Text: strings.Join(k.Keys, ", ")}}})
	}
	return out, nil
}

// endsIn reports whether id names a key without all that leads to it, as
// goneProof does for lifecycle.goneProof.
func endsIn(t topic, id string) bool {
	at := len(t.ID) - len(id)
	return t.Kind == kindKey && at > 0 && t.ID[at-1] == '.' && strings.EqualFold(t.ID[at:], id)
}
