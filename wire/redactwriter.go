package wire

import (
	"errors"
	"io"
	"sync"
)

// RedactingWriter redacts a stream, also where a secret is split over several
// writes. Text passes at once unless it may be the beginning of a secret; such
// an end is held back until the next Write or Close. It is safe for concurrent
// use.
type RedactingWriter struct {
	r    *Redactor
	w    io.Writer
	mu   sync.Mutex
	scan scan
	held []byte
	err  error
}

// Writer returns a writer that redacts into w. It must be closed; closing it
// does not close w.
func (r *Redactor) Writer(w io.Writer) *RedactingWriter { return &RedactingWriter{r: r, w: w} }

// Write redacts p. The first error of the underlying writer is returned from
// then on.
func (rw *RedactingWriter) Write(p []byte) (int, error) {
	rw.mu.Lock()
	defer rw.mu.Unlock()
	if rw.err != nil {
		return 0, rw.err
	}
	if err := rw.push(p, false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes what was held back. It is idempotent.
func (rw *RedactingWriter) Close() error {
	rw.mu.Lock()
	defer rw.mu.Unlock()
	if errors.Is(rw.err, errWriterClosed) {
		return nil
	}
	if rw.err != nil {
		return rw.err
	}
	err := rw.push(nil, true)
	if err == nil {
		rw.err = errWriterClosed
	}
	return err
}

var errWriterClosed = errors.New("wire: write to a closed RedactingWriter")

func (rw *RedactingWriter) push(p []byte, final bool) error {
	rw.held = append(rw.held, p...)
	out, rest := rw.scan.run(rw.r, nil, rw.held, final)
	rw.held = append(rw.held[:0:0], rest...)
	if len(out) == 0 {
		return nil
	}
	n, err := rw.w.Write(out)
	if err == nil && n < len(out) {
		err = io.ErrShortWrite
	}
	rw.err = err
	return err
}
