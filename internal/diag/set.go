package diag

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Set collects diagnostics and gives them back sorted and without repeats: two
// that agree on file, line, column, rule, severity and message are one. The
// zero value is an empty set ready for use. All methods may be called
// concurrently; what All returns does not depend on the order of the calls. A
// Set must not be copied after first use.
type Set struct {
	mu     sync.Mutex
	items  []Diagnostic
	sorted bool
}

// Counts are the numbers of a Set's diagnostics by severity, and of the
// distinct files they name.
type Counts struct {
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Notes    int `json:"notes"`
	Files    int `json:"files"`
}

// Add puts diagnostics into the set. Adding one that is already there changes
// nothing.
func (s *Set) Add(ds ...Diagnostic) {
	if len(ds) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items = append(s.items, ds...)
	s.sorted = false
}

// Merge adds everything in other, which is left as it is. Merging a set into
// itself, or a nil set, changes nothing.
func (s *Set) Merge(other *Set) {
	if other == nil || other == s {
		return
	}
	s.Add(other.All()...)
}

// All returns a sorted copy of the set's diagnostics.
func (s *Set) All() []Diagnostic {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.sorted {
		slices.SortFunc(s.items, compare)
		s.items = slices.CompactFunc(s.items, func(a, b Diagnostic) bool {
			return compareIdentity(a, b) == 0
		})
		s.sorted = true
	}
	return slices.Clone(s.items)
}

// Len returns the number of distinct diagnostics.
func (s *Set) Len() int { return len(s.All()) }

// Counts returns the set's numbers.
func (s *Set) Counts() Counts { return count(s.All()) }

func count(ds []Diagnostic) Counts {
	var c Counts
	files := map[string]struct{}{}
	for _, d := range ds {
		switch d.Severity {
		case Warning:
			c.Warnings++
		case Note:
			c.Notes++
		default:
			c.Errors++
		}
		if d.File != "" {
			files[d.File] = struct{}{}
		}
	}
	c.Files = len(files)
	return c
}

// Err returns the set as an error when it holds at least one of severity
// Error, and a nil error otherwise.
func (s *Set) Err() error {
	if s.Counts().Errors == 0 {
		return nil
	}
	return s
}

// Error returns one line for each diagnostic, so that a Set reads well where
// it is handled as an ordinary error. An empty set says "no problems".
func (s *Set) Error() string {
	all := s.All()
	if len(all) == 0 {
		return Counts{}.String()
	}
	lines := make([]string, len(all))
	for i, d := range all {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}

// String returns the summary line, such as "3 errors, 1 warning in 2 files",
// or "no problems".
func (c Counts) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		noun string
	}{{c.Errors, "error"}, {c.Warnings, "warning"}, {c.Notes, "note"}} {
		if p.n > 0 {
			parts = append(parts, plural(p.n, p.noun))
		}
	}
	if len(parts) == 0 {
		return "no problems"
	}
	line := strings.Join(parts, ", ")
	if c.Files > 0 {
		line += " in " + plural(c.Files, "file")
	}
	return line
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
