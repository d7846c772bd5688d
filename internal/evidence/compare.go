package evidence

import (
	"cmp"
	"slices"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/schema"
)

// Difference is a check that two runs judge differently.
type Difference struct {
	Check string
	// Before and After are the verdicts; empty where a run has no such check.
	Before, After conformance.Verdict
	// Reason is why the later run does not know, Message what it saw.
	Reason  conformance.Reason
	Message string
	// Owed tells whether the later run needs the check.
	Owed bool
	// Refutes: the earlier run says that the check passed, and the later one saw it
	// fail. Unknown refutes nothing.
	Refutes bool
}

// Compare returns the checks that two runs of a provider judge differently, in
// the order of the later one, what only the earlier one has at the end.
func Compare(before, after *conformance.Report) []Difference {
	var out []Difference
	for _, a := range after.Checks {
		b, ok := before.Result(a.ID)
		if ok && b.Verdict == a.Verdict {
			continue
		}
		out = append(out, Difference{Check: a.ID, Before: b.Verdict, After: a.Verdict, Reason: a.Reason, Message: a.Message, Owed: a.Owed,
			Refutes: b.Verdict == conformance.Passed && a.Verdict == conformance.Failed})
	}
	for _, b := range before.Checks {
		if _, ok := after.Result(b.ID); !ok {
			out = append(out, Difference{Check: b.ID, Before: b.Verdict, Owed: b.Owed})
		}
	}
	return out
}

// Proof is whether a run proves one capability, or the core.
type Proof struct {
	Capability string
	// Supported is the manifest's word; always true of the core.
	Supported bool
	// Proven: it is supported, owes at least one check, and every check it owes
	// passed in the revision of today.
	Proven bool
	// Owed is how many checks it owes, Lacking which of them did not pass.
	Owed    int
	Lacking []string
}

// Proofs says which capabilities a report proves, the core first, then those that
// have checks by name. It judges results only: whether the report may be believed
// is Verify's to say.
func Proofs(report *conformance.Report, now *Current) []Proof {
	byID := map[string]*Proof{}
	for _, row := range now.Checks {
		id := row.Capability
		if slices.Contains(Groups(), row.Group) {
			id = coreID
		} else if row.Group != "capability" {
			continue
		}
		p := byID[id]
		if p == nil {
			p = &Proof{Capability: id, Supported: id == coreID || slices.Contains(now.Supported, id)}
			byID[id] = p
		}
		p.Owed++
		if !shows(report, row) {
			p.Lacking = append(p.Lacking, row.ID)
		}
	}
	var out []Proof
	for _, p := range byID {
		p.Proven = p.Supported && len(p.Lacking) == 0
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b Proof) int {
		return cmp.Or(-cmp.Compare(rank(a.Capability), rank(b.Capability)), cmp.Compare(a.Capability, b.Capability))
	})
	return out
}

func rank(capability string) int {
	if capability == coreID {
		return 1
	}
	return 0
}

// shows reports whether a report has a check as satisfied, in its revision of today.
func shows(report *conformance.Report, row schema.Check) bool {
	r, ok := report.Result(row.ID)
	if !ok || r.Revision != row.Revision {
		return false
	}
	return r.Verdict == conformance.Passed || r.Verdict == conformance.RefusedAsDeclared && row.Capability == coreID
}
