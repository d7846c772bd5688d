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
	run func(context.Context) (sample, error)
}

// sample is one run: how long it took, and how much processor time the process
// and its children used; cpu is 0 for what is not a process of its own.
type sample struct{ wall, cpu time.Duration }

// command is a subject that is a whole process, from its start until it is
// reaped. It fails unless it exits 0; the end of its output is then in the error.
type command struct {
	dir  string
	env  []string // beside the environment of this process
	argv []string
}

func (c command) run(ctx context.Context) (sample, error) {
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), c.env...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	begin := time.Now()
	err := cmd.Run()
	took := sample{wall: time.Since(begin)}
	if cmd.ProcessState != nil {
		took.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	if err != nil {
		text := bytes.TrimSpace(output.Bytes())
		text = text[max(0, len(text)-600):]
		return sample{}, fmt.Errorf("%s: %w: %s", filepath.Base(c.argv[0]), err, text)
	}
	return took, nil
}

// alternate runs the subjects in turn, first the uncounted rounds and then n
// counted ones, and returns the samples of each subject in the order of the
// rounds. Subjects that are missing have none.
func alternate(ctx context.Context, uncounted, n int, subjects []subject) ([][]sample, error) {
	samples := make([][]sample, len(subjects))
	for round := range uncounted + n {
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
			if took.wall <= 0 {
				return nil, fmt.Errorf("%s: %w", s.name, errNoTime)
			}
			if round >= uncounted {
				samples[i] = append(samples[i], took)
			}
		}
	}
	return samples, nil
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

func seconds(samples []sample) spread {
	series := make([]float64, len(samples))
	for i, s := range samples {
		series[i] = s.wall.Seconds()
	}
	return spreadOf(series)
}

// ratios divides run by run: both of a pair ran one after the other, so what
// else the machine was doing weighs on both. Pairs in which one has no such
// time are left out.
func ratios(ours, theirs []sample, of func(sample) time.Duration) spread {
	series := make([]float64, 0, len(ours))
	for i := range min(len(ours), len(theirs)) {
		if x, y := of(ours[i]), of(theirs[i]); x > 0 && y > 0 {
			series = append(series, x.Seconds()/y.Seconds())
		}
	}
	return spreadOf(series)
}

func wall(s sample) time.Duration { return s.wall }
func cpu(s sample) time.Duration  { return s.cpu }
