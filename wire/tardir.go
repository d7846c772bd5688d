package wire

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agentworkforce/sbx/port"
)

// TarDir writes the tree below dir to w as a tar stream: directories, regular
// files and symbolic links with their permission bits, in lexical order, names
// relative to dir, without owners and times, so equal trees give equal bytes.
// Symbolic links are stored as they are and never followed out of dir.
//
// A device, socket or pipe is CodeInvalidArgument wrapping *TarEntryError. A
// file that changes its size meanwhile fails. After an error what was written
// is not an archive.
func TarDir(ctx context.Context, dir string, w io.Writer) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	t := tar.NewWriter(w)
	err = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ContextError(ctx, "WriteFile", port.OutcomeUnknown); err != nil {
			return err
		}
		if path == "." {
			return nil
		}
		return addEntry(t, root, path, d)
	})
	if err != nil {
		return err
	}
	return t.Close()
}

func addEntry(t *tar.Writer, root *os.Root, path string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	h := &tar.Header{Name: path, Mode: int64(info.Mode().Perm())}
	switch {
	case info.IsDir():
		h.Typeflag, h.Name = tar.TypeDir, path+"/"
	case info.Mode()&fs.ModeSymlink != 0:
		h.Typeflag, h.Mode = tar.TypeSymlink, 0o777
		target, err := root.Readlink(filepath.FromSlash(path))
		if err != nil {
			return err
		}
		h.Linkname = filepath.ToSlash(target)
	case info.Mode().IsRegular():
		return addFile(t, root, path)
	default:
		return entryError("WriteFile", path, "is neither a file, a directory nor a symbolic link")
	}
	return t.WriteHeader(h)
}

func addFile(t *tar.Writer, root *os.Root, path string) (err error) {
	f, err := root.Open(filepath.FromSlash(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat() // of what is open, not of what the walk saw
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return entryError("WriteFile", path, "changed its kind while it was read")
	}
	err = t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path, Mode: int64(info.Mode().Perm()), Size: info.Size()})
	if err != nil {
		return err
	}
	_, err = io.Copy(t, ExactReader(f, info.Size()))
	return err
}
