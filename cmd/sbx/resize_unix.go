//go:build unix

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/agentworkforce/sbx/port"
)

// resizing keeps the size of t that of our terminal until ctx ends.
func resizing(ctx context.Context, t port.PTY, keys *os.File) {
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	defer signal.Stop(changed)
	resize(ctx, t, keys) // it may have changed before anybody listened
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			resize(ctx, t, keys)
		}
	}
}
