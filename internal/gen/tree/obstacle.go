package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// obstructed is the finding about a place that something else takes, which
// only a person may move.
func obstructed(unit, p, reason string) Finding {
	return Finding{Word: Missing, Unit: unit, Path: p, ByHand: true, Detail: reason + "; move it away, then sbxgen generate"}
}

// assessAround is assess without the units of which a file cannot be looked at
// or written; of each such unit there is a finding instead, so that those of the
// others are not lost.
func assessAround(ctx context.Context, d *disk, plan Plan, everything bool) (*assessment, []Finding, error) {
	var found []Finding
	for {
		a, err := assess(ctx, d, plan, everything)
		unsafe, ok := errors.AsType[*UnsafePathError](err)
		if !ok {
			return a, found, err
		}
		unit, rest := plan.without(unsafe.Path)
		found = append(found, obstructed(unit, unsafe.Path, unsafe.Reason))
		if len(rest) == 0 || len(rest) == len(plan.Units) {
			return &assessment{}, found, nil
		}
		plan.Units = rest
	}
}

// without returns the units that do not depend on what is at p, and the folder
// of one that does.
func (plan Plan) without(p string) (unit string, rest []Unit) {
	nearest := ""
	for _, u := range plan.Units {
		if (u.Dir == "." || strings.HasPrefix(p, u.Dir+"/")) && len(u.Dir) > len(nearest) {
			nearest = u.Dir
		}
	}
	for _, u := range plan.Units {
		if u.lockPath() == p {
			nearest = u.Dir
		}
	}
	rest = slices.DeleteFunc(slices.Clone(plan.Units), func(u Unit) bool {
		return u.Dir == nearest || u.Dir == p || strings.HasPrefix(u.Dir, p+"/")
	})
	return nearest, rest
}

// markObstacles finds what is in the way of new files: a name that differs by
// case, a file where a folder is needed, a folder where a file is. The actions
// are kept from being carried out.
func (a *assessment) markObstacles(d *disk) error {
	removed := map[string]bool{}
	for _, s := range a.units {
		for _, act := range s.actions {
			if act.new == nil && !act.keep {
				removed[act.path] = true
			}
		}
	}
	for _, s := range a.units {
		for i := range s.actions {
			act := &s.actions[i]
			if act.new == nil || act.old != nil || act.keep {
				continue
			}
			reason, err := d.obstacle(act.path, removed)
			if err != nil {
				return err
			}
			if reason != "" {
				act.keep, act.findings = true, []Finding{obstructed(s.Dir, act.path, reason)}
			}
		}
	}
	return nil
}

// obstacle says what is in the way of a new file at p, "" when nothing is.
func (d *disk) obstacle(p string, removed map[string]bool) (string, error) {
	twin, err := d.twin(p)
	if err != nil {
		return "", err
	}
	if twin != "" && !removed[twin] {
		return fmt.Sprintf("it differs from the existing %s only by letter case", twin), nil
	}
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		k, _, err := d.stat(dir)
		if err != nil {
			return "", err
		}
		if k == kindFile && !removed[dir] {
			return fmt.Sprintf("the file %s is where a folder is needed", dir), nil
		}
	}
	return d.occupied(p, removed)
}

// occupied says why a folder in the place of a planned file does not go away
// with the files that are removed: only one that they empty does.
func (d *disk) occupied(p string, removed map[string]bool) (reason string, err error) {
	k, _, err := d.stat(p)
	if err != nil || k != kindDir {
		return "", err
	}
	err = filepath.WalkDir(d.abs(p), func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(d.root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case !e.IsDir() && !removed[rel]:
			reason = fmt.Sprintf("a folder that holds %s is in the way", rel)
			return filepath.SkipAll
		case e.IsDir() && reason == "" && !holdsAny(rel, removed):
			reason = fmt.Sprintf("the folder %s is in the way", rel)
		}
		return nil
	})
	return reason, err
}

func holdsAny(dir string, files map[string]bool) bool {
	for f := range files {
		if strings.HasPrefix(f, dir+"/") {
			return true
		}
	}
	return false
}
