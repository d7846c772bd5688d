//go:build unix

package conformance_test

// Why machine-made mutants survive.
const (
	harmless    = "No fault: asking twice changes nothing."
	repeatable  = "No fault: the operation may be repeated, and the second call finds it done."
	ownMarks    = "No fault here: every request carries marks of its own, so no two have the same arguments."
	rightAnyway = "Nothing that counts: at the reference vendor the scope is right beside every error that it can come with."
)

// survivors says of each machine-made mutant that no check catches why that is so.
func survivors() map[string]string {
	why := map[string]string{
		"Scope: error swallowed": rightAnyway,
		"Scope: stale":           "No fault: the scope of an account does not change.",
		"CreateSnapshot: stale":  ownMarks,
		"Fork: stale":            ownMarks,
	}
	for reason, names := range map[string][]string{
		harmless:   {"Scope", "Inspect", "List", "ReadFile", "Stat", "ReadDir", "InspectSnapshot", "ListSnapshots", "PortURL", "Logs", "Metrics"},
		repeatable: {"Destroy", "Mkdir", "Stop", "Start", "Suspend", "Resume", "DeleteSnapshot", "Restart"},
	} {
		for _, op := range names {
			why[op+": duplicated"] = reason
		}
	}
	return why
}
