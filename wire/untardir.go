package wire

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/agentworkforce/sbx/port"
)

// UntarLimits bound what an archive may unpack to. The zero value means 1 GiB
// and 100000 entries; a negative value means no bound.
type UntarLimits struct {
	MaxBytes   int64
	MaxEntries int
}

// UntarDir unpacks a tar stream below dir, which must exist: directories,
// regular files and symbolic links with their permission bits. Nothing is ever
// written outside dir, whatever the archive or a link already in dir says.
//
// An entry that is absolute, climbs out with "..", is a hard link, a device or sparse,
// or links to an absolute path or out of dir is CodeInvalidArgument wrapping
// *TarEntryError, as is an archive over its limits. A damaged one is
// CodeProvider. What came before the error stays unpacked, so give a fresh
// directory where that matters.
func UntarDir(ctx context.Context, r io.Reader, dir string, lim UntarLimits) (err error) {
	if lim.MaxBytes == 0 {
		lim.MaxBytes = 1 << 30
	}
	if lim.MaxEntries == 0 {
		lim.MaxEntries = 100_000
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	u := untar{root: root, t: tar.NewReader(r), lim: lim, dirs: map[string]fs.FileMode{}}
	for n := 1; ; n++ {
		if err := ContextError(ctx, untarOp, port.OutcomeUnchanged); err != nil {
			return err
		}
		h, err := u.t.Next()
		if err == io.EOF {
			return u.finish()
		}
		if err != nil {
			return tarBroken(untarOp, err)
		}
		if lim.MaxEntries > 0 && n > lim.MaxEntries {
			return entryError(untarOp, h.Name, fmt.Sprintf("is beyond the allowed %d entries", lim.MaxEntries))
		}
		if err := u.entry(h); err != nil {
			return err
		}
	}
}

const untarOp = "ReadFile"

type untar struct {
	root *os.Root
	t    *tar.Reader
	lim  UntarLimits
	used int64
	dirs map[string]fs.FileMode // modes to set last: a directory may be read-only
}

func (u *untar) entry(h *tar.Header) error {
	if h.Typeflag == tar.TypeXGlobalHeader {
		return nil
	}
	if strings.ContainsAny(h.Name, "\\\x00") || !filepath.IsLocal(filepath.FromSlash(h.Name)) {
		return entryError(untarOp, h.Name, "does not stay inside the directory")
	}
	name := path.Clean(h.Name)
	local := filepath.FromSlash(name)
	if parent := filepath.Dir(local); parent != "." {
		if err := u.root.MkdirAll(parent, 0o755); err != nil {
			return u.failed(h.Name, err)
		}
	}
	mode := h.FileInfo().Mode().Perm()
	switch h.Typeflag {
	case tar.TypeDir:
		if name == "." {
			return nil
		}
		if err := u.root.MkdirAll(local, 0o755); err != nil {
			return u.failed(h.Name, err)
		}
		u.dirs[local] = mode
		return nil
	case tar.TypeReg:
		if sparse(h) {
			return entryError(untarOp, h.Name, "is a sparse file, which is not unpacked")
		}
		return u.file(h, local, mode)
	case tar.TypeSymlink:
		return u.link(h, name, local)
	}
	return entryError(untarOp, h.Name, "is "+kind(h.Typeflag)+", which is not unpacked")
}

func (u *untar) file(h *tar.Header, local string, mode fs.FileMode) (err error) {
	if u.used += h.Size; u.lim.MaxBytes > 0 && (u.used > u.lim.MaxBytes || u.used < 0) {
		return entryError(untarOp, h.Name, fmt.Sprintf("is beyond the allowed %d bytes", u.lim.MaxBytes))
	}
	if err := u.clear(h.Name, local); err != nil {
		return err
	}
	f, err := u.root.OpenFile(local, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return u.failed(h.Name, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	dst := &noted{w: f}
	if _, err := io.Copy(dst, u.t); err != nil {
		if dst.err != nil {
			return dst.err // the disk's fault, not the archive's
		}
		return tarBroken(untarOp, err)
	}
	return f.Chmod(mode)
}

func (u *untar) link(h *tar.Header, name, local string) error {
	target := h.Linkname
	inside := path.Join(path.Dir(name), target)
	if target == "" || path.IsAbs(target) || strings.ContainsAny(target, "\\\x00") || !filepath.IsLocal(filepath.FromSlash(inside)) {
		return entryError(untarOp, h.Name, "is a symbolic link that leaves the directory")
	}
	if err := u.clear(h.Name, local); err != nil {
		return err
	}
	if err := u.root.Symlink(filepath.FromSlash(target), local); err != nil {
		return u.failed(h.Name, err)
	}
	return nil
}

// clear makes way for an entry, so that a link already there is replaced
// instead of written through.
func (u *untar) clear(entry, local string) error {
	info, err := u.root.Lstat(local)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return u.failed(entry, err)
	case info.IsDir():
		return entryError(untarOp, entry, "would replace a directory")
	}
	return u.root.Remove(local)
}

// finish sets the modes of directories, the deepest first.
func (u *untar) finish() error {
	names := make([]string, 0, len(u.dirs))
	for n := range u.dirs {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(b, a) })
	for _, n := range names {
		if err := u.root.Chmod(n, u.dirs[n]); err != nil {
			return err
		}
	}
	return nil
}

// failed tells an entry that the root's own guard refuses, or that contradicts
// an earlier one, from a failing disk: the guard's error carries no errno.
func (u *untar) failed(entry string, err error) error {
	if _, os := errors.AsType[syscall.Errno](err); os && !errors.Is(err, fs.ErrExist) && !errors.Is(err, syscall.ENOTDIR) {
		return err
	}
	return &port.Error{Code: port.CodeInvalidArgument, Op: untarOp, Outcome: port.OutcomeUnchanged,
		Err: errors.Join(&TarEntryError{Name: entry, Reason: "cannot be unpacked"}, err)}
}

// noted remembers the error of the side that is written to.
type noted struct {
	w   io.Writer
	err error
}

func (n *noted) Write(p []byte) (int, error) {
	k, err := n.w.Write(p)
	if err != nil {
		n.err = err
	}
	return k, err
}
