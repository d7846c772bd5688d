//go:build unix

package main

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// oddFiles are a pipe in folder that nobody writes to, and a device without end.
func oddFiles(t *testing.T, folder string) []string {
	t.Helper()
	pipe := filepath.Join(folder, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	return []string{pipe, "/dev/zero"}
}
