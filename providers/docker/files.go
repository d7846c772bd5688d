package docker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// fileCommand is a file script with its arguments.
func fileCommand(script string, args ...string) contract.Command {
	return contract.Command{Argv: append([]string{"/bin/sh", "-c", script, "sbx"}, args...)}
}

// fileScript runs a file script to its end and returns what it printed.
func (a *Adapter) fileScript(ctx context.Context, op, id, path, script string, args ...string) ([]byte, error) {
	stdout, stderr := wire.NewCappedBuffer(defaultOutputLimit), wire.NewCappedBuffer(4<<10)
	c, err := a.start(ctx, id, launch{op: op, command: fileCommand(script, args...), stdout: stdout, stderr: stderr})
	if err != nil {
		return nil, err
	}
	var killed error
	select {
	case <-c.done:
	case <-ctx.Done():
		killed = c.kill()
	}
	code, err := c.result()
	switch ended := c.interrupted(ctx, killed); {
	case ended != nil:
		return nil, ended
	case err != nil:
		return nil, err
	case code != 0:
		return nil, a.fileError(op, id, path, code, stderr.Bytes())
	case stdout.Truncated():
		return nil, a.errorf(op, id, port.CodeProvider, port.OutcomeUnchanged, "the listing is larger than %d bytes", defaultOutputLimit)
	}
	return stdout.Bytes(), nil
}

func (a *Adapter) fileError(op, id, path string, exit int, stderr []byte) error {
	code, reason := fileFailure(exit)
	e := a.errorf(op, id, code, port.OutcomeUnchanged, "%s: %q", reason, path)
	if code == port.CodeProvider {
		e.Outcome = port.OutcomeUnknown
		e.Err = fmt.Errorf("exit code %d: %s", exit, strings.TrimSpace(string(stderr)))
	}
	return e
}

// cleanPath checks a path and takes slashes off its end.
func (a *Adapter) cleanPath(op, id, path string) (string, error) {
	if !strings.HasPrefix(path, "/") || strings.ContainsRune(path, 0) {
		return "", a.refuse(op, id, "the path must be absolute and without NUL bytes: %q", path)
	}
	trimmed := strings.TrimRight(path, "/")
	if trimmed == "" {
		return "/", nil
	}
	return trimmed, nil
}

// ReadFile opens a regular file, following symlinks. Where the file changes
// its size while it is read, the stream ends with an error. The context covers
// the opening alone; the receiver closes the stream.
func (a *Adapter) ReadFile(ctx context.Context, id string, path string) (port.ReadStream, error) {
	const op = "ReadFile"
	path, err := a.cleanPath(op, id, path)
	if err != nil {
		return port.ReadStream{}, err
	}
	out, stderr := newPipe(), wire.NewCappedBuffer(4<<10)
	c, err := a.start(ctx, id, launch{op: op, command: fileCommand(readScript, path), stdout: out, stderr: stderr,
		pipes: []*pipe{out}})
	if err != nil {
		return port.ReadStream{}, err
	}
	abandon := context.AfterFunc(ctx, func() { out.end(ctx.Err()) })
	r := bufio.NewReaderSize(out, 64<<10)
	head, err := r.ReadString('\n')
	opened := abandon() && err == nil
	f := &fileStream{c: c, r: r, pipe: out}
	if opened {
		if s, err := f.open(head, path); err == nil {
			return s, nil
		}
	}
	killed := f.Close()
	code, err := c.result()
	switch ended := c.interrupted(ctx, killed); {
	case ended != nil:
		return port.ReadStream{}, ended
	case err != nil:
		return port.ReadStream{}, err
	}
	return port.ReadStream{}, a.fileError(op, id, path, code, stderr.Bytes())
}

// fileStream is a file on its way out of the sandbox.
type fileStream struct {
	c    *command
	r    *bufio.Reader
	pipe *pipe
	size int64 // -1: not known
	n    int64
}

func (f *fileStream) open(head, path string) (port.ReadStream, error) {
	size, perm, _ := strings.Cut(strings.TrimSpace(head), " ")
	var err1, err2 error
	var bits uint64
	f.size, err1 = strconv.ParseInt(size, 10, 64)
	bits, err2 = strconv.ParseUint(perm, 8, 32)
	if err := errors.Join(err1, err2); err != nil {
		return port.ReadStream{}, err
	}
	// The kernel's own files have no size until they are read.
	if f.size == 0 && (strings.HasPrefix(path, "/proc/") || strings.HasPrefix(path, "/sys/")) {
		f.size = -1
	}
	mode := fileMode(uint32(bits))
	return port.ReadStream{ReadCloser: f, Size: f.size, Mode: &mode}, nil
}

// Read checks at the end that every byte came and that cat said so.
func (f *fileStream) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	f.n += int64(n)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	code, failed := f.c.result()
	switch {
	case failed != nil:
		return n, failed
	case code != 0 || f.size >= 0 && f.n != f.size:
		return n, f.c.a.errorf("ReadFile", f.c.id, port.CodeUnavailable, port.OutcomeUnchanged,
			"%d of %d bytes came; the file changed or could not be read to its end", f.n, f.size)
	}
	return n, io.EOF
}

// Close ends the reading.
func (f *fileStream) Close() error { return errors.Join(f.pipe.Close(), f.c.close()) }

// fileMode turns Unix permission bits into Go's.
func fileMode(bits uint32) fs.FileMode {
	m := fs.FileMode(bits & 0o777)
	for bit, mode := range map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if bits&bit != 0 {
			m |= mode
		}
	}
	return m
}

// WriteFile puts the bytes into a temporary file next to the target, checks
// their number, sets the permission bits and renames: a reader sees the old
// file or the new one. A symlink is followed. Parents are made with the user's
// umask. On failure nothing is left behind. Content of unknown size is read to
// its end first.
func (a *Adapter) WriteFile(ctx context.Context, id string, path string, mode int, content port.WriteStream) (err error) {
	const op = "WriteFile"
	clean, err := a.cleanPath(op, id, path)
	switch {
	case err != nil:
		return err
	case mode < 0 || mode > 0o7777:
		return a.refuse(op, id, "the mode %#o has bits beyond 07777", mode)
	case clean != path:
		return a.refuse(op, id, "the path names a directory: %q", path)
	}
	size, source := content.Size, content.Reader
	if source == nil {
		source = strings.NewReader("")
	}
	if size < 0 {
		spooled, err := wire.Spool(content)
		if err != nil {
			return a.sourceError(id, err)
		}
		defer func() { err = errors.Join(err, spooled.Close()) }()
		size, source = spooled.Size, spooled
	} else {
		source = wire.ExactReader(source, size)
	}
	return a.writeFile(ctx, id, path, mode, size, source)
}

func (a *Adapter) writeFile(ctx context.Context, id, path string, mode int, size int64, source io.Reader) error {
	const op = "WriteFile"
	mark, err := wire.NewMarker()
	if err != nil {
		return a.errorf(op, id, port.CodeProvider, port.OutcomeUnchanged, "no randomness for a name")
	}
	cmd := fileCommand(writeScript, path, mark, strconv.FormatInt(size, 10), strconv.FormatInt(int64(mode), 8))
	cmd.OpenStdin = true
	stderr := wire.NewCappedBuffer(4 << 10)
	c, err := a.start(ctx, id, launch{op: op, command: cmd, stdin: true, stdout: io.Discard, stderr: stderr})
	if err != nil {
		return err
	}
	src := &tracked{r: source}
	stop := context.AfterFunc(ctx, func() {
		if err := c.kill(); err != nil {
			return // kept by kill, asked for below
		}
	})
	// A receiver that is gone has ended, and its exit code says why: the script
	// compares what arrived with the size. Without one, this says more.
	_, sent := io.Copy(c.conn.Conn, src)
	if sent == nil {
		sent = c.conn.CloseWrite()
	}
	if src.err != nil || !stop() {
		killed := c.kill()
		return a.discard(ctx, id, path, mark, errors.Join(a.sourceError(id, src.err), c.interrupted(ctx, killed)))
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		killed := c.kill()
		return a.discard(ctx, id, path, mark, c.interrupted(ctx, killed))
	}
	code, err := c.result()
	switch {
	case err != nil:
		return a.discard(ctx, id, path, mark, errors.Join(err, sent))
	case code != 0:
		return a.fileError(op, id, path, code, stderr.Bytes())
	}
	return nil
}

// discard removes what an interrupted write left; first is why it was.
func (a *Adapter) discard(ctx context.Context, id, path, mark string, first error) error {
	cctx, cancel := a.cleanup(ctx)
	defer cancel()
	_, err := a.fileScript(cctx, "WriteFile", id, path, discardScript, path, mark)
	if code := port.CodeOf(err); code == port.CodeNotFound {
		err = nil
	}
	return errors.Join(first, err)
}

// sourceError is the caller's own reader failing.
func (a *Adapter) sourceError(id string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*port.Error](err); ok {
		e.Op, e.Provider, e.ID, e.Outcome = "WriteFile", a.variant.ProviderID, id, port.OutcomeUnchanged
		return e
	}
	e := a.refuse("WriteFile", id, "the content cannot be read")
	e.Err = err
	return e
}

// tracked remembers why its reader failed, to tell it from a failing receiver.
type tracked struct {
	r   io.Reader
	err error
}

func (t *tracked) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		t.err = err
	}
	return n, err
}
