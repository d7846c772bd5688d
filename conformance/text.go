package conformance

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
)

// execLimit is the life of a command that is expected to end by itself.
const execLimit = time.Minute

// equal says how got differs from want.
func equal[T string | []byte](what string, want, got T) error {
	w, g := []byte(want), []byte(got)
	if bytes.Equal(w, g) {
		return nil
	}
	at := 0
	for at < len(w) && at < len(g) && w[at] == g[at] {
		at++
	}
	return fmt.Errorf("%s: got %d bytes, want %d; they differ at byte %d: got %s, want %s", what, len(g), len(w), at,
		quoteHead(g[at:]), quoteHead(w[at:]))
}

// quoteHead shows the first bytes of b in one line.
func quoteHead(b []byte) string {
	const most = 120
	if len(b) <= most {
		return fmt.Sprintf("%q", b)
	}
	return fmt.Sprintf("%q and %d bytes more", b[:most], len(b)-most)
}

// brief names a command in an error.
func brief(c contract.Command) string {
	text := c.Script
	if text == "" {
		text = strings.Join(c.Argv, " ")
	}
	return quoteHead([]byte(text))
}

// octal spells bytes for the format of a POSIX printf.
func octal(b []byte) string {
	var out strings.Builder
	for _, c := range b {
		fmt.Fprintf(&out, `\%03o`, c)
	}
	return out.String()
}

// allBytes are the 256 byte values in order.
func allBytes() []byte {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// emptyReader has no content.
type emptyReader struct{}

func (emptyReader) Read([]byte) (int, error) { return 0, io.EOF }
