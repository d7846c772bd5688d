package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/agentworkforce/sbx/conformance"
)

// Method names how the statistics of an artifact follow from its samples.
const Method = "nearest-rank, untrimmed"

const artifactFormat = "sbx.benchmark/1"

// Artifact is the record of one benchmark run. Its JSON form is stable;
// DecodeArtifact refuses what it does not know.
type Artifact struct {
	// Format is "sbx.benchmark/1".
	Format   string `json:"format"`
	Provider string `json:"provider"`
	// Run is a random identity of this run.
	Run        string    `json:"run"`
	StartedAt  time.Time `json:"startedAt"`
	FinishedAt time.Time `json:"finishedAt"`
	// Method is how the statistics follow from the samples.
	Method string `json:"method"`
	// Image, Class and Region are what the sandboxes had, as the provider
	// reported them; empty is not known.
	Image       string                  `json:"image,omitempty"`
	Class       string                  `json:"class,omitempty"`
	Region      string                  `json:"region,omitempty"`
	Environment conformance.Environment `json:"environment"`
	// Versions of engine, vendor API and the like, where known.
	Versions map[string]string `json:"versions,omitempty"`
	// Metrics has every metric of the list, in its order.
	Metrics []Metric `json:"metrics"`
	// Created and VerifiedGone count the sandboxes of the run.
	Created      int `json:"created"`
	VerifiedGone int `json:"verifiedGone"`
	// Problems are failures of the run itself, teardown among them.
	Problems []string `json:"problems,omitempty"`
}

// Metric is one metric with every sample of it.
type Metric struct {
	ID string `json:"id"`
	// Unit of the samples and statistics.
	Unit string `json:"unit"`
	// Samples in the order in which they were taken.
	Samples []float64 `json:"samples,omitempty"`
	// Failures is how many attempts gave no sample; Errors holds their different
	// messages, redacted.
	Failures int      `json:"failures"`
	Errors   []string `json:"errors,omitempty"`
	// Stats is absent when there are no samples.
	Stats *Stats `json:"stats,omitempty"`
	// Unknown says why there are no samples.
	Unknown conformance.Reason `json:"unknown,omitempty"`
	// Detail explains Unknown in words.
	Detail string `json:"detail,omitempty"`
}

// Stats follow from the samples by Method.
type Stats struct {
	N      int     `json:"n"`
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
	P99    float64 `json:"p99"`
	Max    float64 `json:"max"`
}

// Summarize computes statistics by Method; nil without samples.
func Summarize(samples []float64) *Stats {
	if len(samples) == 0 {
		return nil
	}
	s := slices.Clone(samples)
	slices.Sort(s)
	return &Stats{N: len(s), Min: s[0], Median: rank(s, 50), P95: rank(s, 95), P99: rank(s, 99), Max: s[len(s)-1]}
}

// rank is the smallest sample such that at least percent of all samples are not
// above it.
func rank(sorted []float64, percent int) float64 {
	return sorted[max((len(sorted)*percent+99)/100, 1)-1]
}

// Metric returns a metric by its ID.
func (a *Artifact) Metric(id string) (Metric, bool) {
	for _, m := range a.Metrics {
		if m.ID == id {
			return m, true
		}
	}
	return Metric{}, false
}

// Encode writes the artifact as indented JSON with a final newline.
func (a *Artifact) Encode(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(a)
}

// DecodeArtifact reads an artifact strictly: unknown fields, another format and
// text after the document are errors.
func DecodeArtifact(b []byte) (*Artifact, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	var a Artifact
	if err := dec.Decode(&a); err != nil {
		return nil, fmt.Errorf("bench: artifact: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("bench: artifact: text after the document")
	}
	if a.Format != artifactFormat {
		return nil, fmt.Errorf("bench: artifact: format %q is not %q", a.Format, artifactFormat)
	}
	return &a, nil
}
