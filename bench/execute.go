package bench

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/agentworkforce/sbx/schema"
)

// run is one benchmark run.
type run struct {
	h       conformance.Harness
	p       *sandbox.Provider
	opts    Options
	began   time.Time
	metrics map[string]*Metric
	a       *Artifact
	watch   *watch
}

// Execute measures, one metric after another, and returns the artifact. Every
// sandbox it makes is destroyed; one that is not is a problem in the artifact.
// The error is about a run that could not be made or recorded at all. When ctx
// ends, what has not been measured is unknown.
func Execute(ctx context.Context, h conformance.Harness, opts Options) (_ *Artifact, err error) {
	if opts.Samples <= 0 {
		opts.Samples = 10
	}
	rows, err := schema.Metrics()
	if err != nil {
		return nil, err
	}
	temporary := opts.StateDir == ""
	if temporary {
		dir, err := os.MkdirTemp("", "sbx-bench-")
		if err != nil {
			return nil, fmt.Errorf("bench: state directory: %w", err)
		}
		opts.StateDir = dir
	}
	r := &run{h: h, opts: opts, began: time.Now(), metrics: map[string]*Metric{}, watch: &watch{}}
	r.a = &Artifact{Format: artifactFormat, Provider: h.Driver.ID, Run: runID(), StartedAt: r.began.UTC(), Method: Method,
		Environment: conformance.CurrentEnvironment(1), Versions: maps.Clone(opts.Versions)}
	open := append([]sandbox.Option{sandbox.WithStateDir(opts.StateDir)}, h.Options...)
	open = append(open, sandbox.WithTable(r.watch.wrap))
	if r.p, err = sandbox.Open(ctx, h.Driver, open...); err != nil {
		return nil, err
	}
	r.prepare(rows)
	r.measure(ctx)
	if err := r.p.Close(); err != nil {
		r.problem("closing the provider: %v", err)
	}
	for _, row := range rows {
		m := r.metrics[row.ID]
		m.Stats = Summarize(m.Samples)
		if m.Stats == nil && m.Unknown == "" {
			m.Unknown, m.Detail = conformance.NotAttempted, "no attempt gave a sample"
		}
		r.a.Metrics = append(r.a.Metrics, *m)
	}
	r.a.FinishedAt = time.Now().UTC()
	if opts.Artifact != "" {
		err = writeArtifact(opts.Artifact, r.a)
	}
	if temporary && len(r.a.Problems) == 0 { // otherwise the ledger is how a reaper finds what is left
		err = errors.Join(err, os.RemoveAll(opts.StateDir))
	}
	return r.a, err
}

// prepare says beforehand what cannot be measured.
func (r *run) prepare(rows []schema.Metric) {
	measured := r.measurements()
	for _, row := range rows {
		m := &Metric{ID: row.ID, Unit: row.Unit}
		r.metrics[row.ID] = m
		switch c := contract.Capability(row.Capability); {
		case row.Capability != "core" && !r.p.Supports(c):
			m.Unknown, m.Detail = conformance.NotAttempted, fmt.Sprintf("%s is %s: %s", c, r.p.Claim(c).Support, r.p.Claim(c).Reason)
		case !slices.Contains(measured, row.ID):
			m.Unknown, m.Detail = conformance.NotAttempted, "this program does not measure it"
		}
	}
}

// sample adds one, in milliseconds.
func (r *run) sample(id string, d time.Duration) {
	if m := r.metrics[id]; m != nil && m.Unknown == "" {
		m.Samples = append(m.Samples, float64(d.Nanoseconds())/1e6)
	}
}

// failure counts an attempt that gave no sample.
func (r *run) failure(id string, err error) {
	const most = 8
	m := r.metrics[id]
	if m == nil || m.Unknown != "" {
		return
	}
	m.Failures++
	if text := err.Error(); len(m.Errors) < most && !slices.Contains(m.Errors, text) {
		m.Errors = append(m.Errors, text)
	}
}

// took runs fn and takes its time as a sample of id, or counts the failure.
func (r *run) took(id string, fn func() error) error {
	began := time.Now()
	err := fn()
	took := time.Since(began)
	if err != nil {
		r.failure(id, err)
		return err
	}
	r.sample(id, took)
	return nil
}

func (r *run) problem(format string, args ...any) {
	r.a.Problems = append(r.a.Problems, fmt.Sprintf(format, args...))
}

func (r *run) observe(metric string, done int, err error) {
	if r.opts.Observer != nil {
		r.opts.Observer(Progress{Metric: metric, Done: done, Wanted: r.opts.Samples, Elapsed: time.Since(r.began), Err: err})
	}
}

// wanted reports whether any of the metrics is measured here.
func (r *run) wanted(ids ...string) bool {
	return slices.ContainsFunc(ids, func(id string) bool { return r.metrics[id] != nil && r.metrics[id].Unknown == "" })
}

func writeArtifact(path string, a *Artifact) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("bench: artifact: %w", err)
	}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("bench: artifact: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return a.Encode(f)
}

func runID() string {
	b := make([]byte, 6)
	if _, err := rand.Read(b); err != nil {
		return "unidentified"
	}
	return time.Now().UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(b)
}
