package tree

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// userFile is a file of the user while blocks and appends are worked into it.
type userFile struct {
	*unitState
	path    string
	old     []byte
	content string
	created bool
	force   bool // the file has to be made anew against the user's deletion
	save    bool
	found   []Finding
}

func (u *userFile) note(w Word, name, detail string) *Finding {
	u.found = append(u.found, Finding{Word: w, Unit: u.Dir, Path: u.path, Name: name, Detail: detail})
	return &u.found[len(u.found)-1]
}

func (s *unitState) judgeUserFile(d *disk, p string) error {
	if err := d.safe(p); err != nil {
		return err
	}
	old, k, err := d.read(p)
	if err != nil {
		return err
	}
	if k == kindDir {
		return &UnsafePathError{Path: p, Reason: "a folder where a file is planned"}
	}
	u := &userFile{unitState: s, path: p, old: old, content: string(old)}
	if err := u.scaffold(d); err != nil {
		return err
	}
	if err := u.blocks(); err != nil {
		return err
	}
	u.appends()
	if len(u.found) == 0 {
		return nil
	}
	a := action{path: p, old: old, save: u.save, findings: u.found}
	a.keep = slices.ContainsFunc(u.found, func(f Finding) bool { return f.ByHand })
	if a.new = []byte(u.content); a.keep {
		a.new = old
	}
	s.actions = append(s.actions, a)
	return nil
}

// scaffold creates the file when it was never created, and records its base.
func (u *userFile) scaffold(d *disk) error {
	bytes, planned := u.out.Scaffold[u.path]
	if !planned {
		return nil
	}
	rel := u.rel(u.path)
	if _, recorded := u.unitState.old.Scaffold[rel]; recorded {
		if u.old == nil && slices.Contains(u.Needed, u.path) {
			u.content, u.created = string(bytes), true
			u.note(Missing, "", "it is gone, and what is generated does not compile without it; it is scaffolded again, or restore yours")
			return nil
		}
		if u.old == nil {
			// The user deleted it. Only blocks or appends could need it back.
			u.content, u.force = string(bytes), true
		}
		return nil
	}
	if u.old == nil {
		u.content, u.created = string(bytes), true
		u.note(Missing, "", "to be created once")
	}
	base := path.Join(u.stateDir(), "base", rel)
	if err := d.safe(base); err != nil {
		return err
	}
	kept, _, err := d.read(base)
	if err != nil {
		return err
	}
	if kept == nil { // a base that outlived its lock is the older and better one
		kept = bytes
		if kept == nil {
			kept = []byte{}
		}
		u.actions = append(u.actions, action{path: base, new: kept})
	}
	if u.next.Scaffold == nil {
		u.next.Scaffold = map[string]string{}
	}
	u.next.Scaffold[rel] = sumOf(kept)
	return nil
}

func (u *userFile) blocks() error {
	planned := u.out.Blocks[u.path]
	for _, name := range sortedKeys(planned) {
		text := blockText(planned[name])
		key := u.rel(u.path) + "#" + name
		u.next.Blocks[key] = sumOf([]byte(text))
		list, err := parseBlocks(u.content)
		if bad, ok := errors.AsType[*BlockError](err); ok {
			f := u.note(HandEdited, name, "the block markers do not pair up: "+bad.Error())
			f.Cause, f.Line, f.ByHand = BrokenMarkers, bad.Line, true
			return nil
		} else if err != nil {
			return err
		}
		i := slices.IndexFunc(list, func(b block) bool { return b.name == name })
		if i < 0 {
			u.content = appendBlock(u.path, u.content, name, text)
			if !u.created {
				u.missingBlock(name)
			}
			continue
		}
		have := list[i].text(u.content)
		if have == text {
			if u.force {
				u.missingBlock(name)
			}
			continue
		}
		u.content = replaceBlock(u.content, list[i], text)
		switch {
		case u.created:
		case u.force:
			u.missingBlock(name)
		default:
			u.changedBlock(name, key, have, text)
		}
	}
	return nil
}

func (u *userFile) missingBlock(name string) {
	detail := "the markers of this block are gone; sbxgen generate adds it at the end"
	switch {
	case u.old == nil:
		detail = "the file of this block is gone; sbxgen generate makes it again"
	case u.oldRaw == nil:
		detail = "this file is not of the generator, which would add a block at its end; move it away first"
	}
	f := u.note(Missing, name, detail)
	if f.NeedsForce = true; u.old != nil {
		f.Cause = BrokenMarkers
	}
}

func (u *userFile) changedBlock(name, key, have, text string) {
	sum, recorded := sumOf([]byte(have)), u.unitState.old.Blocks[key]
	switch {
	case u.unitState.old.knows("blocks", key, sum):
		u.note(Changed, name, u.whyChanged())
	case conflicted([]byte(have)):
		f := u.note(Changed, name, "git conflict markers in a generated block")
		f.Cause, f.Line = ConflictedText, conflictLine(u.old)
	case recorded == "" || u.oldState != lockIntact:
		u.save = u.save || strings.TrimSpace(have) != ""
		u.note(Changed, name, "differs from the plan, and the lock does not know the block")
	default:
		u.save = true
		f := u.note(HandEdited, name, "edited since it was generated")
		f.NeedsForce = true
		if recorded != sumOf([]byte(text)) {
			f.Also, f.Detail = Changed, "edited since it was generated, and "+u.whyChanged()
		}
	}
}

func (u *userFile) appends() {
	for _, a := range u.out.Appends[u.path] {
		key := u.rel(u.path) + "#" + a.Key
		if _, done := u.unitState.old.Appended[key]; done {
			continue
		}
		if u.next.Appended == nil {
			u.next.Appended = map[string]string{}
		}
		u.next.Appended[key] = sumOf([]byte(blockText(a.Text)))
		if u.old == nil && !u.created && !u.force {
			u.note(Missing, a.Key, "the file to append to is not there").ByHand = true
			continue
		}
		if a.Present != nil && a.Present([]byte(u.content)) {
			if u.force {
				u.note(Missing, a.Key, "the file to append to is gone; sbxgen generate makes it again").NeedsForce = true
			}
			continue
		}
		u.content = appendText(u.content, a.Text)
		switch {
		case u.created:
		case u.force:
			u.note(Missing, a.Key, "the file to append to is gone; sbxgen generate makes it again").NeedsForce = true
		default:
			u.note(Changed, a.Key, "to be appended to the file")
		}
	}
}

func joinSome(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
