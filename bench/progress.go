package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

// ProgressLine is one line of the file that EnvProgress names: an attempt at a
// sample.
type ProgressLine struct {
	Metric  string        `json:"metric"`
	Done    int           `json:"done"`
	Wanted  int           `json:"wanted"`
	Elapsed time.Duration `json:"elapsed"`
	Failed  bool          `json:"failed,omitempty"`
}

// observe lets opts write its progress to the file that EnvProgress names. done
// closes it and returns the first error of writing.
func observe(opts *Options) (done func() error, err error) {
	name := os.Getenv(EnvProgress)
	if name == "" {
		return func() error { return nil }, nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("bench: progress: %w", err)
	}
	enc := json.NewEncoder(f)
	var failed error
	opts.Observer = func(p Progress) {
		if failed == nil {
			failed = enc.Encode(ProgressLine{Metric: p.Metric, Done: p.Done, Wanted: p.Wanted, Elapsed: p.Elapsed, Failed: p.Err != nil})
		}
	}
	return func() error { return errors.Join(failed, f.Close()) }, nil
}
