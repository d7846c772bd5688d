//go:build unix

package gate

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// thousand makes 1,000 different manifests and returns the root and the files.
func thousand(b *testing.B) (string, []string) {
	b.Helper()
	root := b.TempDir()
	files := make([]string, 1000)
	for i := range files {
		id := fmt.Sprintf("vendor-%04d", i)
		dir := filepath.Join(root, "providers", id)
		require.NoError(b, os.MkdirAll(dir, 0o755))
		files[i] = filepath.Join(dir, ManifestName)
		require.NoError(b, os.WriteFile(files[i], []byte(goodManifest(b, id)), 0o644))
	}
	return root, files
}

// BenchmarkThousandManifests compares a run with nothing cached, one with
// nothing changed, and reading and hashing the same files one after another.
func BenchmarkThousandManifests(b *testing.B) {
	root, files := thousand(b)
	run := func(b *testing.B, o Options, cached int) {
		b.ReportAllocs()
		defer reportCPU(b, cpuTime(b))
		for b.Loop() {
			set, stats, err := Validate(context.Background(), o)
			if err != nil || set.Len() > 0 || stats.Files != len(files) || stats.Cached != cached {
				b.Fatal(err, set, stats)
			}
			b.SetBytes(stats.Bytes)
		}
	}
	b.Run("cold", func(b *testing.B) { run(b, Options{Root: root, NoCache: true, AsOf: asOf()}, 0) })
	b.Run("cold-one-worker", func(b *testing.B) { run(b, Options{Root: root, NoCache: true, AsOf: asOf(), Workers: 1}, 0) })
	dir := b.TempDir()
	_, _, err := Validate(context.Background(), Options{Root: root, CacheDir: dir, AsOf: asOf()})
	require.NoError(b, err)
	b.Run("warm", func(b *testing.B) { run(b, Options{Root: root, CacheDir: dir, AsOf: asOf()}, len(files)) })
	b.Run("sha256", func(b *testing.B) {
		defer reportCPU(b, cpuTime(b))
		for b.Loop() {
			for _, name := range files {
				if err := hashFile(name); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("one-file", func(b *testing.B) {
		run := Options{Root: root, NoCache: true, AsOf: asOf(), Paths: []string{files[500]}}
		for b.Loop() {
			if _, _, err := Validate(context.Background(), run); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// cpuTime returns the processor time of this process, which says more than wall
// time on a machine that is shared.
func cpuTime(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func reportCPU(b *testing.B, since time.Duration) {
	b.ReportMetric(float64((cpuTime(b)-since).Milliseconds())/float64(b.N), "cpu-ms/op")
}

func hashFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(sha256.New(), f)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}
