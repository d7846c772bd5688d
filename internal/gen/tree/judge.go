package tree

import (
	"maps"
	"slices"
)

// action is what has to happen to one path. Bytes are nil where there is no
// file, before or after.
type action struct {
	path     string
	old, new []byte
	save     bool // old goes to lost/ first
	keep     bool // reported only
	findings []Finding
}

// remembered answers whether some unit's lock recorded a hash for a path. All
// locks count, since a file may move from one unit to another.
type remembered []*unitState

func (r remembered) owned(p, sum string) bool {
	return slices.ContainsFunc(r, func(s *unitState) bool {
		return (s.Dir == "." || s.rel(p) != p) && s.old.knows("owned", s.rel(p), sum)
	})
}

func (r remembered) lists(p string) bool {
	return slices.ContainsFunc(r, func(s *unitState) bool {
		_, ok := s.old.Owned[s.rel(p)]
		return ok && (s.Dir == "." || s.rel(p) != p)
	})
}

// judge compares a rendered unit with the tree and fills actions and next.
func (s *unitState) judge(d *disk, all remembered) error {
	s.next = lock{Inputs: maps.Clone(s.Inputs), Owned: map[string]string{}, Blocks: map[string]string{},
		Scaffold: maps.Clone(s.old.Scaffold), Appended: maps.Clone(s.old.Appended)}
	for _, p := range sortedKeys(s.out.Owned) {
		if err := s.judgeOwned(d, all, p, s.out.Owned[p]); err != nil {
			return err
		}
	}
	for _, p := range sortedKeys(s.out.userFiles()) {
		if err := s.judgeUserFile(d, p); err != nil {
			return err
		}
	}
	if s.oldState == lockIntact {
		return nil
	}
	return s.recallScaffold(d)
}

func (s *unitState) judgeOwned(d *disk, all remembered, p string, planned []byte) error {
	if planned == nil {
		planned = []byte{}
	}
	want := sumOf(planned)
	s.next.Owned[s.rel(p)] = want
	have, scanned := s.sums[p]
	if scanned && have == want {
		return nil
	}
	if err := d.safe(p); err != nil {
		return err
	}
	old, _, err := d.read(p)
	if err != nil {
		return err
	}
	if old != nil {
		have = sumOf(old)
	}
	if old != nil && have == want {
		return nil
	}
	a := action{path: p, old: old, new: planned}
	f := s.ownedFinding(all, p, old, have, want)
	a.save = f.Word == HandEdited || (old != nil && f.Word == Changed && !all.owned(p, have) && !conflicted(old))
	a.findings = []Finding{f}
	s.actions = append(s.actions, a)
	return nil
}

func (s *unitState) ownedFinding(all remembered, p string, old []byte, have, want string) Finding {
	f := Finding{Unit: s.Dir, Path: p}
	recorded := s.old.Owned[s.rel(p)]
	switch {
	case old == nil:
		f.Word, f.Detail = Missing, "planned but not there"
	case all.owned(p, have):
		f.Word, f.Detail = Changed, s.whyChanged()
	case conflicted(old):
		f.Word, f.Cause, f.Detail = Changed, ConflictedText, "git conflict markers in a generated file"
		f.Line = conflictLine(old)
	case s.oldState != lockIntact && (s.owns(p) || all.lists(p)):
		f.Word, f.Detail = Changed, "differs from the plan, and the lock cannot say who changed it"
	case !all.lists(p):
		f.Word, f.Detail, f.NeedsForce = HandEdited, "a file the lock does not list is in the way", true
	default:
		f.Word, f.Detail, f.NeedsForce = HandEdited, "edited since it was generated", true
		if want != recorded {
			f.Also, f.Detail = Changed, "edited since it was generated, and "+s.whyChanged()
		}
	}
	return f
}

// whyChanged names the inputs that differ from the recorded ones.
func (s *unitState) whyChanged() string {
	if s.oldState != lockIntact || s.fresh {
		return "the output differs from what the lock recorded"
	}
	var names []string
	for _, n := range sortedKeys(s.Inputs) {
		if s.old.Inputs[n] != s.Inputs[n] {
			names = append(names, n)
		}
	}
	for _, n := range sortedKeys(s.old.Inputs) {
		if _, ok := s.Inputs[n]; !ok {
			names = append(names, n)
		}
	}
	return "inputs changed: " + joinSome(names, 3)
}

// judgeOrphans deals with files that are the unit's by its lock or patterns
// but planned by nobody.
func (s *unitState) judgeOrphans(d *disk, planned map[string]bool) error {
	if s.out == nil && !s.Retired {
		s.next = s.old
		s.next.Owned = maps.Clone(s.old.Owned)
	} else if s.Retired {
		s.next = lock{Owned: map[string]string{}}
	}
	for _, rel := range sortedKeys(s.old.Owned) {
		p := s.abs(rel)
		have := s.sums[p]
		if planned[p] {
			continue
		}
		if have == "" {
			delete(s.next.Owned, rel)
			continue
		}
		old, _, err := d.read(p)
		if err != nil {
			return err
		}
		f := Finding{Word: Orphan, Unit: s.Dir, Path: p, Detail: "no longer planned"}
		edited := !s.old.knows("owned", rel, have)
		if edited {
			f.Also, f.ByHand = HandEdited, true
			f.Detail = "no longer planned, but edited since it was generated; it is kept"
			s.next.Owned[rel] = s.old.Owned[rel]
		}
		s.actions = append(s.actions, action{path: p, old: old, keep: edited, findings: []Finding{f}})
	}
	for _, p := range sortedKeys(s.present) {
		if _, listed := s.old.Owned[s.rel(p)]; listed || planned[p] {
			continue
		}
		old, _, err := d.read(p)
		if err != nil {
			return err
		}
		s.actions = append(s.actions, action{path: p, old: old, keep: true, findings: []Finding{{
			Word: Orphan, Unit: s.Dir, Path: p, ByHand: true,
			Detail: "named like a generated file, but neither planned nor listed in the lock; it is kept"}}})
	}
	return nil
}

// judgeLock adds the lock itself; call it last.
func (s *unitState) judgeLock() error {
	a := action{path: s.lockPath(), old: s.oldRaw}
	f := Finding{Unit: s.Dir, Path: s.lockPath(), Word: Changed}
	if !s.Retired || len(s.next.Owned) > 0 {
		raw, err := s.next.encode()
		if err != nil {
			return err
		}
		a.new = raw
	}
	if string(a.new) == string(a.old) && (a.new == nil) == (a.old == nil) {
		return nil
	}
	switch {
	case s.oldRaw == nil:
		f.Word, f.Detail = Missing, "the unit has no lock"
		if s.nothingThere() {
			f.Cause = NeverGenerated
		}
	case s.oldState == lockConflicted:
		f.Cause, f.Line, f.Detail = ConflictedLock, conflictLine(s.oldRaw), "git conflict markers in the lock"
	case s.oldState == lockDamaged:
		f.Detail = "the lock is damaged"
	case s.Retired:
		f.Word, f.Detail = Orphan, "its unit produces nothing any more"
	case hasFindings(s.actions):
		f.Word = "" // follows from the others
	default:
		f.Detail = s.whyChanged() + "; the files stay as they are"
	}
	if f.Word != "" {
		a.findings = []Finding{f}
	}
	s.actions = append(s.actions, a)
	return nil
}

// nothingThere reports a unit of which no owned file was there.
func (s *unitState) nothingThere() bool {
	return s.out != nil && len(s.present) == 0 && !slices.ContainsFunc(s.actions, func(a action) bool {
		_, owned := s.out.Owned[a.path]
		return owned && a.old != nil
	})
}

func hasFindings(list []action) bool {
	return slices.ContainsFunc(list, func(a action) bool { return len(a.findings) > 0 })
}
