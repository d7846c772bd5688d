package gate

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/yamldoc"
)

// Demotion is an entry whose word "verified" is refused.
type Demotion struct {
	// File is the entry.
	File string
	// Reason is one sentence with the rules, for the entry's reason.
	Reason string
}

// Demotions lists the entries that a check refuses because their evidence does
// not prove what they say. Mistakes of form, which a person has to correct, are
// not among them, nor is evidence that has only expired: that is shown as unknown
// by its date.
func Demotions(set *diag.Set) []Demotion {
	why := map[string][]string{}
	var order []string
	for _, d := range set.All() {
		if d.Severity != diag.Error || path.Dir(d.File) != "catalog" || !slices.Contains(demoting(), d.Rule) {
			continue
		}
		if why[d.File] == nil {
			order = append(order, d.File)
		}
		if !slices.ContainsFunc(why[d.File], func(s string) bool { return strings.HasPrefix(s, d.Rule) }) {
			_, message, ok := strings.Cut(d.Message, ": ")
			if !ok {
				message = d.Message
			}
			why[d.File] = append(why[d.File], d.Rule+" "+message)
		}
	}
	var out []Demotion
	for _, file := range order {
		out = append(out, Demotion{File: file, Reason: short("The evidence was refused: " + strings.Join(why[file], "; "))})
	}
	return out
}

// demoting are the rules that a mismatch breaks.
func demoting() []string {
	return append(evidenceRules(), ruleNoEvidence, ruleEvidenceAbsent, ruleEvidenceDigest, ruleOtherEvidence, ruleNothingTested, ruleTimes, ruleDummyLeaked)
}

const ruleNoEvidence = "SBX203"

// short cuts a sentence to what the schema allows.
func short(s string) string {
	const most = 400
	if r := []rune(s); len(r) > most {
		return string(r[:most-4]) + " ..."
	}
	return s
}

// ErrNotVerified says that an entry does not say verified.
var ErrNotVerified = errors.New("the entry does not say verified")

// Demote returns the text of a catalog entry with status unknown and the reason.
// Comments, order and everything else stay: the links remain as a record.
func Demote(name string, src []byte, reason string) ([]byte, error) {
	doc, _ := yamldoc.Parse(name, src)
	if doc == nil {
		return nil, fmt.Errorf("%s: %w", name, ErrNotVerified)
	}
	top, _ := doc.Value().(map[string]any)
	if top["status"] != "verified" {
		return nil, fmt.Errorf("%s: %w", name, ErrNotVerified)
	}
	out, err := doc.SetScalar("/status", "unknown")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	doc, _ = yamldoc.Parse(name, out)
	if doc == nil {
		return nil, fmt.Errorf("%s: %w", name, yamldoc.ErrEdit)
	}
	if _, ok := top["reason"]; ok {
		return doc.SetScalar("/reason", yamldoc.Quote(reason))
	}
	return doc.AppendMapEntry("", "reason", yamldoc.Quote(reason))
}
