package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/internal/testengine"
	"github.com/agentworkforce/sbx/providers/docker"
	"github.com/agentworkforce/sbx/sandbox"
)

// dockerConformance compares the suite with four checks at once and with one.
// Both runs have to come to the same results.
func dockerConformance(ctx context.Context, b *bench) (rows []row, err error) {
	const work = "conformance of Docker, 4 at once"
	found, reason, err := findEngine(ctx)
	if err != nil {
		return nil, err
	}
	if reason != "" {
		return []row{{work: work, peer: "one at a time", missing: reason, goal: goal{ratio: 0.65}}}, nil
	}
	defer func() { err = errors.Join(err, found.Client().Close()) }()
	rounds := max(1, b.rounds/2) // a run is long and makes dozens of sandboxes, so it needs no warming up
	return compareAfter(ctx, 0, rounds, work, suiteRun("4 at once", found, 4), versus{suiteRun("one at a time", found, 1), goal{ratio: 0.65}})
}

func suiteRun(name string, found *testengine.Engine, parallel int) subject {
	return subject{name: name, run: func(ctx context.Context) (sample, error) {
		owner := "b" + strings.ToLower(rand.Text()[:15])
		h := conformance.Harness{Driver: docker.Driver(),
			Options: []sandbox.Option{sandbox.WithOwner(owner), sandbox.WithSetting("network", "none"), sandbox.WithSetting("host", "unix://"+socket())},
			Create:  []sandbox.CreateOption{sandbox.WithImage(testengine.Image)},
			Count:   func(ctx context.Context) (map[string]int, error) { return found.Count(ctx, "sbx.owner="+owner) }}
		begin := time.Now()
		report, err := conformance.Execute(ctx, h, conformance.RunOptions{Parallel: parallel})
		took := sample{wall: time.Since(begin)}
		if err == nil {
			err = complete(report)
		}
		return took, err
	}}
}

// complete requires that checks ran and that none failed.
func complete(r *conformance.Report) error {
	passed := 0
	for _, result := range r.Checks {
		switch result.Verdict {
		case conformance.Passed:
			passed++
		case conformance.Failed:
			return fmt.Errorf("%s failed: %s", result.ID, result.Message)
		}
	}
	if passed == 0 {
		return errors.New("no check passed")
	}
	return nil
}
