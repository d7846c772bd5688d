package main

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/agentworkforce/sbx/wire"
)

// The scripts get their paths as arguments. Owners are those of whoever unpacks,
// permission bits are kept whatever the umask, and times are those of the copy: the
// stream carries none.
const (
	unpackScript = `mkdir -p "$1" && tar -xpomf - -C "$1" && chmod "$2" "$1"`
	packScript   = `tar -cf - -C "$1" .`
)

// treeIn copies the directory from to the directory to, which is made.
func (c *copying) treeIn(ctx context.Context, from, to string, mode fs.FileMode) error {
	c.view.Via = "tar"
	proc, err := c.sb.Stream(ctx, contract.Command{Argv: []string{"sh", "-c", unpackScript, "sh", to, octal(mode)}, OpenStdin: true})
	if err != nil {
		return err
	}
	in := proc.Stdin()
	feeder := &counter{ctx: ctx, w: in}
	packed := make(chan error, 1)
	go func() {
		err := writeDir(ctx, from, feeder)
		packed <- join(err, in.Close())
	}()
	err = drained(ctx, proc, c.sb)
	packErr := <-packed
	c.view.Bytes = feeder.n
	if err != nil && feeder.failed {
		return err // it stopped reading, and says why
	}
	return join(packErr, err)
}

// treeOut copies the directory from to the directory to, which is made.
func (c *copying) treeOut(ctx context.Context, from, to string, mode fs.FileMode) error {
	c.view.Via = "tar"
	if err := os.MkdirAll(to, 0o755); err != nil {
		return localError(err)
	}
	proc, err := c.sb.Stream(ctx, contract.Command{Argv: []string{"sh", "-c", packScript, "sh", from}})
	if err != nil {
		return err
	}
	stderr := wire.NewCappedBuffer(4 << 10)
	read := make(chan struct{})
	go func() {
		defer close(read)
		if proc.Stderr() != nil {
			if _, err := io.Copy(stderr, proc.Stderr()); err != nil {
				return // the exit code says that it failed
			}
		}
	}()
	count := &counted{ctx: ctx, r: proc.Stdout(), what: "tar"}
	err = unpack(count, to)
	if err == nil {
		_, err = io.Copy(io.Discard, count) // padding behind the archive's end
	}
	c.view.Bytes = count.n
	if err != nil {
		return join(err, proc.Close())
	}
	<-read
	code, err := proc.Wait(ctx)
	if err == nil && code != 0 {
		err = commandFailed(c.sb, "tar", code, stderr.Bytes())
	}
	if err == nil && mode != 0 {
		err = os.Chmod(to, mode)
	}
	return join(err, proc.Close())
}

// drained waits for a command that prints nothing to speak of.
func drained(ctx context.Context, proc port.Process, sb *sandbox.Sandbox) error {
	out, errOut := wire.NewCappedBuffer(4<<10), wire.NewCappedBuffer(4<<10)
	done := make(chan error, 2)
	pump := func(to io.Writer, from io.Reader) {
		if from == nil {
			done <- nil
			return
		}
		_, err := io.Copy(to, from)
		done <- err
	}
	go pump(out, proc.Stdout())
	go pump(errOut, proc.Stderr())
	code, err := wait(ctx, proc)
	if err == nil {
		err = join(<-done, <-done)
	}
	if err == nil && code != 0 {
		err = commandFailed(sb, "tar", code, append(errOut.Bytes(), out.Bytes()...))
	}
	return join(err, proc.Close())
}

func octal(mode fs.FileMode) string {
	const digits = "01234567"
	m := mode.Perm()
	return string([]byte{'0', digits[m>>6&7], digits[m>>3&7], digits[m&7]})
}

// counter passes bytes on, tells how many, and remembers that nobody took them.
type counter struct {
	ctx    context.Context
	w      io.Writer
	n      int64
	failed bool
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	if err != nil && !errors.Is(err, context.Canceled) {
		c.failed = true
	}
	port.ReportProgress(c.ctx, port.Progress{Phase: "tar", Current: c.n})
	return n, err
}

// writeDir packs the directory dir so that every tar can unpack it: one that may
// not be written to is writable until everything is in it. Its own permission bits
// follow at the end, the deepest first.
func writeDir(ctx context.Context, dir string, w io.Writer) error {
	r, plain := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		err := wire.TarDir(ctx, dir, plain)
		packed <- join(err, plain.CloseWithError(err))
	}()
	if err := restrictLast(tar.NewReader(r), tar.NewWriter(w)); err != nil {
		return join(err, r.CloseWithError(err), ignoring(<-packed, err))
	}
	_, err := io.Copy(io.Discard, r) // padding
	return join(err, <-packed)
}

// ignoring drops an error that only passes on another one.
func ignoring(err, other error) error {
	if errors.Is(err, other) {
		return nil
	}
	return err
}

func restrictLast(from *tar.Reader, to *tar.Writer) error {
	var late []*tar.Header
	for {
		h, err := from.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if h.Typeflag == tar.TypeDir && h.Mode&0o700 != 0o700 {
			last := *h
			late = append(late, &last)
			h.Mode |= 0o700
		}
		if err := to.WriteHeader(h); err != nil {
			return err
		}
		if _, err := io.Copy(to, from); err != nil {
			return err
		}
	}
	for _, h := range slices.Backward(late) {
		if err := to.WriteHeader(h); err != nil {
			return err
		}
	}
	return to.Close()
}
