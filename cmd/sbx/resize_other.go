//go:build !unix

package main

import (
	"context"
	"os"
	"time"

	"github.com/agentworkforce/sbx/port"
	"golang.org/x/term"
)

// resizing keeps the size of t that of our terminal until ctx ends. No signal
// tells of a change here, so the size is looked at.
func resizing(ctx context.Context, t port.PTY, keys *os.File) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	lastCols, lastRows := 0, 0
	for {
		if cols, rows, err := term.GetSize(int(keys.Fd())); err == nil && (cols != lastCols || rows != lastRows) {
			lastCols, lastRows = cols, rows
			resize(ctx, t, keys)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
