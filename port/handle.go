package port

import (
	"context"
	"io"
	"io/fs"
)

// The types in this file are the closed set of handles that schema/ may name
// as parameters or results. A new handle is a design decision, because every
// transport and wrapper has to carry it.

// Process is a running command with live streams. Its methods may be called
// concurrently. Close is idempotent, releases local resources and ends the
// command when it still runs.
type Process interface {
	// Stdin is the command's standard input. Closing it sends end-of-file.
	// It is nil when the command was started without one.
	Stdin() io.WriteCloser
	// Stdout delivers bytes as the command writes them and ends with io.EOF.
	Stdout() io.Reader
	// Stderr is nil when the provider merges the streams into Stdout.
	Stderr() io.Reader
	// Wait returns the exit code once the command ended. A lost exit code is
	// an *Error with CodeExitUnknown, never 0. Wait may be called repeatedly.
	Wait(ctx context.Context) (int, error)
	// Kill ends the command and everything it started.
	Kill(ctx context.Context) error
	Close() error
}

// PTY is an interactive command on a pseudo terminal. Read and Write carry
// the terminal's bytes; Read ends with io.EOF when the command ended.
type PTY interface {
	io.ReadWriteCloser
	// Resize sets the terminal size in character cells.
	Resize(ctx context.Context, cols, rows int) error
	// Wait is Process.Wait.
	Wait(ctx context.Context) (int, error)
}

// ReadStream carries bytes out of a sandbox: a file, a log. The receiver closes it.
type ReadStream struct {
	io.ReadCloser
	// Size is the exact number of bytes to come, -1 when not known.
	Size int64
	// Mode holds the permission bits of the file; nil when not known.
	Mode *fs.FileMode
}

// WriteStream carries bytes into a sandbox. The adapter reads it to io.EOF at
// most once and does not close it.
type WriteStream struct {
	io.Reader
	// Size is the exact number of bytes to come, -1 when not known. A reader
	// that yields another number is an invalid_argument and leaves no file behind.
	Size int64
}

// DestroyOutcome is what the vendor answered to a destroy. It is never proof
// that the sandbox is gone: sandbox/ looks again.
type DestroyOutcome string

const (
	// DestroyAccepted means the vendor took the request for an existing sandbox.
	DestroyAccepted DestroyOutcome = "accepted"
	// DestroyAlreadyAbsent means the vendor said, for these credentials, that
	// there is no such sandbox.
	DestroyAlreadyAbsent DestroyOutcome = "already-absent"
)
