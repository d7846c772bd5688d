package evidence

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/schemacheck"
	"github.com/agentworkforce/sbx/internal/yamldoc"
	"github.com/agentworkforce/sbx/schema"
)

// RuleKeys is the rule of what is wrong with the key list beyond its schema.
const RuleKeys = "SBX228"

// KeysFile is where the key list is, from the root of a tree.
const KeysFile = "evidence/keys.yaml"

// Keys are the keys whose signatures count. A nil *Keys has none.
type Keys struct {
	Keys []Key `json:"keys"`
}

// Key is a public key, who answers for it, and when it counts.
type Key struct {
	ID string `json:"id"`
	// Public is the public half in hex.
	Public     string      `json:"public"`
	Owner      string      `json:"owner"`
	ValidFrom  time.Time   `json:"validFrom"`
	ValidUntil time.Time   `json:"validUntil"`
	Revoked    *Revocation `json:"revoked,omitempty"`
}

// RevocationReason is why a key was withdrawn.
type RevocationReason string

// The reasons.
const (
	Compromised RevocationReason = "compromised" // somebody else may hold it
	Retired     RevocationReason = "retired"     // replaced
	Departed    RevocationReason = "departed"    // its owner left
)

// Revocation withdraws a key before its time.
type Revocation struct {
	At     time.Time        `json:"at"`
	Reason RevocationReason `json:"reason"`
}

// ParseKeys reads a key list, a YAML file of this name, and says what is wrong
// with it and where. Keys is nil as soon as there is an error: a list that is
// partly wrong is not used in part.
func ParseKeys(name string, src []byte) (*Keys, []diag.Diagnostic, error) {
	doc, found := yamldoc.Parse(name, src)
	if doc == nil {
		return nil, found, nil
	}
	schemaText, err := schema.Files().ReadFile(schema.KeysFile)
	if err != nil {
		return nil, nil, err
	}
	checker, err := schemacheck.New(schema.KeysFile, schemaText)
	if err != nil {
		return nil, nil, err
	}
	found = append(found, checker.Validate(doc)...)
	if slices.ContainsFunc(found, isError) {
		return nil, found, nil
	}
	plain, err := json.Marshal(doc.Value())
	if err != nil {
		return nil, nil, fmt.Errorf("evidence: keys: %w", err)
	}
	keys := &Keys{}
	if err := json.Unmarshal(plain, keys); err != nil {
		return nil, nil, fmt.Errorf("evidence: keys: %w", err)
	}
	more := keys.problems(doc)
	if len(more) > 0 {
		return nil, append(found, more...), nil
	}
	return keys, found, nil
}

func isError(d diag.Diagnostic) bool { return d.Severity == diag.Error }

// problems finds what the schema cannot say.
func (k *Keys) problems(doc *yamldoc.Doc) []diag.Diagnostic {
	var out []diag.Diagnostic
	seen := map[string]int{}
	for i, key := range k.Keys {
		say := func(field, help, format string, args ...any) {
			pointer := yamldoc.Join("", "keys", fmt.Sprint(i), field)
			_, value := doc.Pos(doc.Nearest(pointer))
			out = append(out, diag.Diagnostic{File: doc.Name(), Rule: RuleKeys, Message: fmt.Sprintf(format, args...), Help: help}.At(value))
		}
		public, err := hex.DecodeString(key.Public)
		switch {
		case err != nil:
			say("public", "", "this is no key: %v", err)
		case KeyID(public) != key.ID:
			say("id", "the ID follows from the public half and is never chosen", "the key has the ID %s", KeyID(public))
		}
		if at, ok := seen[key.ID]; ok {
			say("id", "", "key %d has the same ID", at+1)
		}
		seen[key.ID] = i
		if !key.ValidUntil.After(key.ValidFrom) {
			say("validUntil", "", "the key ends before it begins")
		}
		if key.ValidUntil.Sub(key.ValidFrom) > maxKeyLife {
			say("validUntil", "list a new key when its time has come", "a key counts for two years at most")
		}
	}
	return out
}

// maxKeyLife bounds how long a key that nobody misses can do harm.
const maxKeyLife = 2 * 366 * 24 * time.Hour

// Find returns the key of an ID.
func (k *Keys) Find(id string) (Key, bool) {
	if k == nil {
		return Key{}, false
	}
	for _, key := range k.Keys {
		if key.ID == id {
			return key, true
		}
	}
	return Key{}, false
}

// Refuses says why a run that ended at this time cannot rest on the key, "" when
// it can.
func (k Key) Refuses(end time.Time) string {
	switch {
	case k.Revoked != nil && k.Revoked.Reason == Compromised:
		return "key " + k.ID + " was compromised: what it signed counts for nothing, whatever its date"
	case k.Revoked != nil && !end.Before(k.Revoked.At):
		return fmt.Sprintf("key %s was %s at %s, before the run ended", k.ID, k.Revoked.Reason, k.Revoked.At.UTC().Format(time.RFC3339))
	case end.Before(k.ValidFrom):
		return fmt.Sprintf("key %s counts only from %s on", k.ID, k.ValidFrom.UTC().Format(time.RFC3339))
	case !end.Before(k.ValidUntil):
		return fmt.Sprintf("key %s counted only until %s", k.ID, k.ValidUntil.UTC().Format(time.RFC3339))
	}
	return ""
}
