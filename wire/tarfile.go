package wire

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/agentworkforce/sbx/port"
)

const tarBlock = 512

// TarFile returns a tar stream with one regular file of exactly size bytes,
// made while it is read. path is the name inside the archive, mode its
// permission bits. The modification time is the epoch's, so equal input gives
// equal bytes.
//
// A negative size is CodeInvalidArgument (see Spool). When r holds another
// number of bytes, reading fails with CodeInvalidArgument before the file is
// complete and the archive is never ended; a receiver that unpacks while it
// reads must still remove its partial file.
func TarFile(path string, mode fs.FileMode, size int64, r io.Reader) (io.Reader, error) {
	if size < 0 {
		return nil, &port.Error{Code: port.CodeInvalidArgument, Op: "WriteFile", Outcome: port.OutcomeUnchanged,
			Reason: "a tar stream needs the size of the file in advance"}
	}
	var head bytes.Buffer
	w := tar.NewWriter(&head)
	err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path, Mode: int64(mode.Perm()), Size: size})
	if err != nil {
		return nil, &port.Error{Code: port.CodeInvalidArgument, Op: "WriteFile", Outcome: port.OutcomeUnchanged,
			Reason: "the path cannot be stored in a tar stream", Err: err}
	}
	padding := (tarBlock - size%tarBlock) % tarBlock
	end := make([]byte, padding+2*tarBlock)
	return io.MultiReader(&head, ExactReader(r, size), bytes.NewReader(end)), nil
}

// TarEntryError says that a tar entry is not one that may be unpacked here.
type TarEntryError struct {
	Name   string
	Reason string
}

// Error renders name and reason.
func (e *TarEntryError) Error() string { return fmt.Sprintf("tar entry %q %s", e.Name, e.Reason) }

func entryError(op, name, reason string) error {
	return &port.Error{Code: port.CodeInvalidArgument, Op: op, Outcome: port.OutcomeUnchanged,
		Err: &TarEntryError{Name: name, Reason: reason}}
}

func tarBroken(op string, err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return &port.Error{Code: port.CodeProvider, Op: op, Outcome: port.OutcomeUnchanged,
		Reason: "the tar stream is damaged or cut short", Err: err}
}

// UntarFile reads the one regular file of a tar stream. The result knows its
// size and permission bits; closing it closes rc. On an error rc is closed.
//
// Errors: CodeInvalidArgument wrapping *TarEntryError when the entry is a
// directory, a link, a device or a sparse file, CodeNotFound when the archive is empty,
// CodeProvider when it is damaged. An archive that is cut inside the file or
// holds a second entry fails while it is read, never with io.EOF.
func UntarFile(rc io.ReadCloser) (port.ReadStream, error) {
	const op = "ReadFile"
	t := tar.NewReader(rc)
	h, err := t.Next()
	switch {
	case err == io.EOF:
		err = &port.Error{Code: port.CodeNotFound, Op: op, Outcome: port.OutcomeUnchanged, Reason: "the tar stream holds no file"}
	case err != nil:
		err = tarBroken(op, err)
	case h.Typeflag != tar.TypeReg:
		err = entryError(op, h.Name, "is "+kind(h.Typeflag)+", not a regular file")
	case sparse(h):
		err = entryError(op, h.Name, "is a sparse file")
	}
	if err != nil {
		if closeErr := rc.Close(); closeErr != nil {
			err = errors.Join(err, closeErr)
		}
		return port.ReadStream{}, err
	}
	mode := h.FileInfo().Mode().Perm()
	return port.ReadStream{ReadCloser: &tarBody{t: t, c: rc}, Size: h.Size, Mode: &mode}, nil
}

type tarBody struct {
	t   *tar.Reader
	c   io.Closer
	err error
}

func (b *tarBody) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.t.Read(p)
	switch {
	case err == io.EOF:
		b.err = b.end()
	case err != nil:
		b.err = tarBroken("ReadFile", err)
	}
	return n, b.err
}

// end makes sure that the archive was ended and not cut after the file.
func (b *tarBody) end() error {
	switch h, err := b.t.Next(); {
	case err == io.EOF:
		return io.EOF
	case err != nil:
		return tarBroken("ReadFile", err)
	default:
		return entryError("ReadFile", h.Name, "follows the one file that was asked for")
	}
}

func (b *tarBody) Close() error { return b.c.Close() }

// sparse finds files with holes: a few bytes of archive would unpack to any size.
func sparse(h *tar.Header) bool {
	for k := range h.PAXRecords {
		if strings.HasPrefix(k, "GNU.sparse.") {
			return true
		}
	}
	return false
}

func kind(flag byte) string {
	switch flag {
	case tar.TypeDir:
		return "a directory"
	case tar.TypeSymlink:
		return "a symbolic link"
	case tar.TypeLink:
		return "a hard link"
	case tar.TypeChar, tar.TypeBlock:
		return "a device"
	case tar.TypeFifo:
		return "a named pipe"
	}
	return "of another kind"
}
