//go:build unix

package local

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const (
	lockShared    = unix.LOCK_SH
	lockExclusive = unix.LOCK_EX
)

// errLocked says that somebody else holds the lock.
var errLocked = errors.New("the folder is locked")

// folderLock is a lock on a directory. The kernel releases it with the process.
type folderLock struct{ f *os.File }

// lockFolder takes the lock of the directory at once or answers errLocked.
func lockFolder(path string, how int) (*folderLock, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: filepath.Base(path), Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	for {
		err = unix.Flock(fd, how|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err == nil {
		return &folderLock{f}, nil
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = errLocked
	}
	return nil, errors.Join(err, f.Close())
}

// holds reports whether the locked directory is still the one at path.
func (l *folderLock) holds(path string) bool {
	mine, err := l.f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Lstat(path)
	return err == nil && os.SameFile(mine, now)
}

func (l *folderLock) release() error { return l.f.Close() }

// syncDir makes the names in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
