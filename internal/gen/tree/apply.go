package tree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"

	"github.com/gofrs/flock"
)

// Options tune Apply. The zero value writes, and refuses to touch hand edits.
type Options struct {
	// DryRun computes and validates everything and writes nothing, not even a
	// process lock. Findings then carry diffs. After an interrupted run the only
	// finding is Interrupted, since what would follow depends on completing it.
	DryRun bool
	// Force overwrites hand-edited text after saving the whole file to
	// .sbxgen/lost/, and puts deleted marker blocks back. Nothing is ever
	// overwritten without being saved. Edited orphans are kept even so.
	Force bool
	// RenderAll is as in CheckOptions.
	RenderAll bool

	step func(name string) // called after every step that changes the disk
}

// SkippedError says that somebody changed these files between planning and
// writing. They were left as they are, everything else was written; the next
// Apply plans them afresh.
type SkippedError struct {
	Paths []string // root-relative
}

// Error lists the paths.
func (e *SkippedError) Error() string {
	return "changed while being written, and left alone: " + joinSome(e.Paths, 10)
}

// Saved is a file whose edited bytes were put aside before it was overwritten.
type Saved struct {
	Path string // root-relative
	Copy string // root-relative, below .sbxgen/lost/
}

// Result says what Apply did, or with DryRun would do. Paths are root-relative
// and sorted; what is below .sbxgen is not listed, nor are locks but in Repaired.
type Result struct {
	Created []string
	Written []string // replaced
	Removed []string
	Saved   []Saved
	// Skipped are paths that changed under the hands of this run, or of the one
	// it completed; they were left alone, and the next Apply plans them afresh.
	Skipped []string
	// Findings are what was wrong before; those that are ByHand still are.
	Findings []Finding
	// Repaired are locks that were gone or damaged and are whole again.
	Repaired []string
	// Recovered says that an interrupted run was completed first, Discarded
	// that one was thrown away because it had not got as far as a journal.
	Recovered, Discarded bool
}

// Remaining are the findings a person has to deal with.
func (r Result) Remaining() []Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return !f.ByHand })
}

// Apply makes the tree at root what the plan says. It first completes an
// interrupted run. On an error from the plan, from Render or Validate, or a
// *RefusedError, no file has been touched. On any later error or a kill, the
// tree is the old one or Check says Interrupted, and the next Apply goes on.
// Files whose bytes are right keep their modification time. Calls on one tree
// wait for each other until ctx ends; once renaming has begun ctx is not asked.
func Apply(ctx context.Context, root string, plan Plan, opts Options) (result Result, err error) {
	if err := plan.check(); err != nil {
		return Result{}, err
	}
	if err := checkRoot(root); err != nil {
		return Result{}, err
	}
	w := &writer{disk: newDisk(root), hook: opts.step, result: &result, touched: map[string]bool{}}
	if opts.DryRun {
		if f, err := interrupted(w.disk); err != nil || f != nil {
			if f != nil {
				result.Findings = []Finding{*f}
			}
			return result, err
		}
		return result, w.run(ctx, plan, opts)
	}
	unlock, err := w.lock(ctx)
	if unsafe, ok := errors.AsType[*UnsafePathError](err); ok {
		return Result{}, &RefusedError{Findings: []Finding{obstructed("", unsafe.Path, unsafe.Reason)}, Err: err}
	}
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := w.recover(); err != nil {
		return result, err
	}
	return result, w.run(ctx, plan, opts)
}

func (w *writer) run(ctx context.Context, plan Plan, opts Options) error {
	a, obstacles, err := assessAround(ctx, w.disk, plan, opts.RenderAll)
	if err != nil {
		return err
	}
	if len(obstacles) > 0 {
		return &RefusedError{Findings: obstacles, Err: &UnsafePathError{Path: obstacles[0].Path, Reason: obstacles[0].Detail}}
	}
	report, err := a.report(ctx, opts.DryRun)
	if err != nil {
		return err
	}
	w.result.Findings = report.Findings
	if err := validate(ctx, plan, a.units); err != nil {
		return err
	}
	var refused []Finding
	for _, f := range report.Findings {
		if (f.NeedsForce && !opts.Force) || (f.ByHand && f.Word != Orphan) {
			refused = append(refused, f)
		}
	}
	entries, err := w.entries(a)
	if err != nil {
		return err
	}
	if len(refused) > 0 {
		w.result.Created, w.result.Written, w.result.Removed, w.result.Saved, w.result.Repaired = nil, nil, nil, nil, nil
		return &RefusedError{Findings: refused}
	}
	if opts.DryRun || len(entries) == 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	before := len(w.result.Skipped)
	if err := w.commit(entries); err != nil {
		return err
	}
	if skipped := w.result.Skipped[before:]; len(skipped) > 0 {
		return &SkippedError{Paths: skipped}
	}
	return nil
}

func validate(ctx context.Context, plan Plan, units []*unitState) error {
	if plan.Validate == nil {
		return nil
	}
	var list []action
	for _, s := range units {
		for _, a := range s.actions {
			if a.new != nil && !a.keep && len(a.findings) > 0 && a.path != s.lockPath() {
				list = append(list, a)
			}
		}
	}
	errs := make([]error, len(list))
	err := chunks(ctx, len(list), func(from, to int) error {
		for i := from; i < to; i++ {
			a := list[i]
			if err := plan.Validate(a.path, a.new); err != nil {
				errs[i] = &PlanError{Path: a.path, Reason: "not valid", Err: err}
			}
		}
		return ctx.Err()
	})
	return errors.Join(err, errors.Join(errs...))
}

// lock takes the tree's process lock, which the system drops when the process dies.
func (w *writer) lock(ctx context.Context) (func() error, error) {
	if err := w.safe(processLock); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(w.abs(workDir), 0o755); err != nil {
		return nil, err
	}
	l := flock.New(w.abs(processLock))
	if _, err := l.TryLockContext(ctx, lockPoll); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	if err := w.ignoreWork(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l.Close, nil
}

// entries turns actions into journal entries: removals, then files, then locks.
func (w *writer) entries(a *assessment) ([]entry, error) {
	var removes, writes, locks []entry
	taken := map[string]bool{}
	for _, s := range a.units {
		for _, act := range s.actions {
			if act.keep {
				continue
			}
			e := entry{Path: act.path, Floor: s.Dir, data: act.new}
			if act.old != nil {
				e.Old = sumOf(act.old)
			}
			if act.new != nil {
				e.New = sumOf(act.new)
			}
			if act.path != s.lockPath() && len(act.findings) > 0 {
				w.list(act)
			}
			if act.save && act.old != nil {
				saved, err := w.saveEntries(s, e, act.old, taken)
				if err != nil {
					return nil, err
				}
				writes = append(writes, saved...)
			}
			switch {
			case act.path == s.lockPath():
				e.Seal = true
				if s.oldState != lockIntact && act.new != nil && !neverGenerated(act) {
					w.result.Repaired = append(w.result.Repaired, act.path)
				}
				locks = append(locks, e)
			case act.new == nil:
				removes = append(removes, e)
			default:
				writes = append(writes, e)
			}
		}
	}
	w.result.sort()
	return append(append(removes, writes...), locks...), nil
}

func neverGenerated(a action) bool {
	return slices.ContainsFunc(a.findings, func(f Finding) bool { return f.Cause == NeverGenerated })
}

func (w *writer) list(a action) {
	switch {
	case a.new == nil:
		w.result.Removed = append(w.result.Removed, a.path)
	case a.old == nil:
		w.result.Created = append(w.result.Created, a.path)
	default:
		w.result.Written = append(w.result.Written, a.path)
	}
}

func (r *Result) sort() {
	slices.Sort(r.Created)
	slices.Sort(r.Written)
	slices.Sort(r.Removed)
	slices.Sort(r.Repaired)
}

// saveEntries puts the edited bytes below lost/, which Git is told to ignore.
func (w *writer) saveEntries(s *unitState, e entry, old []byte, taken map[string]bool) ([]entry, error) {
	var list []entry
	ignore := path.Join(s.stateDir(), "lost", ".gitignore")
	if k, _, err := w.stat(ignore); err != nil {
		return nil, err
	} else if k == kindAbsent && !taken[ignore] {
		taken[ignore] = true
		list = append(list, newEntry(ignore, s.Dir, []byte(ignoreAll)))
	}
	copyPath, there, err := w.freeLost(path.Join(s.stateDir(), "lost", s.rel(e.Path)), e.Old)
	if err != nil {
		return nil, err
	}
	w.result.Saved = append(w.result.Saved, Saved{Path: e.Path, Copy: copyPath})
	if !there {
		list = append(list, newEntry(copyPath, s.Dir, old))
	}
	return list, nil
}

// freeLost finds a name for saved bytes: the wanted one, or with a number,
// unless a file with those very bytes is there already.
func (w *writer) freeLost(want, sum string) (name string, there bool, err error) {
	var h hasher
	for n := 1; ; n++ {
		if name = want; n > 1 {
			name = fmt.Sprintf("%s.%d", want, n)
		}
		if err := w.safe(name); err != nil {
			return "", false, err
		}
		k, _, err := w.stat(name)
		if err != nil || k == kindAbsent {
			return name, false, err
		}
		have, err := h.file(w.disk, name)
		if err != nil || have == sum {
			return name, have == sum, err
		}
	}
}

const (
	workDir     = stateName + "/work"
	processLock = workDir + "/flock"
	journalPath = workDir + "/journal"
	stageDir    = workDir + "/stage"
	ignoreAll   = "*\n"
)

// ignoreWork tells Git to ignore the work folder. The file that says so appears
// whole: a kill before it was written would else leave an empty one for good.
// The process lock is held.
func (w *writer) ignoreWork() error {
	name := workDir + "/.gitignore"
	have, k, err := w.read(name)
	if err != nil || k == kindFile && string(have) == ignoreAll {
		return err
	}
	if _, _, err := w.stat(name + ".new"); err != nil {
		return err
	}
	if err := os.WriteFile(w.abs(name+".new"), []byte(ignoreAll), 0o644); err != nil {
		return err
	}
	return os.Rename(w.abs(name+".new"), w.abs(name))
}
