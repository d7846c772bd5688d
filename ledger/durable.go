package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const (
	dirMode  = 0o700
	fileMode = 0o600
)

// mkdirDurable makes path and its missing parents, private to the user, and
// makes their names survive a crash.
func mkdirDurable(path string) error {
	err := os.Mkdir(path, dirMode)
	switch {
	case err == nil:
		return syncDir(filepath.Dir(path))
	case errors.Is(err, fs.ErrExist):
		info, statErr := os.Stat(path)
		if statErr != nil {
			return statErr
		}
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: path, Err: errors.New("not a directory")}
		}
		return nil
	case errors.Is(err, fs.ErrNotExist) && filepath.Dir(path) != path:
		parent := filepath.Dir(path)
		if err := mkdirDurable(parent); err != nil {
			return err
		}
		// Once more and no oftener: some file systems answer "no such file" for a
		// folder that may not be made, although its parent is there.
		if err := os.Mkdir(path, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return syncDir(parent)
	default:
		return err
	}
}

// once returns the text of the file at path, making it first when there is none:
// of any number of processes that call it at once, one makes it and all get the
// same. A file that exists is never replaced, whatever it holds.
func once(ctx context.Context, path string, newText func() (string, error)) (string, error) {
	if text, err := readText(path); !errors.Is(err, fs.ErrNotExist) {
		return text, err
	}
	if err := mkdirDurable(filepath.Dir(path)); err != nil {
		return "", err
	}
	lock := flock.New(path + ".lock")
	if _, err := lock.TryLockContext(ctx, 5*time.Millisecond); err != nil {
		return "", fmt.Errorf("lock %s: %w", path, err)
	}
	text, err := readText(path)
	if errors.Is(err, fs.ErrNotExist) {
		if text, err = newText(); err == nil {
			err = replaceFile(path, text+"\n")
		}
	}
	return text, errors.Join(err, lock.Unlock())
}

func readText(path string) (string, error) {
	b, err := os.ReadFile(path)
	return strings.TrimSpace(string(b)), err
}

// replaceFile writes text under a second name and moves it into place; the
// caller holds the lock that makes the second name its own.
func replaceFile(path, text string) error {
	tmp := path + ".tmp"
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, fileMode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}
