package evidence

import (
	"fmt"
	"slices"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/schema"
)

// results judges each result by itself, then against what is owed.
func (v *verifier) results() {
	seen := map[string]int{}
	for i, r := range v.report.Checks {
		at := pointerAt("/checks", i)
		if _, twice := seen[r.ID]; twice {
			v.say(KindCounts, ReportName, at+"/id", "%s has two results", r.ID)
		}
		seen[r.ID] = i
		if why := inconsistent(r); why != "" {
			v.say(KindCounts, ReportName, at+"/verdict", "%s %s", r.ID, why)
		}
		if r.Verdict == conformance.Failed {
			v.say(KindNotPassed, ReportName, at+"/verdict", "%s failed", r.ID)
		}
	}
	for i, r := range v.report.Checks {
		if r.Reason != conformance.BlockedBy || r.BlockedBy == "" {
			continue
		}
		if j, ok := seen[r.BlockedBy]; !ok || v.report.Checks[j].Verdict == conformance.Passed {
			v.say(KindCounts, ReportName, fmt.Sprintf("/checks/%d/blockedBy", i), "%s is blocked by %q, which is no check that did not pass", r.ID, r.BlockedBy)
		}
	}
	for i, problem := range v.report.Problems {
		v.say(KindNotPassed, ReportName, pointerAt("/problems", i), "the run itself had a problem: %s", problem)
	}
	if v.o.Current != nil {
		v.owed(seen)
	}
}

// inconsistent says why a result cannot have come about.
func inconsistent(r conformance.Result) string {
	executed := !r.StartedAt.IsZero()
	switch r.Verdict {
	case conformance.Passed, conformance.Failed, conformance.RefusedAsDeclared:
		switch {
		case !executed:
			return "has a verdict and never began"
		case r.Reason != "" || r.BlockedBy != "":
			return "has a verdict and a reason for having none"
		}
	case conformance.Unknown:
		switch {
		case !slices.Contains(conformance.Reasons(), r.Reason):
			return "is unknown for no reason"
		case r.BlockedBy != "" && r.Reason != conformance.BlockedBy:
			return "is blocked by a check for another reason"
		}
	default:
		return fmt.Sprintf("has the verdict %q", r.Verdict)
	}
	return ""
}

// owed compares the results with the list of checks and the claims.
func (v *verifier) owed(seen map[string]int) {
	passed := map[string]int{}
	rows := map[string]schema.Check{}
	for _, row := range v.o.Current.Checks {
		rows[row.ID] = row
		i, ok := seen[row.ID]
		owes := v.o.Current.Owes(row)
		if !ok {
			if owes {
				v.say(KindCoverage, ReportName, "/checks", "%s is owed and has no result", row.ID)
			}
			continue
		}
		r := v.report.Checks[i]
		at := pointerAt("/checks", i)
		if r.Verdict == conformance.Passed {
			passed[row.Group]++
		}
		if owes {
			v.owedResult(r, row, at)
		}
		if r.Revision == row.Revision {
			v.sameRow(r, row, owes, at)
		}
	}
	for _, group := range Groups() {
		if passed[group] == 0 {
			v.say(KindCoverage, ReportName, "/checks", "no check of the group %s passed", group)
		}
	}
	for i, r := range v.report.Checks {
		if _, ok := rows[r.ID]; !ok && r.Owed {
			v.say(KindStaleCheck, ReportName, fmt.Sprintf("/checks/%d/id", i), "%s is no longer in the list of checks", r.ID)
		}
	}
}

// owedResult judges a result that the provider needs.
func (v *verifier) owedResult(r conformance.Result, row schema.Check, at string) {
	if r.Revision != row.Revision {
		v.say(KindStaleCheck, ReportName, at+"/revision", "%s was run in revision %d and is in revision %d now", r.ID, r.Revision, row.Revision)
	}
	switch r.Verdict {
	case conformance.Passed, conformance.Failed: // a failure has been said
	case conformance.RefusedAsDeclared:
		// The suite says so of the core only where the manifest states an absence
		// that is no capability; a supported capability cannot be refused.
		if row.Capability != coreID {
			v.say(KindNotPassed, ReportName, at+"/verdict", "%s was refused, although %s is claimed as supported", r.ID, row.Capability)
		}
	default:
		v.say(KindNotPassed, ReportName, at+"/verdict", "%s is owed and unknown: %s", r.ID, r.Reason)
	}
}

// sameRow compares what a result copies from the list.
func (v *verifier) sameRow(r conformance.Result, row schema.Check, owes bool, at string) {
	if r.Group != row.Group || r.Capability != row.Capability || r.Level != row.Level || r.Rule != row.Rule {
		v.say(KindCounts, ReportName, at, "%s is another check than that of the list", r.ID)
	}
	if r.Owed != owes {
		v.say(KindCounts, ReportName, at+"/owed", "%s says owed %t; the claims say %t", r.ID, r.Owed, owes)
	}
}
