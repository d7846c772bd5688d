//go:build unix

package background_test

import (
	"io"
	"os"
	"os/exec"
	"testing"

	_ "github.com/charmbracelet/bubbletea" // what would ask
	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	_ "github.com/agentworkforce/sbx/internal/forms/background"
)

// A program with forms in it asks the terminal nothing by being started.
func TestStartingAsksTheTerminalNothing(t *testing.T) {
	self := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	self.Env = append(os.Environ(), "TERM=xterm-256color")
	terminal, err := pty.Start(self)
	require.NoError(t, err)
	screen, err := io.ReadAll(terminal)
	if len(screen) == 0 { // at its end a terminal gives EIO
		require.NoError(t, err)
	}
	require.NoError(t, self.Wait())
	require.NoError(t, terminal.Close())
	require.Contains(t, string(screen), "PASS")
	require.NotContains(t, string(screen), "\x1b")
}
