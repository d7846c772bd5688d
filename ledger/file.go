package ledger

import "io"

// file is what a Writer needs of an *os.File; tests put faults in its place.
type file interface {
	io.WriterAt
	Truncate(size int64) error
	Sync() error
	Close() error
}

// writeBatch puts buf at off, where torn bytes without a newline may lie, and
// makes it durable. At no moment does the file lose complete records or gain a
// false one: what is left of the torn bytes behind buf has no newline either.
func writeBatch(f file, buf []byte, off, torn int64) error {
	n, err := f.WriteAt(buf, off)
	if err != nil {
		return err
	}
	if n < len(buf) {
		return io.ErrShortWrite
	}
	if torn > int64(len(buf)) {
		if err := f.Truncate(off + int64(len(buf))); err != nil {
			return err
		}
	}
	return f.Sync()
}
