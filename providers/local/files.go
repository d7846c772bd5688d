package local

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/agentworkforce/sbx/port"
)

// dirMode is the mode of parent directories that are made on the way.
const dirMode = 0o755

// at is a resolved path of one sandbox with the roots it is used through.
type at struct {
	*roots
	spot
	view view
}

func (p at) root() *os.Root { return p.open[p.area] }

// place resolves the path of an operation. The receiver closes it.
func (a *Adapter) place(ctx context.Context, op, id, name string, follow bool) (at, error) {
	if err := ctxFailure(ctx, op, id, port.OutcomeUnchanged); err != nil {
		return at{}, err
	}
	f, m, err := a.use(op, id)
	if err != nil {
		return at{}, err
	}
	if err := checkPath(op, id, name); err != nil {
		return at{}, err
	}
	v := viewOf(f, m)
	r, err := v.openRoots()
	if err != nil {
		return at{}, fileFailure(op, id, port.OutcomeUnchanged, err)
	}
	s, err := v.resolve(r, name, follow)
	if err != nil {
		return at{}, fileFailure(op, id, port.OutcomeUnchanged, errors.Join(err, r.close()))
	}
	return at{roots: r, spot: s, view: v}, nil
}

// checkPath refuses what is no path of the contract.
func checkPath(op, id, name string) error {
	if !filepath.IsAbs(name) || hasNUL(name) {
		return refuse(op, id, port.CodeInvalidArgument, "the path must be absolute and without NUL bytes")
	}
	return nil
}

func fileFailure(op, id string, outcome port.Outcome, err error) error {
	switch {
	case errors.Is(err, errOutside):
		return failed(op, id, port.CodePermissionDenied, outcome, "", errOutside)
	case errors.Is(err, errLinks):
		return failed(op, id, port.CodeInvalidArgument, outcome, "", errLinks)
	}
	return fsFailure(op, id, outcome, err)
}

// ReadFile opens a regular file below the sandbox's home or temporary directory.
// A relative path is invalid_argument. Other paths are permission_denied, also
// when a symbolic link leads there.
func (a *Adapter) ReadFile(ctx context.Context, id, name string) (port.ReadStream, error) {
	p, err := a.place(ctx, "ReadFile", id, name, true)
	if err != nil {
		return port.ReadStream{}, err
	}
	f, info, err := openRegular(p.root(), p.rel)
	if err = errors.Join(err, p.close()); err != nil {
		return port.ReadStream{}, fileFailure("ReadFile", id, port.OutcomeUnchanged, errors.Join(err, closeIf(f)))
	}
	if !info.Mode().IsRegular() {
		return port.ReadStream{}, failed("ReadFile", id, port.CodeInvalidArgument, port.OutcomeUnchanged,
			"not a regular file", f.Close())
	}
	mode := info.Mode().Perm()
	return port.ReadStream{ReadCloser: f, Size: info.Size(), Mode: &mode}, nil
}

func closeIf(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}

// openRegular does not wait for a writer when the path is a named pipe.
func openRegular(root *os.Root, rel string) (*os.File, fs.FileInfo, error) {
	f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	return f, info, err
}

// WriteFile replaces a file whole: a reader sees the old content or the new. A
// symbolic link at the path is followed. mode holds permission bits only.
func (a *Adapter) WriteFile(ctx context.Context, id, name string, mode int, content port.WriteStream) error {
	const op = "WriteFile"
	if mode < 0 || mode > 0o777 {
		return refuse(op, id, port.CodeInvalidArgument, "a mode is permission bits: 0 to 0777")
	}
	if content.Reader == nil {
		return refuse(op, id, port.CodeInvalidArgument, "there is no content")
	}
	p, err := a.place(ctx, op, id, name, true)
	if err != nil {
		return err
	}
	err = replace(ctx, p, fs.FileMode(mode), content)
	if closeErr := p.close(); err == nil && closeErr != nil {
		return fileFailure(op, id, port.OutcomeDone, closeErr)
	}
	if err != nil {
		return fileFailure(op, id, port.OutcomeUnchanged, err)
	}
	return nil
}

func replace(ctx context.Context, p at, mode fs.FileMode, content port.WriteStream) error {
	root := p.root()
	if p.rel == "." {
		return syscall.EISDIR
	}
	if info, err := root.Lstat(p.rel); err == nil && info.IsDir() {
		return syscall.EISDIR
	}
	dir := path.Dir(p.rel)
	if err := root.MkdirAll(dir, dirMode); err != nil {
		return err
	}
	tmp := path.Join(dir, ".sbx-"+rand.Text()+".tmp")
	f, err := root.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = copyExactly(ctx, f, content)
	if err == nil {
		err = f.Chmod(mode) // the umask has no say
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(tmp, p.rel)
	}
	if err != nil {
		return errors.Join(err, root.Remove(tmp))
	}
	return nil
}

func copyExactly(ctx context.Context, w io.Writer, content port.WriteStream) error {
	n, err := io.Copy(w, contextReader{ctx, content.Reader})
	if err != nil {
		if ctxErr := ctxFailure(ctx, "WriteFile", "", port.OutcomeUnchanged); ctxErr != nil {
			return ctxErr
		}
		return err
	}
	if content.Size >= 0 && n != content.Size {
		return refuse("WriteFile", "", port.CodeInvalidArgument, "the content has another size than was said")
	}
	return nil
}

// contextReader stops between reads when the caller gives up.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(b)
}
