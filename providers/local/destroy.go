package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/agentworkforce/sbx/port"
)

const (
	destroyDefault = 60 * time.Second
	killLimit      = 10 * time.Second
)

// Destroy shuts the sandbox, ends its processes and removes its folder. It is
// complete when it returns without error. Interrupted anywhere, it leaves a
// folder that Inspect still finds and that another Destroy finishes. Several at
// once, in any processes, are safe: each returns when nothing is left.
//
// It refuses, before changing anything, while a file system is mounted inside
// the folder: removing it would remove what is mounted there.
func (a *Adapter) Destroy(ctx context.Context, id string) (port.DestroyOutcome, error) {
	if err := ctxFailure(ctx, "Destroy", id, port.OutcomeUnchanged); err != nil {
		return "", err
	}
	if !validID(id) {
		return port.DestroyAlreadyAbsent, nil // no sandbox was ever called that
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, destroyDefault)
		defer cancel()
	}
	f, err := a.find(id)
	if errors.Is(err, fs.ErrNotExist) {
		return a.destroyAbsent(id)
	}
	if err != nil {
		return "", fsFailure("Destroy", id, port.OutcomeUnchanged, err)
	}
	mounted, err := mountsBelow(f.path)
	if err != nil {
		return "", fsFailure("Destroy", id, port.OutcomeUnchanged, err)
	}
	if mounted > 0 {
		return "", refuse("Destroy", id, port.CodeFailedPrecondition,
			"a file system is mounted inside the sandbox's folder; unmount it first")
	}
	dying := filepath.Join(a.dir, id+deletingExt)
	if err := os.Rename(filepath.Join(a.dir, id), dying); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fsFailure("Destroy", id, port.OutcomeUnchanged, err)
	}
	// A command without isolation may have shut the folder against its owner.
	if err := os.Chmod(dying, 0o700); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fsFailure("Destroy", id, port.OutcomeUnknown, err)
	}
	if err := a.removeDying(ctx, id, dying); err != nil {
		return "", err
	}
	return port.DestroyAccepted, nil
}

// destroyAbsent ends what was left running by whoever removed the folder.
func (a *Adapter) destroyAbsent(id string) (port.DestroyOutcome, error) {
	n, err := killMarked(sandboxMark(id), killLimit)
	if err != nil {
		return "", failed("Destroy", id, port.CodeOutcomeUnknown, port.OutcomeUnknown,
			"processes of it may still run", err)
	}
	if n > 0 {
		return port.DestroyAccepted, nil
	}
	return port.DestroyAlreadyAbsent, nil
}

// removeDying finishes a destroy. The lock keeps commands that were just being
// started from slipping past the search for processes: they hold it until they
// carry the mark.
func (a *Adapter) removeDying(ctx context.Context, id, dying string) error {
	lock, err := lockWait(ctx, dying)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // somebody else finished
	}
	if err != nil {
		if ctxErr := ctxFailure(ctx, "Destroy", id, port.OutcomeUnknown); ctxErr != nil {
			return ctxErr
		}
		return fsFailure("Destroy", id, port.OutcomeUnknown, err)
	}
	_, err = killMarked(sandboxMark(id), killLimit)
	if err == nil {
		err = removeInOrder(dying)
	}
	if err == nil {
		err = syncDir(a.dir)
	}
	if err = errors.Join(err, lock.release()); err != nil {
		return failed("Destroy", id, port.CodeProvider, port.OutcomeUnknown,
			"the sandbox is not removed completely; destroy it again", err)
	}
	return nil
}

// removeInOrder keeps the description to the end: an interrupted destroy still
// says whose the sandbox is.
func removeInOrder(dir string) error {
	for _, path := range []string{filepath.Join(dir, rootName), filepath.Join(dir, tmpName), dir} {
		if err := removeTree(path); err != nil {
			return err
		}
	}
	return nil
}

// removeTree removes what a command may have made hard to remove, too:
// directories without permissions, immutable files.
func removeTree(path string) error {
	first := os.RemoveAll(path)
	if first == nil {
		return nil
	}
	if err := loosen(path); err != nil {
		return errors.Join(first, err)
	}
	return os.RemoveAll(path)
}

// loosen gives every directory below path back to its owner. Nothing runs in the
// tree any more, and symlinks are not followed.
func loosen(path string) error {
	var failures []error
	err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			if d != nil && d.IsDir() && errors.Is(err, fs.ErrPermission) {
				return fs.SkipDir
			}
			failures = append(failures, err)
			return nil
		}
		if !d.IsDir() && !d.Type().IsRegular() {
			return nil
		}
		failures = append(failures, clearFlags(p))
		if d.IsDir() {
			failures = append(failures, os.Chmod(p, 0o700))
		}
		return nil
	})
	return errors.Join(append(failures, err)...)
}
