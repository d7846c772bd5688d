package tree

import (
	"fmt"
	"sort"
	"strings"
)

// Word says in one word what is wrong with a path.
type Word string

// The words, and no others.
const (
	// Changed: the output for the present inputs differs from what is there.
	Changed Word = "changed"
	// Missing: a planned file, block or lock is not there.
	Missing Word = "missing"
	// Orphan: the generator's file, but no longer planned.
	Orphan Word = "orphan"
	// HandEdited: the generator's text is neither what the lock recorded nor
	// what is planned.
	HandEdited Word = "hand-edited"
	// Interrupted: an Apply was cut off; the next one completes it first.
	Interrupted Word = "interrupted"
)

// Cause says more about a finding than its word, where there is more to say.
type Cause string

// The causes.
const (
	// ConflictedLock: the lock holds the marks of an unresolved merge.
	ConflictedLock Cause = "conflicted-lock"
	// ConflictedText: a generated file or block holds them.
	ConflictedText Cause = "conflicted-text"
	// BrokenMarkers: the marks around a block are gone or do not pair up.
	BrokenMarkers Cause = "broken-markers"
	// NeverGenerated: the unit has no lock, and nothing of it is there.
	NeverGenerated Cause = "never-generated"
)

// Finding is one difference between the tree and the plan.
type Finding struct {
	Word Word
	// Also is a second word that holds too: a file can be hand-edited and
	// changed, or an orphan and hand-edited. Empty when there is none.
	Also  Word
	Cause Cause  // empty where the word says it all
	Unit  string // Unit.Dir, empty for Interrupted
	Path  string // root-relative
	// Name is the block or append key within Path, empty for a whole file.
	Name string
	// Line is the line of Path that is wrong, 0 where that is not one.
	Line int
	// Detail is one plain sentence.
	Detail string
	// Diff is the unified diff from what is there to what is planned. It
	// belongs to the file and stands at the first of its findings only.
	Diff string
	// NeedsForce says that Apply refuses unless Options.Force is set.
	NeedsForce bool
	// ByHand says that no Apply can put this right: an edited orphan to be
	// looked at, markers that do not pair up, a deleted file to append to.
	ByHand bool
}

// String is "word path (detail)", without the diff.
func (f Finding) String() string {
	s := string(f.Word) + " " + f.Path
	if f.Name != "" {
		s += "#" + f.Name
	}
	if f.Also != "" {
		s += " [also " + string(f.Also) + "]"
	}
	if f.Detail != "" {
		s += " (" + f.Detail + ")"
	}
	return s
}

// Report is the answer of Check.
type Report struct {
	Findings []Finding // sorted by path, then name
	// Hashed counts the owned files and blocks that were compared with the lock.
	Hashed int
	// Rendered lists the units whose output had to be computed.
	Rendered []string
}

// Clean reports whether there is no finding. The zero Report is clean; Check
// never returns it for a plan without units.
func (r Report) Clean() bool { return len(r.Findings) == 0 }

// RefusedError says that Apply wrote nothing, because these findings need
// Options.Force or a person.
type RefusedError struct {
	Findings []Finding
	// Err is the *UnsafePathError where something cannot be looked at, else nil.
	Err error
}

// Unwrap returns Err.
func (e *RefusedError) Unwrap() error { return e.Err }

// Error lists the findings.
func (e *RefusedError) Error() string {
	lines := make([]string, len(e.Findings))
	for i, f := range e.Findings {
		lines[i] = f.String()
	}
	return fmt.Sprintf("nothing written, %d finding(s) in the way: %s", len(lines), strings.Join(lines, "; "))
}

func sortFindings(list []Finding) {
	sort.SliceStable(list, func(i, j int) bool {
		if list[i].Path != list[j].Path {
			return list[i].Path < list[j].Path
		}
		return list[i].Name < list[j].Name
	})
}
