package tree

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// benchTree is 50 units of 14 files, 250,000 lines in all.
func benchTree(b *testing.B) (string, Plan, []string) {
	b.Helper()
	root := b.TempDir()
	plan := bulk(50, 14, 357, "one")
	apply(b, root, plan, Options{})
	files, err := filepath.Glob(filepath.Join(root, "providers/*/zz_generated_*"))
	require.NoError(b, err)
	require.Len(b, files, 700)
	return root, plan, files
}

// BenchmarkCheckClean measures the clean check against hashing the same files,
// taking turns: vs-hash is against one goroutine of this process, vs-sha256sum
// against the command where it is installed.
func BenchmarkCheckClean(b *testing.B) {
	root, plan, files := benchTree(b)
	tool, lookErr := exec.LookPath("sha256sum")
	var checking, hashing, command time.Duration
	for b.Loop() {
		start := time.Now()
		r, err := Check(context.Background(), root, plan, CheckOptions{})
		checking += time.Since(start)
		if err != nil || !r.Clean() || r.Hashed != len(files) {
			b.Fatal(err, r)
		}
		start = time.Now()
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				b.Fatal(err)
			}
			sha256.Sum256(data)
		}
		hashing += time.Since(start)
		if lookErr == nil {
			start = time.Now()
			if err := exec.Command(tool, files...).Run(); err != nil {
				b.Fatal(err)
			}
			command += time.Since(start)
		}
	}
	b.ReportMetric(float64(checking.Microseconds())/1000/float64(b.N), "check-ms")
	b.ReportMetric(float64(checking)/float64(hashing), "vs-hash")
	if command > 0 {
		b.ReportMetric(float64(checking)/float64(command), "vs-sha256sum")
	}
}

// BenchmarkApplyCold writes 50 units of 12 files into an empty tree; vs-write
// is against plain, unsynced writes of the same files into another one.
func BenchmarkApplyCold(b *testing.B) {
	plan := bulk(50, 12, 60, "one")
	var applying, writing time.Duration
	for b.Loop() {
		root := b.TempDir()
		start := time.Now()
		if _, err := Apply(context.Background(), root, plan, Options{}); err != nil {
			b.Fatal(err)
		}
		applying += time.Since(start)
		root = b.TempDir()
		start = time.Now()
		for _, u := range plan.Units {
			out, err := u.Render(context.Background())
			require.NoError(b, err)
			require.NoError(b, os.MkdirAll(filepath.Join(root, u.Dir), 0o755))
			for p, data := range out.Owned {
				require.NoError(b, os.WriteFile(filepath.Join(root, p), data, 0o644))
			}
		}
		writing += time.Since(start)
	}
	b.ReportMetric(float64(applying.Milliseconds())/float64(b.N), "apply-ms")
	b.ReportMetric(float64(applying)/float64(writing), "vs-write")
}

func BenchmarkApplyNothingChanged(b *testing.B) {
	root, plan, _ := benchTree(b)
	for b.Loop() {
		if r, err := Apply(context.Background(), root, plan, Options{}); err != nil || len(r.Findings) > 0 {
			b.Fatal(fmt.Sprint(err, r))
		}
	}
}
