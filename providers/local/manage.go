package local

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// Stat describes one path; a symbolic link at its end is described, not followed.
func (a *Adapter) Stat(ctx context.Context, id, name string) (contract.FileInfo, error) {
	p, err := a.place(ctx, "Stat", id, name, false)
	if err != nil {
		return contract.FileInfo{}, err
	}
	info, err := p.describe(p.rel)
	if err = errors.Join(err, p.close()); err != nil {
		return contract.FileInfo{}, fileFailure("Stat", id, port.OutcomeUnchanged, err)
	}
	return info, nil
}

func (p at) describe(rel string) (contract.FileInfo, error) {
	info, err := p.root().Lstat(rel)
	if err != nil {
		return contract.FileInfo{}, err
	}
	mode, when := int64(info.Mode().Perm()), info.ModTime()
	out := contract.FileInfo{Path: path.Join(p.view[p.area].path, rel), Type: contract.FileTypeOther,
		Mode: &mode, ModifiedAt: &when}
	switch {
	case info.Mode().IsRegular():
		size := info.Size()
		out.Type, out.Size = contract.FileTypeFile, &size
	case info.IsDir():
		out.Type = contract.FileTypeDirectory
	case info.Mode()&fs.ModeSymlink != 0:
		out.Type = contract.FileTypeSymlink
		out.Target, err = p.root().Readlink(rel)
	}
	return out, err
}

// ReadDir lists a directory in name order. Entries that vanish meanwhile are
// left out.
func (a *Adapter) ReadDir(ctx context.Context, id, name string) ([]contract.FileInfo, error) {
	p, err := a.place(ctx, "ReadDir", id, name, true)
	if err != nil {
		return nil, err
	}
	out, err := p.entries()
	if err = errors.Join(err, p.close()); err != nil {
		return nil, fileFailure("ReadDir", id, port.OutcomeUnchanged, err)
	}
	return out, nil
}

func (p at) entries() ([]contract.FileInfo, error) {
	info, err := p.root().Stat(p.rel)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() { // opening it might wait, were it a named pipe
		return nil, &fs.PathError{Op: "readdir", Path: p.rel, Err: notDirectory}
	}
	d, err := p.root().Open(p.rel)
	if err != nil {
		return nil, err
	}
	entries, err := d.ReadDir(-1)
	if err = errors.Join(err, d.Close()); err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(x, y os.DirEntry) int { return cmp.Compare(x.Name(), y.Name()) })
	out := make([]contract.FileInfo, 0, len(entries))
	for _, e := range entries {
		// Not e.Info: it would go by the path instead of the root.
		info, err := p.describe(filepath.Join(p.rel, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, info)
	}
	return out, nil
}

// Mkdir makes a directory with exactly this mode, and its parents. A directory
// that exists keeps its mode.
func (a *Adapter) Mkdir(ctx context.Context, id, name string, mode int) error {
	const op = "Mkdir"
	if mode < 0 || mode > 0o777 {
		return refuse(op, id, port.CodeInvalidArgument, "a mode is permission bits: 0 to 0777")
	}
	return a.change(ctx, op, id, name, true, func(p at) error {
		root := p.root()
		if info, err := root.Lstat(p.rel); err == nil {
			if info.IsDir() {
				return nil
			}
			return &fs.PathError{Op: "mkdir", Path: p.rel, Err: fs.ErrExist}
		}
		if err := root.MkdirAll(path.Dir(p.rel), dirMode); err != nil {
			return err
		}
		if err := root.Mkdir(p.rel, fs.FileMode(mode)); err != nil {
			return err
		}
		return root.Chmod(p.rel, fs.FileMode(mode))
	})
}

// Remove deletes a path, a symbolic link itself rather than what it points to.
// The sandbox's own two directories cannot be removed.
func (a *Adapter) Remove(ctx context.Context, id, name string, recursive bool) error {
	return a.change(ctx, "Remove", id, name, false, func(p at) error {
		if p.rel == "." {
			return ownDirectory("Remove", id)
		}
		if !recursive {
			return p.root().Remove(p.rel)
		}
		if _, err := p.root().Lstat(p.rel); err != nil {
			return err // RemoveAll would be content
		}
		return p.root().RemoveAll(p.rel)
	})
}

// change runs a mutation at a resolved path.
func (a *Adapter) change(ctx context.Context, op, id, name string, follow bool, do func(at) error) error {
	p, err := a.place(ctx, op, id, name, follow)
	if err != nil {
		return err
	}
	err = do(p)
	if closeErr := p.close(); closeErr != nil && err == nil {
		return fileFailure(op, id, port.OutcomeDone, closeErr)
	}
	if err != nil {
		return fileFailure(op, id, port.OutcomeUnknown, err)
	}
	return nil
}

func ownDirectory(op, id string) error {
	return refuse(op, id, port.CodeInvalidArgument, "the sandbox's own directories cannot be moved or removed")
}

// Rename moves a path, also between home and the temporary directory, replacing
// a file at the target. Symbolic links at either end are moved or replaced, not
// followed.
func (a *Adapter) Rename(ctx context.Context, id, from, to string) error {
	const op = "Rename"
	if err := checkPath(op, id, to); err != nil {
		return err
	}
	return a.change(ctx, op, id, from, false, func(src at) error {
		dst, err := src.view.resolve(src.roots, to, false)
		switch {
		case err != nil:
			return err
		case src.rel == "." || dst.rel == ".":
			return ownDirectory(op, id)
		case src.area == dst.area:
			return src.root().Rename(src.rel, dst.rel)
		}
		return renameAcross(src.root(), src.rel, src.open[dst.area], dst.rel)
	})
}
