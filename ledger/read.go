package ledger

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Log is what a ledger file holds.
type Log struct {
	Records   []Record // complete, chained records; Records[i] is line i+1
	Torn      bool     // a record without its newline ends the file; it was never acknowledged
	TornBytes int64    // its length
	Size      int64    // bytes of the complete records
	lastHash  string
}

// Ended reports whether the run ended in order. A log that is not ended may lack
// records at its end, see the package comment.
func (l *Log) Ended() bool {
	for i := len(l.Records) - 1; i >= 0; i-- {
		if l.Records[i].By == "" {
			return l.Records[i].Event == EventRunEnded
		}
	}
	return false
}

// Read reads a ledger file; it takes no lock, and may be called on a live run's.
// ErrNoRun means that it has no complete first record, a *CorruptError that a line
// cannot be one; the Log then holds the records before it, all of them good.
func Read(path string) (*Log, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	log, err := Parse(f)
	var corrupt *CorruptError
	if errors.As(err, &corrupt) {
		corrupt.Path = path
	}
	if closeErr := f.Close(); closeErr != nil {
		err = errors.Join(err, closeErr)
	}
	return log, err
}

// Parse is Read of a stream.
func Parse(r io.Reader) (*Log, error) {
	log := &Log{lastHash: firstHash()}
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := readLine(lines)
		switch {
		case errors.Is(err, io.EOF):
			log.Torn, log.TornBytes = len(line) > 0, int64(len(line))
			if len(log.Records) == 0 {
				return log, ErrNoRun
			}
			return log, nil
		case errors.Is(err, errLongLine):
			return log, &CorruptError{Line: len(log.Records) + 1, Reason: err.Error()}
		case err != nil:
			return log, fmt.Errorf("ledger: %w", err)
		}
		if err := log.add(line); err != nil {
			return log, err
		}
	}
}

var errLongLine = fmt.Errorf("is longer than %d bytes", maxLine)

// readLine returns the next line with its newline; io.EOF comes with the bytes
// after the last one. The slice is valid until the next call when it fits the buffer.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	long := bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(long) > maxLine {
			return nil, errLongLine
		}
		line, err = r.ReadSlice('\n')
		long = append(long, line...)
	}
	if err == nil && len(long) > maxLine {
		return nil, errLongLine
	}
	return long, err
}

func (l *Log) add(line []byte) error {
	var r Record
	n := len(l.Records) + 1
	if err := json.Unmarshal(line, &r); err != nil {
		return &CorruptError{Line: n, Reason: "is not a record", Err: err}
	}
	bad := func(format string, args ...any) error {
		return &CorruptError{Line: n, Reason: fmt.Sprintf(format, args...)}
	}
	switch {
	case r.V != Version:
		return bad("has version %d, this reader knows %d", r.V, Version)
	case r.Seq != uint64(n):
		return bad("has seq %d instead of %d", r.Seq, n)
	case r.PrevHash != l.lastHash:
		return bad("does not follow from the line before: prevHash is %.16q, expected %.16q", r.PrevHash, l.lastHash)
	case n == 1 && r.Event != EventRunStarted:
		return bad("is %q; the first record is %s", r.Event, EventRunStarted)
	case n > 1 && (r.Run != l.Records[0].Run || r.Owner != l.Records[0].Owner):
		return bad("belongs to run %q of %q, the file to %q of %q", r.Run, r.Owner, l.Records[0].Run, l.Records[0].Owner)
	}
	l.Records = append(l.Records, r)
	l.Size += int64(len(line))
	l.lastHash = lineHash(line)
	return nil
}

// readFirst reads the first record only.
func readFirst(path string) (rec Record, err error) {
	f, err := os.Open(path)
	if err != nil {
		return Record{}, fmt.Errorf("ledger: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	line, err := readLine(bufio.NewReader(f))
	switch {
	case errors.Is(err, io.EOF):
		return Record{}, ErrNoRun
	case errors.Is(err, errLongLine):
		return Record{}, &CorruptError{Path: path, Line: 1, Reason: err.Error()}
	case err != nil:
		return Record{}, fmt.Errorf("ledger: %w", err)
	}
	log := Log{lastHash: firstHash()}
	if err := log.add(line); err != nil {
		var corrupt *CorruptError
		if errors.As(err, &corrupt) {
			corrupt.Path = path
		}
		return Record{}, err
	}
	return log.Records[0], nil
}
