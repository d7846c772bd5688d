package local

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

const (
	rootName = "root"
	tmpName  = "tmp"
	// draftsName holds folders that are being made; a sandbox moves out of it whole.
	draftsName = ".drafts"
	// deletingExt marks a folder whose destroy has begun. From then on no command
	// can start in it, and it counts as existing until nothing of it is left.
	deletingExt = ".deleting"
)

// folder is a sandbox that is on the disk.
type folder struct {
	id       string
	path     string
	deleting bool
}

const (
	idLen      = 26
	idAlphabet = "abcdefghijklmnopqrstuvwxyz234567"
)

// newID makes a random ID of 130 bits, so it never names a second incarnation.
func newID() string { return strings.ToLower(rand.Text()) }

// validID keeps anything that could be a path out of the file system.
func validID(id string) bool { return len(id) == idLen && strings.Trim(id, idAlphabet) == "" }

// find looks for the folder of id. What is not there is reported as
// fs.ErrNotExist, and so is an ID that this provider never gives.
func (a *Adapter) find(id string) (folder, error) {
	if !validID(id) {
		return folder{}, fs.ErrNotExist
	}
	path := filepath.Join(a.dir, id)
	// In this order: a folder goes from the first name to the second, never back.
	for _, f := range []folder{{id, path, false}, {id, path + deletingExt, true}} {
		info, err := os.Lstat(f.path)
		switch {
		case err == nil && info.IsDir():
			return f, nil
		case err == nil:
			return folder{}, &fs.PathError{Op: "open", Path: id, Err: errors.New("not a directory")}
		case !errors.Is(err, fs.ErrNotExist):
			return folder{}, err
		}
	}
	return folder{}, fs.ErrNotExist
}

// use finds a sandbox that can be worked with, and what it says about itself.
func (a *Adapter) use(op, id string) (folder, meta, error) {
	f, err := a.find(id)
	if errors.Is(err, fs.ErrNotExist) {
		return folder{}, meta{}, notFound(op, id)
	}
	if err != nil {
		return folder{}, meta{}, fsFailure(op, id, port.OutcomeUnchanged, err)
	}
	if f.deleting {
		return folder{}, meta{}, refuse(op, id, port.CodeFailedPrecondition, "the sandbox is being destroyed")
	}
	m, err := readMeta(f.path, id)
	if err == nil {
		return f, m, nil
	}
	if _, again := a.find(id); errors.Is(again, fs.ErrNotExist) {
		return folder{}, meta{}, notFound(op, id)
	}
	return folder{}, meta{}, failed(op, id, port.CodeFailedPrecondition, port.OutcomeUnchanged,
		"the sandbox's description cannot be read; it can only be destroyed", err)
}

// Inspect looks at the folder. A sandbox is running when its folder is whole:
// that is all a command needs. A folder whose destroy has begun is stopping, or
// failed when nobody is at it any more; one that is damaged is failed. Marked
// processes without a folder keep the sandbox from counting as gone.
func (a *Adapter) Inspect(ctx context.Context, id string) (contract.Instance, error) {
	if err := ctxFailure(ctx, "Inspect", id, port.OutcomeUnchanged); err != nil {
		return contract.Instance{}, err
	}
	f, err := a.find(id)
	if err == nil {
		var in contract.Instance
		if in, err = a.describe(f); err == nil {
			return in, nil
		}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return contract.Instance{}, fsFailure("Inspect", id, port.OutcomeUnchanged, err)
	}
	if !validID(id) {
		return contract.Instance{}, notFound("Inspect", id)
	}
	n, err := countMarked(sandboxMark(id))
	if err != nil {
		return contract.Instance{}, failed("Inspect", id, port.CodeUnavailable, port.OutcomeUnchanged,
			"the folder is absent but this machine's processes cannot be read", err)
	}
	if n > 0 {
		return contract.Instance{ID: id, State: contract.StateFailed, NativeState: "processes-left",
			StatusReason: "its folder is gone and processes of it still run; destroy it to end them",
			Isolation:    contract.IsolationUnknown, Freshness: contract.FreshnessLive}, nil
	}
	return contract.Instance{}, notFound("Inspect", id)
}

// describe reads the folder. fs.ErrNotExist means that it went away meanwhile.
func (a *Adapter) describe(f folder) (contract.Instance, error) {
	in := contract.Instance{ID: f.id, State: contract.StateFailed, NativeState: "broken",
		Isolation: contract.IsolationUnknown, Freshness: contract.FreshnessLive}
	m, err := readMeta(f.path, f.id)
	if err == nil {
		fill(&in, f, m)
	} else {
		in.StatusReason = metaFile + " cannot be read; destroy the sandbox"
	}
	if err != nil || f.deleting {
		now, findErr := a.find(f.id)
		if findErr != nil {
			return contract.Instance{}, findErr
		}
		if now.deleting {
			return a.describeDeleting(in, now)
		}
		return in, nil
	}
	info, err := os.Lstat(filepath.Join(f.path, rootName))
	switch {
	case err == nil && info.IsDir():
		in.State, in.NativeState = contract.StateRunning, "present"
		in.Phases = []contract.Phase{{Name: contract.PhaseNameAccepted, At: m.CreatedAt},
			{Name: contract.PhaseNameRunning, At: m.CreatedAt}}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return contract.Instance{}, err
	default:
		if now, findErr := a.find(f.id); findErr != nil || now.deleting != f.deleting {
			return a.again(now, findErr)
		}
		in.StatusReason = "its root directory was removed; destroy the sandbox"
	}
	return in, nil
}

// again describes a folder that changed its name while it was looked at. That
// happens once in its life, so this ends.
func (a *Adapter) again(f folder, err error) (contract.Instance, error) {
	if err != nil {
		return contract.Instance{}, err
	}
	return a.describe(f)
}

func (a *Adapter) describeDeleting(in contract.Instance, f folder) (contract.Instance, error) {
	busy, err := locked(f.path)
	if err != nil {
		return contract.Instance{}, err
	}
	in.NativeState = "deleting"
	in.State, in.StatusReason = contract.StateFailed, "a destroy of it did not finish; destroy it again"
	if busy {
		in.State, in.StatusReason = contract.StateStopping, "it is being destroyed"
	}
	return in, nil
}

func fill(in *contract.Instance, f folder, m meta) {
	at := m.CreatedAt
	in.Name, in.CreatedAt, in.Image = m.Name, &at, hostImage
	in.Labels, in.Tags = m.origin()
	v := viewOf(f, m)
	in.HomeDir, in.WorkDir = v.home(), v.home()
	in.Isolation = contract.IsolationNone
	if m.Isolation == isolationBwrap {
		in.Isolation = contract.IsolationProcess
	}
}

// locked reports whether somebody holds the folder for itself.
func locked(path string) (bool, error) {
	l, err := lockFolder(path, lockShared)
	if errors.Is(err, errLocked) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, l.release()
}

// lockWait takes the folder's lock for itself, waiting until ctx ends.
func lockWait(ctx context.Context, path string) (*folderLock, error) {
	for {
		l, err := lockFolder(path, lockExclusive)
		if !errors.Is(err, errLocked) {
			return l, err
		}
		t := time.NewTimer(2 * time.Millisecond)
		select {
		case <-ctx.Done():
			t.Stop()
			return nil, context.Cause(ctx)
		case <-t.C:
		}
	}
}
