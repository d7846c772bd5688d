package bench

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/agentworkforce/sbx/conformance"
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
}

// Progress is told to an observer after every sample.
type Progress struct {
	Metric  string
	Samples int // taken so far
	Wanted  int
	Elapsed time.Duration
}

// Execute measures and returns the artifact. The error is about a run that could
// not be made at all.
func Execute(ctx context.Context, h conformance.Harness, opts Options) (*Artifact, error) {
	return nil, errors.New("bench: the runner is not linked in")
}

// Run measures as a Go benchmark.
func Run(b *testing.B, h conformance.Harness) {
	b.Helper()
	if _, err := Execute(b.Context(), h, Options{Samples: 1}); err != nil {
		b.Fatal(err)
	}
}
