package tree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// CheckOptions tune Check. The zero value is the quick check.
type CheckOptions struct {
	// RenderAll renders every unit and compares bytes, instead of believing the
	// lock where inputs and hashes agree. It finds a lock that was edited
	// together with its files, and inputs nobody named.
	RenderAll bool
	// NoDiff leaves Finding.Diff empty.
	NoDiff bool
}

// Check compares the tree at root with the plan and writes nothing. It waits
// for an Apply that is under way, so Interrupted always means one that died.
// What cannot be looked at, a folder or link in the place of a file, is a finding.
// An error means that the answer is not known; it is never a clean report.
func Check(ctx context.Context, root string, plan Plan, opts CheckOptions) (report Report, err error) {
	if err := plan.check(); err != nil {
		return Report{}, err
	}
	d := newDisk(root)
	if err := checkRoot(root); err != nil {
		return Report{}, err
	}
	unlock, err := shareLock(ctx, d)
	if unsafe, ok := errors.AsType[*UnsafePathError](err); ok {
		return Report{Findings: []Finding{obstructed("", unsafe.Path, unsafe.Reason)}}, nil
	}
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if f, err := interrupted(d); err != nil || f != nil {
		if f != nil {
			report.Findings = []Finding{*f}
		}
		return report, err
	}
	a, obstacles, err := assessAround(ctx, d, plan, opts.RenderAll)
	if err != nil {
		return Report{}, err
	}
	if report, err = a.report(ctx, !opts.NoDiff); err != nil {
		return Report{}, err
	}
	report.Findings = append(report.Findings, obstacles...)
	sortFindings(report.Findings)
	return report, nil
}

func checkRoot(root string) error {
	info, err := os.Stat(root)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &fs.PathError{Op: "check", Path: root, Err: errors.New("not a folder")}
	}
	return nil
}

// shareLock waits until no Apply is running. A tree that never saw one has no
// lock file, and none is made.
func shareLock(ctx context.Context, d *disk) (func() error, error) {
	none := func() error { return nil }
	if err := d.safe(processLock); err != nil {
		return none, err
	}
	k, _, err := d.stat(processLock)
	if err != nil || k != kindFile {
		return none, err
	}
	l := flock.New(d.abs(processLock), flock.SetFlag(os.O_RDONLY))
	if _, err := l.TryRLockContext(ctx, lockPoll); err != nil {
		return none, errors.Join(err, l.Close())
	}
	return l.Close, nil
}

// lockPoll is how often a waiting process asks for the tree's lock.
const lockPoll = 5 * time.Millisecond

// interrupted reports a journal that was left behind.
func interrupted(d *disk) (*Finding, error) {
	if err := d.safe(journalPath); err != nil {
		return nil, err
	}
	k, _, err := d.stat(journalPath)
	if err != nil || k == kindAbsent {
		return nil, err
	}
	return &Finding{Word: Interrupted, Path: journalPath,
		Detail: "a run was cut off while it was renaming files; the next one completes it"}, nil
}

// report turns an assessment into findings, diffs in parallel.
func (a *assessment) report(ctx context.Context, diffs bool) (Report, error) {
	r := Report{Hashed: a.hashed}
	var list []action
	for _, s := range a.units {
		if s.out != nil {
			r.Rendered = append(r.Rendered, s.Dir)
		}
		for _, act := range s.actions {
			if len(act.findings) > 0 {
				list = append(list, act)
			}
		}
	}
	if diffs {
		err := chunks(ctx, len(list), func(from, to int) error {
			for _, act := range list[from:to] {
				act.findings[0].Diff = unified(act.path, act.old, act.new)
			}
			return ctx.Err()
		})
		if err != nil {
			return Report{}, err
		}
	}
	for _, act := range list {
		r.Findings = append(r.Findings, act.findings...)
	}
	sortFindings(r.Findings)
	return r, nil
}
