package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// ErrUnwritable says that a bundle has a file without a place in a run's folder.
var ErrUnwritable = errors.New("not a file of a run's folder")

// Write writes the bundle to root/evidence/<provider>/<run> as a whole: either
// the folder is there with every file, or it is not there. A folder that exists is
// fs.ErrExist and stays as it is. It returns the slash path from root.
func (b *Bundle) Write(root string) (dir string, err error) {
	dir = path.Join("evidence", b.Provider, b.Run)
	if !fs.ValidPath(dir) || path.Base(path.Dir(dir)) != b.Provider || path.Base(dir) != b.Run {
		return "", fmt.Errorf("evidence: write: %q: %w", dir, ErrUnwritable)
	}
	target := filepath.Join(root, filepath.FromSlash(dir))
	if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fs.ErrExist
		}
		return "", fmt.Errorf("evidence: write: %s: %w", dir, err)
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return "", fmt.Errorf("evidence: write: %w", err)
	}
	temp, err := os.MkdirTemp(filepath.Dir(target), ".run-*")
	if err != nil {
		return "", fmt.Errorf("evidence: write: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(temp))
		}
	}()
	if err := b.fill(temp); err != nil {
		return "", fmt.Errorf("evidence: write: %w", err)
	}
	if err := os.Chmod(temp, 0o755); err != nil {
		return "", fmt.Errorf("evidence: write: %w", err)
	}
	if err := os.Rename(temp, target); err != nil {
		return "", fmt.Errorf("evidence: write: %w", err)
	}
	return dir, nil
}

func (b *Bundle) fill(dir string) error {
	for _, name := range b.names() {
		if !known(name) {
			return fmt.Errorf("%s: %w", name, ErrUnwritable)
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := writeDurably(file, b.Files[name]); err != nil {
			return err
		}
	}
	return nil
}

// writeDurably writes a new file that is on the disk when it returns.
func writeDurably(file string, content []byte) (err error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(content); err != nil {
		return err
	}
	return f.Sync()
}

// WriteEnvelope adds a signature to the folder of a run at root, replacing one
// that is there. The file is complete or as it was.
func WriteEnvelope(root, dir string, envelope []byte) (err error) {
	folder := filepath.Join(root, filepath.FromSlash(dir))
	f, err := os.CreateTemp(folder, ".sign-*")
	if err != nil {
		return fmt.Errorf("evidence: sign: %w", err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("evidence: sign: %w", errors.Join(err, os.Remove(f.Name())))
		}
	}()
	_, err = f.Write(envelope)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(folder, EnvelopeName))
}
