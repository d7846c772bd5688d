package wire

import (
	"bytes"
	"sync"
)

// DefaultOutputLimit is what CappedBuffer keeps when it is given no limit.
const DefaultOutputLimit = 8 << 20

// CappedBuffer keeps the first bytes written to it and counts the rest. Write
// never fails, so a command with much output still runs to its end. The zero
// value keeps DefaultOutputLimit bytes. It is safe for concurrent use.
//
// To keep secrets out, write through Redactor.Writer: it redacts before this
// truncates.
type CappedBuffer struct {
	mu    sync.Mutex
	limit int
	buf   []byte
	total int64
}

// NewCappedBuffer returns a buffer that keeps limit bytes; 0 or less means
// DefaultOutputLimit.
func NewCappedBuffer(limit int) *CappedBuffer { return &CappedBuffer{limit: limit} }

// Write keeps what fits of p.
func (b *CappedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.limit <= 0 {
		b.limit = DefaultOutputLimit
	}
	b.total += int64(len(p))
	b.buf = append(b.buf, p[:min(len(p), b.limit-len(b.buf))]...)
	return len(p), nil
}

// Bytes returns a copy of what was kept.
func (b *CappedBuffer) Bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.buf)
}

// Truncated reports whether more was written than kept.
func (b *CappedBuffer) Truncated() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.total > int64(len(b.buf))
}

// Total is the number of bytes written, kept or not.
func (b *CappedBuffer) Total() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.total
}
