package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// RevisionData is the content of revisions.json.
type RevisionData struct {
	// Contract has the core, as "core", and every capability that an adapter can
	// implement.
	Contract []Revision `json:"contract"`
	// Checks has every check; its revision is the one of checks.json.
	Checks []Revision `json:"checks"`
}

// Revision is a part of the contract, or a check, with the revision that
// evidence is bound to.
type Revision struct {
	ID string `json:"id"`
	// Revision rises when what met the older one may not meet this one; evidence
	// for the older one is stale then.
	Revision int `json:"revision"`
	// Source is the digest of what the part is made of, SHA-256 in hex. It says
	// that somebody looked at the change, and nothing depends on it.
	Source string `json:"source"`
}

// Revisions returns the revisions of the contract and of the checks.
func Revisions() (*RevisionData, error) {
	var data struct {
		Comment string `json:"$comment"`
		RevisionData
	}
	if err := decodeFile(revisionsFile, &data); err != nil {
		return nil, err
	}
	return &data.RevisionData, nil
}

// ContractRevisions returns the revision of each part of the contract by its ID.
func ContractRevisions() (map[string]int, error) {
	data, err := Revisions()
	if err != nil {
		return nil, err
	}
	out := make(map[string]int, len(data.Contract))
	for _, r := range data.Contract {
		out[r.ID] = r.Revision
	}
	return out, nil
}

// contractSources computes what Revision.Source has to be for the core and for
// every capability that has an interface or a field: a digest of its methods and
// of the shape of every type they reach. Titles, descriptions, questions, verbs
// and owed checks are no part of it.
func contractSources(provider, contract []byte) (map[string]string, error) {
	v, err := LoadVocabulary(provider, contract)
	if err != nil {
		return nil, err
	}
	var types struct {
		Defs map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(contract, &types); err != nil {
		return nil, fmt.Errorf("schema: %s: %w", ContractFile, err)
	}
	out := map[string]string{}
	for _, c := range append([]Capability{v.Core}, v.Capabilities...) {
		if c.Interface == "" && len(c.Flag) == 0 && len(c.Methods) == 0 {
			continue
		}
		if out[c.ID], err = contractSource(c, types.Defs); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func contractSource(c Capability, defs map[string]any) (string, error) {
	reached := map[string]any{}
	for _, m := range c.Methods {
		for _, p := range append(append([]Param{}, m.Params...), m.Results...) {
			t := &p.Type
			for t.Elem != nil {
				t = t.Elem
			}
			if t.Kind == KindRef {
				reach(t.Name, defs, reached)
			}
		}
	}
	for i := range c.Methods {
		c.Methods[i].Doc = ""
	}
	return digestOf(map[string]any{"interface": c.Interface, "flag": c.Flag, "methods": c.Methods, "types": reached})
}

// reach collects the shape of a type and of all that it refers to.
func reach(name string, defs, reached map[string]any) {
	if _, done := reached[name]; done {
		return
	}
	reached[name] = nil
	reached[name] = shape(defs[name], func(ref string) {
		if to, ok := strings.CutPrefix(ref, "#/$defs/"); ok {
			reach(to, defs, reached)
		}
	})
}

// shape copies a schema without what is only said about it.
func shape(v any, refers func(ref string)) any {
	object, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := map[string]any{}
	for key, val := range object {
		switch key {
		case "title", "description", "examples", "$comment":
		case "properties":
			properties, _ := val.(map[string]any)
			named := map[string]any{}
			for name, p := range properties {
				named[name] = shape(p, refers)
			}
			out[key] = named
		case "$ref":
			ref, _ := val.(string)
			refers(ref)
			out[key] = val
		default:
			out[key] = shape(val, refers)
		}
	}
	return out
}

// checkSources is contractSources for checks: what a check proves, and for whom.
// Whether the suite has a function for it is no part.
func checkSources(checks []Check) (map[string]string, error) {
	out := map[string]string{}
	var err error
	for _, c := range checks {
		c.Revision, c.Implemented = 0, false
		if out[c.ID], err = digestOf(c); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func digestOf(v any) (string, error) {
	b, err := json.Marshal(v) // keys of maps are sorted
	if err != nil {
		return "", fmt.Errorf("schema: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}
