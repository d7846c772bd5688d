package ledger

import (
	"errors"
	"fmt"
)

var (
	// ErrAlive says that another process holds the ledger file: the run is
	// alive, or somebody else is already recovering it.
	ErrAlive = errors.New("ledger: held by another process")
	// ErrNoRun says that the file has no complete first record: its run is being
	// started or died before it wrote one. It holds no intent.
	ErrNoRun = errors.New("ledger: no complete first record")
	// ErrClosed is returned by Append after Close.
	ErrClosed = errors.New("ledger: closed")
)

// LostError: the file of the run was taken away. Nothing was written.
type LostError struct {
	Path string
	Err  error
}

// Error says which file it is.
func (e *LostError) Error() string {
	return fmt.Sprintf("ledger %s: the file of this run was taken away: %v", e.Path, e.Err)
}

// Unwrap returns what was found instead.
func (e *LostError) Unwrap() error { return e.Err }

// PoisonedError is returned by the Append whose write or fsync failed and by
// every later one: what is on the disk is no longer known, so nothing may happen
// at a vendor on the strength of this ledger. Whether the failing record itself
// became durable is unknown.
type PoisonedError struct {
	Path string
	Err  error // the first failure
}

func (e *PoisonedError) Error() string {
	return fmt.Sprintf("ledger %s: unusable after a failed write: %v", e.Path, e.Err)
}

// Unwrap returns the first failure.
func (e *PoisonedError) Unwrap() error { return e.Err }

// CorruptError says that a complete line is not what an Append could have
// written there.
type CorruptError struct {
	Path   string // empty when read from a stream
	Line   int    // 1-based
	Reason string
	Err    error // cause, may be nil
}

func (e *CorruptError) Error() string {
	where := fmt.Sprintf("line %d", e.Line)
	if e.Path != "" {
		where = fmt.Sprintf("%s:%d", e.Path, e.Line)
	}
	if e.Err != nil {
		return fmt.Sprintf("ledger %s: %s: %v", where, e.Reason, e.Err)
	}
	return fmt.Sprintf("ledger %s: %s", where, e.Reason)
}

// Unwrap returns the cause.
func (e *CorruptError) Unwrap() error { return e.Err }

// InvalidError says that a value cannot be used: a record field, an identity, a
// setting. Nothing was written.
type InvalidError struct {
	Field  string // record field in its JSON spelling, or environment variable
	Reason string
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("ledger: %s %s", e.Field, e.Reason)
}
