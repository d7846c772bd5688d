package bench

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/sandbox"
)

// Options change what Execute does. The zero value takes 10 samples of every
// metric that the provider's capabilities allow.
type Options struct {
	// Samples per metric; 0 is 10.
	Samples int
	// Observer is told about progress, from one goroutine.
	Observer func(Progress)
	// Artifact is the file the artifact is written to; empty writes none.
	Artifact string
	// StateDir is the root of the run's ledgers, absolute; empty is a temporary
	// directory that is removed when nothing is owed any more.
	StateDir string
	// Versions of engine, vendor API and the like, copied into the artifact.
	Versions map[string]string
}

// Progress is told to an observer after every attempt at a sample.
type Progress struct {
	Metric  string
	Done    int // attempts made
	Wanted  int
	Elapsed time.Duration
	Err     error // why the attempt gave no sample
}

// Environment variables that Run reads; Execute reads none.
const (
	// EnvArtifact is the file the artifact is written to.
	EnvArtifact = "SBX_BENCH_ARTIFACT"
	// EnvSamples is how many samples are taken of each metric.
	EnvSamples = "SBX_BENCH_SAMPLES"
	// EnvProgress is a file to which a ProgressLine is appended after every attempt.
	EnvProgress = "SBX_BENCH_PROGRESS"
	// EnvState is the root of the run's ledgers, which stay there.
	EnvState = "SBX_BENCH_STATE"
)

// Run measures as a Go benchmark. The sub-benchmark "exec" is a loop in the
// benchmark framework's own terms; everything else is measured once by Execute
// and reported as metrics of the benchmark. Unknown metrics are logged with their
// reason and never reported as 0.
func Run(b *testing.B, h conformance.Harness) {
	b.Helper()
	if h.Preflight != nil {
		if err := h.Preflight(b.Context()); err != nil {
			b.Logf("UNKNOWN(%s): %v", conformance.AuthUnavailable, err)
			return
		}
	}
	b.Run("exec", func(b *testing.B) { loop(b, h) })
	b.Run("all", func(b *testing.B) {
		opts := Options{Samples: 3, Artifact: os.Getenv(EnvArtifact), StateDir: os.Getenv(EnvState)}
		if opts.StateDir == "" {
			opts.StateDir = b.TempDir()
		}
		done, err := observe(&opts)
		if err != nil {
			b.Fatal(err)
		}
		defer func() {
			if err := done(); err != nil {
				b.Error(err)
			}
		}()
		ctx, stop := signal.NotifyContext(b.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		if n := os.Getenv(EnvSamples); n != "" {
			var err error
			if opts.Samples, err = strconv.Atoi(n); err != nil {
				b.Fatalf("%s: %v", EnvSamples, err)
			}
		}
		var a *Artifact
		for b.Loop() {
			var err error
			if a, err = Execute(ctx, h, opts); err != nil {
				b.Fatal(err)
			}
		}
		tell(b, a)
	})
}

func tell(b *testing.B, a *Artifact) {
	b.Helper()
	for _, m := range a.Metrics {
		switch {
		case m.Stats != nil:
			b.ReportMetric(m.Stats.Median, m.ID+"-"+m.Unit)
		default:
			b.Logf("UNKNOWN(%s) %s: %s", m.Unknown, m.ID, m.Detail)
		}
		if m.Failures > 0 {
			b.Errorf("%s: %d attempts failed: %v", m.ID, m.Failures, m.Errors)
		}
	}
	for _, p := range a.Problems {
		b.Error(p)
	}
}

// loop runs one short command again and again in one sandbox.
func loop(b *testing.B, h conformance.Harness) {
	b.Helper()
	opts := append([]sandbox.Option{sandbox.WithStateDir(b.TempDir())}, h.Options...)
	p, err := sandbox.Open(b.Context(), h.Driver, opts...)
	if err != nil {
		b.Logf("UNKNOWN(%s): %v", conformance.AuthUnavailable, err)
		return
	}
	err = sandbox.With(b.Context(), p, func(ctx context.Context, sb *sandbox.Sandbox) error {
		for b.Loop() {
			if err := short(ctx, sb); err != nil {
				return err
			}
		}
		return nil
	}, h.Create...)
	if closeErr := p.Close(); closeErr != nil {
		b.Error(closeErr)
	}
	if err != nil {
		b.Error(err)
	}
}

// short is the one short command that is measured. Another end than exit code 0
// with its output is a failure, not a sample.
func short(ctx context.Context, sb *sandbox.Sandbox) error {
	res, err := sb.Shell(ctx, "echo ok")
	if err != nil {
		return err
	}
	if res.ExitCode != 0 || string(res.Stdout) != "ok\n" {
		return fmt.Errorf("echo ended with exit code %d and output %q", res.ExitCode, res.Stdout)
	}
	return nil
}
