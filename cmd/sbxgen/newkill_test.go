package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A provider that is being made is killed at random moments. What is there then
// is nothing, or something that the same command completes.
func TestNewProviderSurvivesKills(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	program := filepath.Join(t.TempDir(), "sbxgen") // TestMain goes by the name
	require.NoError(t, os.Symlink(self, program))
	args := func(dir string) []string {
		return append([]string{"new", "provider", "--module", "example.com/acme", "--dir", dir}, acmeFlags()...)
	}
	state := t.TempDir()
	start := time.Now()
	want := makeIn(t, nil, acmeFlags()...)
	whole := time.Since(start)
	killed := 0
	for seed := range uint64(24) {
		dir := filepath.Join(t.TempDir(), "acme")
		moment := time.Duration(rand.New(rand.NewPCG(seed, 7)).Int64N(int64(2 * whole)))
		ctx, cancel := context.WithTimeout(t.Context(), moment)
		err := exec.CommandContext(ctx, program, args(dir)...).Run()
		cancel()
		var ended *exec.ExitError
		if errors.As(err, &ended) && ended.ExitCode() < 0 {
			killed++
		}
		code, out, stderr := command(nil, state, args(dir)...)
		require.Equal(t, exitClean, code, "killed after %v: %s%s", moment, out, stderr)
		require.Equal(t, want, files(t, dir), "killed after %v", moment)
	}
	require.Positive(t, killed)
	t.Logf("%d of 24 were killed before their end", killed)
}
