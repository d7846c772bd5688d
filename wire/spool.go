package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/agentworkforce/sbx/port"
)

// spoolInMemory is how much of a stream Spool keeps in memory.
const spoolInMemory = 1 << 20

// wrongSize is the contract's answer to a stream that does not hold what it
// announced.
func wrongSize(want int64, more bool) error {
	what := "ended before"
	if more {
		what = "goes on after"
	}
	return &port.Error{Code: port.CodeInvalidArgument, Op: "WriteFile",
		Reason: fmt.Sprintf("the stream %s its announced %d bytes", what, want)}
}

// ExactReader reads exactly size bytes of r and then io.EOF. When r holds
// fewer or more, it fails with CodeInvalidArgument instead of the last byte, so
// a receiver never gets a complete but wrong file. A size of 0 or less expects
// no bytes. It is not safe for concurrent use.
func ExactReader(r io.Reader, size int64) io.Reader { return &exactReader{r: r, size: size} }

type exactReader struct {
	r    io.Reader
	size int64
	n    int64 // delivered
	next [1]byte
	have bool // next holds the last byte, read and not delivered
	err  error
}

func (e *exactReader) Read(p []byte) (int, error) {
	if e.err != nil || len(p) == 0 {
		return 0, e.err
	}
	if left := e.size - 1 - e.n; left > 0 {
		if int64(len(p)) > left {
			p = p[:left]
		}
		n, err := e.r.Read(p)
		e.n += int64(n)
		if err == io.EOF {
			err = wrongSize(e.size, false)
		}
		e.err = err
		return n, err
	}
	e.err = e.last()
	if e.err == io.EOF && e.have {
		p[0] = e.next[0]
		e.n++
		return 1, nil
	}
	return 0, e.err
}

// last reads the final byte and makes sure that nothing follows it.
func (e *exactReader) last() error {
	if e.size > 0 {
		if _, err := io.ReadFull(e.r, e.next[:]); err == io.EOF {
			return wrongSize(e.size, false)
		} else if err != nil {
			return err
		}
	}
	var extra [1]byte
	switch _, err := io.ReadFull(e.r, extra[:]); {
	case err == nil:
		return wrongSize(e.size, true)
	case err != io.EOF:
		return err
	}
	e.have = e.size > 0
	return io.EOF
}

// Spooled is a stream that was read to its end: it has a known size and can be
// read again with Seek. Close removes it.
type Spooled struct {
	io.ReadSeeker
	Size int64
	file *os.File
}

// Close releases memory and the temporary file. It is idempotent.
func (s *Spooled) Close() error {
	if s.file == nil {
		return nil
	}
	name := s.file.Name()
	err := errors.Join(s.file.Close(), os.Remove(name))
	s.file = nil
	return err
}

// Spool reads ws to its end before anything is sent: 1 MiB in memory, more in
// a temporary file that only this user can read. Use it where a vendor wants
// the size first and ws.Size is -1, or where a half-sent file cannot be taken
// back. A size that differs from ws.Size is CodeInvalidArgument.
func Spool(ws port.WriteStream) (*Spooled, error) {
	src := ws.Reader
	if src == nil {
		src = bytes.NewReader(nil)
	}
	if ws.Size >= 0 {
		src = ExactReader(src, ws.Size)
	}
	start, err := io.ReadAll(io.LimitReader(src, spoolInMemory))
	if err != nil {
		return nil, err
	}
	if len(start) < spoolInMemory {
		return &Spooled{ReadSeeker: bytes.NewReader(start), Size: int64(len(start))}, nil
	}
	f, err := os.CreateTemp("", "sbx-spool-*")
	if err != nil {
		return nil, err
	}
	s := &Spooled{ReadSeeker: f, file: f}
	s.Size, err = io.Copy(f, io.MultiReader(bytes.NewReader(start), src))
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}
