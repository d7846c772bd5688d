package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentworkforce/sbx/schema"
)

// groupText is what the page on conformance says of a group of checks.
type groupText struct {
	word, asks string
	owed       bool
}

// groupTexts are the groups in the order of the page: the six that everybody
// owes, then the others.
func groupTexts() []groupText {
	return []groupText{
		{"create", "what was asked for is what there is, no more and no less, or it is refused", true},
		{"ready", "usable means that a command ran", true},
		{"execute", "exit codes, streams, bytes, environment, time limits that end everything", true},
		{"cleanup", "destroyed, verified gone, and the vendor's count as before", true},
		{"teardown-must-fire", "after success, error, panic, cancellation, timeout, signals, a kill", true},
		{"teardown-must-not-fire", "on what is foreign, attached, kept, handed over, or another incarnation", true},
		{"shape", "manifest, credentials, pinned client", false},
		{"capability", "what is declared does what it says", false},
		{"egress", "a policy is enforced or refused, by name and by address", false},
		{"honesty", "what the adapter says when the vendor's answers are wrong, late, cut or lost", false},
	}
}

// levelTexts are the levels, cheapest first.
func levelTexts() []checkLevel {
	return []checkLevel{
		{Level: "L0", Asks: "shape: what can be judged before anything is created"},
		{Level: "L1", Asks: "create, commands and files"},
		{Level: "L2", Asks: "declared capabilities do what they say, undeclared ones refuse and change nothing"},
		{Level: "L3", Asks: "teardown: what has to go goes, and nothing else"},
		{Level: "L4", Asks: "honesty under faults between adapter and vendor"},
	}
}

// conformanceOf sorts checks into groups and counts the levels. The error is a
// group or level that the page has no words for.
func conformanceOf(checks []schema.Check) ([]checkGroup, []checkLevel, error) {
	levels := levelTexts()
	var groups []checkGroup
	for _, g := range groupTexts() {
		heading := title(g.word)
		groups = append(groups, checkGroup{Word: g.word, Title: heading, Anchor: strings.ToLower(strings.ReplaceAll(heading, " ", "-")),
			Asks: g.asks, Owed: g.owed})
	}
	for _, c := range checks {
		i := slices.IndexFunc(groups, func(g checkGroup) bool { return g.Word == c.Group })
		j := slices.IndexFunc(levels, func(l checkLevel) bool { return l.Level == c.Level })
		if i < 0 || j < 0 {
			return nil, nil, fmt.Errorf("checks.json: %s: group %q or level %q is not on the page about conformance", c.ID, c.Group, c.Level)
		}
		c.Sentence = cell(c.Sentence)
		groups[i].Checks = append(groups[i].Checks, c)
		levels[j].Count++
	}
	return groups, levels, nil
}
