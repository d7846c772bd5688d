//go:build unix

package local

import (
	"errors"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// notDirectory is the system's word for it.
const notDirectory = unix.ENOTDIR

// renameAcross renames between two roots. The parents are opened through their
// roots, and a rename follows no link at its ends.
func renameAcross(from *os.Root, old string, to *os.Root, name string) error {
	src, err := from.Open(path.Dir(old))
	if err != nil {
		return err
	}
	dst, err := to.Open(path.Dir(name))
	if err != nil {
		return errors.Join(err, src.Close())
	}
	err = unix.Renameat(int(src.Fd()), path.Base(old), int(dst.Fd()), path.Base(name))
	if err != nil {
		err = &os.LinkError{Op: "rename", Old: old, New: name, Err: err}
	}
	return errors.Join(err, src.Close(), dst.Close())
}
