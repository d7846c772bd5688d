//go:build unix

package conformance_test

// Why machine-made mutants survive.
const (
	harmless   = "No fault: asking twice changes nothing."
	repeatable = "No fault: the operation may be repeated, and the second call finds it done."
	ownMarks   = "No fault here: every request carries marks of its own, so no two have the same arguments."
	gap        = "A gap: no check does the same to the same thing twice with something in between that would show it."
	// byChance marks a mutant that is caught in some runs and not in others. It
	// counts as not caught, and a run that catches it is no finding.
	byChance   = "Decided by chance, and so counted as not caught: whether a command that is run twice is stale depends on which of two checks comes first."
	neverFails = "Nothing to swallow: at the reference vendor it fails for a context that has ended only."
)

// survivors says of each machine-made mutant that no check catches why that is so.
func survivors() map[string]string {
	why := map[string]string{
		"Create: result dropped":          "No fault in the end: the library finds the sandbox whose answer was empty by its marks.",
		"Destroy: error swallowed":        "Nothing to swallow: destroying what is absent is no error, and the reference vendor has no other.",
		"DeleteSnapshot: error swallowed": "Nothing to swallow: deleting what is absent is no error, and the reference vendor has no other.",
		"Scope: error swallowed":          neverFails,
		"ListSnapshots: error swallowed":  neverFails,
		"Exec: stale":                     byChance,
		"Scope: stale":                    "No fault: the scope of an account does not change.",
		"CreateSnapshot: duplicated":      "A gap: the first capture is nobody's, and is left at the vendor; the counts before and after show it in the report, and no check of the capability does.",
		"OpenPTY: duplicated":             "A gap: the first terminal is nobody's; it ends with its sandbox.",
	}
	for reason, names := range map[string][]string{
		harmless:   {"Scope", "Inspect", "List", "ReadFile", "Stat", "ReadDir", "InspectSnapshot", "ListSnapshots", "PortURL", "Logs", "Metrics"},
		repeatable: {"Destroy", "Mkdir", "Stop", "Start", "Suspend", "Resume", "DeleteSnapshot", "Restart"},
	} {
		for _, op := range names {
			why[op+": duplicated"] = reason
		}
	}
	for reason, names := range map[string][]string{
		ownMarks: {"CreateSnapshot", "Fork"},
		gap:      {"Stat", "ReadDir", "Mkdir", "Rename", "Stream", "OpenPTY", "Stop", "Suspend", "DeleteSnapshot", "PortURL", "Logs", "Restart"},
	} {
		for _, op := range names {
			why[op+": stale"] = reason
		}
	}
	return why
}
