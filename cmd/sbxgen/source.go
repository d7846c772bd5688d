package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/agentworkforce/sbx/internal/yamldoc"
)

// maxSource is the longest file, in bytes, of which lines are shown.
const maxSource = 32 << 20

// sourceReader gives the text printer the files that findings are about. A
// file that cannot be read, is no regular one or is longer than maxSource is
// shown without its line.
func sourceReader(root string) func(file string) []byte {
	return func(file string) []byte {
		if !filepath.IsAbs(file) {
			file = filepath.Join(root, filepath.FromSlash(file))
		}
		f, err := openRegular(file)
		if err != nil {
			return nil
		}
		b, err := io.ReadAll(io.LimitReader(f, maxSource+1))
		if errors.Join(err, f.Close()) != nil || len(b) > maxSource {
			return nil
		}
		return b
	}
}

// openRegular opens a file that can be read to its end: opening a pipe would wait
// for a writer, and a device may have no end. The error of what is neither wraps
// yamldoc.ErrNotRegular.
func openRegular(file string) (*os.File, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &os.PathError{Op: "open", Path: file, Err: yamldoc.ErrNotRegular}
	}
	return os.Open(file)
}
