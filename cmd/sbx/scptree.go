package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

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
		err := wire.TarDir(ctx, from, feeder)
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
