//go:build unix

package reference

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// usable refuses files operations on a sandbox that is not there or not running.
func (a *Adapter) usable(ctx context.Context, op, id string) error {
	if err := a.pause(ctx); err != nil {
		return err
	}
	a.v.mu.Lock()
	defer a.v.mu.Unlock()
	_, err := a.v.running(op, id)
	return err
}

// fileError gives an error of the file system its code.
func fileError(op, id string, err error) error {
	if err == nil {
		return nil
	}
	c := port.CodeProvider
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		c = port.CodeNotFound
	case errors.Is(err, fs.ErrPermission):
		c = port.CodePermissionDenied
	case errors.Is(err, syscall.ENOTEMPTY), errors.Is(err, fs.ErrExist):
		c = port.CodeFailedPrecondition
	}
	return &port.Error{Code: c, Op: op, ID: id, Outcome: port.OutcomeUnchanged, Err: err}
}

// ReadFile implements contract.FileReadWriter.
func (a *Adapter) ReadFile(ctx context.Context, id, path string) (port.ReadStream, error) {
	if err := a.usable(ctx, "ReadFile", id); err != nil {
		return port.ReadStream{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return port.ReadStream{}, fileError("ReadFile", id, err)
	}
	info, err := f.Stat()
	if err != nil {
		return port.ReadStream{}, errors.Join(fileError("ReadFile", id, err), f.Close())
	}
	if !info.Mode().IsRegular() {
		return port.ReadStream{}, errors.Join(fail("ReadFile", id, port.CodeInvalidArgument, "it is not a regular file"), f.Close())
	}
	mode := info.Mode().Perm()
	return port.ReadStream{ReadCloser: f, Size: info.Size(), Mode: &mode}, nil
}

// WriteFile implements contract.FileReadWriter: the file appears when it is whole.
func (a *Adapter) WriteFile(ctx context.Context, id, path string, mode int, content port.WriteStream) (err error) {
	if err := a.usable(ctx, "WriteFile", id); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fileError("WriteFile", id, err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return fileError("WriteFile", id, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	n, err := io.Copy(f, content)
	if err := errors.Join(err, f.Chmod(fs.FileMode(mode).Perm()), f.Close()); err != nil {
		return fileError("WriteFile", id, err)
	}
	if content.Size >= 0 && n != content.Size {
		return fail("WriteFile", id, port.CodeInvalidArgument, "the content has another size than was said")
	}
	return fileError("WriteFile", id, os.Rename(f.Name(), path))
}

// Stat implements contract.FileManager.
func (a *Adapter) Stat(ctx context.Context, id, path string) (contract.FileInfo, error) {
	if err := a.usable(ctx, "Stat", id); err != nil {
		return contract.FileInfo{}, err
	}
	info, err := describe(path)
	return info, fileError("Stat", id, err)
}

func describe(path string) (contract.FileInfo, error) {
	i, err := os.Lstat(path)
	if err != nil {
		return contract.FileInfo{}, err
	}
	size, mode, at := i.Size(), int64(i.Mode().Perm()), i.ModTime()
	out := contract.FileInfo{Path: path, Type: contract.FileTypeOther, Size: &size, Mode: &mode, ModifiedAt: &at}
	switch i.Mode().Type() {
	case 0:
		out.Type = contract.FileTypeFile
	case fs.ModeDir:
		out.Type = contract.FileTypeDirectory
	case fs.ModeSymlink:
		out.Type = contract.FileTypeSymlink
		out.Target, err = os.Readlink(path)
	}
	return out, err
}

// ReadDir implements contract.FileManager.
func (a *Adapter) ReadDir(ctx context.Context, id, path string) ([]contract.FileInfo, error) {
	if err := a.usable(ctx, "ReadDir", id); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fileError("ReadDir", id, err)
	}
	var out []contract.FileInfo
	for _, e := range entries {
		i, err := describe(filepath.Join(path, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, fileError("ReadDir", id, err)
		}
		out = append(out, i)
	}
	return out, nil
}

// Mkdir implements contract.FileManager.
func (a *Adapter) Mkdir(ctx context.Context, id, path string, mode int) error {
	if err := a.usable(ctx, "Mkdir", id); err != nil {
		return err
	}
	return fileError("Mkdir", id, os.MkdirAll(path, fs.FileMode(mode).Perm()))
}

// Remove implements contract.FileManager.
func (a *Adapter) Remove(ctx context.Context, id, path string, recursive bool) error {
	if err := a.usable(ctx, "Remove", id); err != nil {
		return err
	}
	if !recursive {
		return fileError("Remove", id, os.Remove(path))
	}
	if _, err := os.Lstat(path); err != nil {
		return fileError("Remove", id, err)
	}
	return fileError("Remove", id, os.RemoveAll(path))
}

// Rename implements contract.FileManager.
func (a *Adapter) Rename(ctx context.Context, id, from, to string) error {
	if err := a.usable(ctx, "Rename", id); err != nil {
		return err
	}
	return fileError("Rename", id, os.Rename(from, to))
}
