package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentworkforce/sbx/port"
)

// unpack writes the entries of a tar stream below dir, which must exist:
// directories, files, symbolic and hard links, with their permission bits. A
// symbolic link is kept whatever it points to, as cp does, but nothing is ever
// written through one that leads out of dir: the sandbox is not trusted. What is
// already there under the name of an entry is replaced.
func unpack(r io.Reader, dir string) (err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return localError(err)
	}
	defer func() { err = join(err, root.Close()) }()
	archive := tar.NewReader(r)
	modes := map[string]fs.FileMode{} // of directories, set last: one may be read-only
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return brokenTar(err)
		}
		name := filepath.Clean(filepath.FromSlash(h.Name))
		if !filepath.IsLocal(name) {
			return entryError(h.Name, "does not stay inside the directory")
		}
		if h.Typeflag == tar.TypeDir {
			modes[name] = h.FileInfo().Mode().Perm()
			err = root.MkdirAll(name, 0o755)
		} else {
			err = unpackEntry(root, archive, h, name)
		}
		if err != nil {
			return err
		}
	}
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(modes))) {
		if err := root.Chmod(name, modes[name]); err != nil {
			return err
		}
	}
	return nil
}

// unpackEntry writes one entry that is no directory.
func unpackEntry(root *os.Root, content io.Reader, h *tar.Header, name string) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	switch h.Typeflag {
	case tar.TypeReg:
		f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, content)
		return join(err, f.Chmod(h.FileInfo().Mode().Perm()), f.Close())
	case tar.TypeSymlink:
		return root.Symlink(h.Linkname, name)
	case tar.TypeLink:
		from := filepath.Clean(filepath.FromSlash(h.Linkname))
		if !filepath.IsLocal(from) {
			return entryError(h.Name, "is a hard link to something outside the directory")
		}
		return root.Link(from, name)
	}
	return entryError(h.Name, "is neither a file, a directory nor a link")
}

func brokenTar(err error) error {
	return &port.Error{Code: port.CodeProvider, Op: "ReadFile", Outcome: port.OutcomeUnchanged, Reason: "the tar stream is damaged", Err: err}
}

func entryError(name, what string) error {
	return &port.Error{Code: port.CodeInvalidArgument, Op: "ReadFile", Outcome: port.OutcomeUnchanged,
		Reason: fmt.Sprintf("%q in the sandbox %s", strings.TrimPrefix(name, "./"), what)}
}
