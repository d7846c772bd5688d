package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// subject is one program, or one sequence of steps, that is measured.
type subject struct {
	name string
	// missing says why there is nothing to measure; empty when there is.
	missing string
	// prepare puts things as they have to be before a run; it is not measured.
	// It may be nil.
	prepare func(context.Context) error
	// run does the work once and returns how long it took.
	run func(context.Context) (time.Duration, error)
}

// command is a subject that is a whole process, from its start until it is
// reaped. It fails unless it exits 0; the end of its output is then in the error.
type command struct {
	dir  string
	env  []string // beside the environment of this process
	argv []string
}

func (c command) run(ctx context.Context) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), c.env...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	begin := time.Now()
	err := cmd.Run()
	took := time.Since(begin)
	if err != nil {
		text := bytes.TrimSpace(output.Bytes())
		text = text[max(0, len(text)-600):]
		return 0, fmt.Errorf("%s: %w: %s", filepath.Base(c.argv[0]), err, text)
	}
	return took, nil
}

// alternate runs the subjects in turn, one uncounted round and then n counted
// ones, and returns the times of each subject in the order of the rounds.
// Subjects that are missing have none.
func alternate(ctx context.Context, n int, subjects []subject) ([][]time.Duration, error) {
	times := make([][]time.Duration, len(subjects))
	for round := range n + 1 {
		for i, s := range subjects {
			if s.missing != "" {
				continue
			}
			if s.prepare != nil {
				if err := s.prepare(ctx); err != nil {
					return nil, fmt.Errorf("%s: preparing: %w", s.name, err)
				}
			}
			took, err := s.run(ctx)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			if took <= 0 {
				return nil, fmt.Errorf("%s: %w", s.name, errNoTime)
			}
			if round > 0 {
				times[i] = append(times[i], took)
			}
		}
	}
	return times, nil
}

var errNoTime = errors.New("the run took no time, so nothing was measured")

// spread is the middle and the ends of a series.
type spread struct {
	n                int
	median, min, max float64
}

func spreadOf(series []float64) spread {
	s := slices.Sorted(slices.Values(series))
	n := len(s)
	if n == 0 {
		return spread{}
	}
	return spread{n: n, median: (s[(n-1)/2] + s[n/2]) / 2, min: s[0], max: s[n-1]}
}

func seconds(times []time.Duration) spread {
	series := make([]float64, len(times))
	for i, t := range times {
		series[i] = t.Seconds()
	}
	return spreadOf(series)
}

// ratios divides run by run: both of a pair ran one after the other, so what
// else the machine was doing weighs on both.
func ratios(ours, theirs []time.Duration) spread {
	series := make([]float64, 0, len(ours))
	for i := range min(len(ours), len(theirs)) {
		series = append(series, ours[i].Seconds()/theirs[i].Seconds())
	}
	return spreadOf(series)
}
