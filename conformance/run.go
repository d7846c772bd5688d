package conformance

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Environment variables that Run reads; Execute reads none.
const (
	// EnvRun is a regular expression of check IDs. Without it the part of
	// -test.run after the slash is used.
	EnvRun = "SBX_CONFORMANCE_RUN"
	// EnvParallel is how many checks may run at once; 4 without it.
	EnvParallel = "SBX_CONFORMANCE_PARALLEL"
	// EnvReport is the file the report is written to.
	EnvReport = "SBX_CONFORMANCE_REPORT"
	// EnvProbing, when not empty, calls capabilities whose support is unknown.
	EnvProbing = "SBX_CONFORMANCE_PROBING"
	// EnvProgress is a file to which a ProgressLine is appended when a check starts
	// and when it ends.
	EnvProgress = "SBX_CONFORMANCE_PROGRESS"
	// EnvState is the root of the run's ledgers, which stay there.
	EnvState = "SBX_CONFORMANCE_STATE"
	// EnvDummy is a secret that is injected on purpose and must be found nowhere:
	// see ControlDummy.
	EnvDummy = "SBX_CONFORMANCE_DUMMY"
	// EnvRequire is a list of words; "owed" makes an owed check that is unknown fail.
	EnvRequire = "SBX_REQUIRE"

	envChild = "SBX_CONFORMANCE_CHILD"
)

// Run runs the checks and gives each one a subtest named by its ID. A failed
// check fails its subtest. An unknown one is logged, counted in the last line,
// and fails only when SBX_REQUIRE has the word owed and the provider owes it.
// An interrupt ends the run and still tears everything down.
func Run(t *testing.T, h Harness) {
	t.Helper()
	if role := os.Getenv(envChild); role != "" {
		if err := beChild(t.Context(), h, role, os.Getenv(EnvState)); err != nil {
			t.Fatal(err)
		}
		return
	}
	opts, err := optionsFromEnvironment()
	if err != nil {
		t.Fatal(err)
	}
	opts.Child = childOf(t.Name())
	if testing.Verbose() {
		opts.Observer = func(p Progress) {
			if p.Result != nil {
				t.Logf("[%3d/%d %6s] %-20s %s", p.Done, p.Total, p.Elapsed.Round(100*time.Millisecond), p.Result.Verdict, p.Result.ID)
			}
		}
	}
	if name := os.Getenv(EnvProgress); name != "" {
		progress, err := openProgress(name)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := progress.close(); err != nil {
				t.Error(err)
			}
		}()
		opts.Observer = progress.observe
	}
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	report, err := Execute(ctx, h, opts)
	if report == nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Error(err)
	}
	tell(t, report, requires("owed"))
	if _, err := fmt.Fprintln(os.Stdout, report.Summary()); err != nil {
		t.Error(err)
	}
}

// tell makes the subtests.
func tell(t *testing.T, report *Report, owed bool) {
	t.Helper()
	for _, c := range report.Checks {
		if c.Verdict == Unknown && c.Message == notSelected {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			t.Helper()
			switch {
			case c.Verdict == Failed:
				t.Errorf("%s\n\tproves: %s\n\tadapter: %s %s\n\trepeat: %s", c.Message, c.Rule, c.Method, c.Location, c.Repro)
			case c.Verdict == Unknown && c.Owed && owed:
				t.Errorf("UNKNOWN(%s) %s, which this provider owes: %s", c.Reason, c.ID, c.Message)
			case c.Verdict == Unknown:
				t.Logf("UNKNOWN(%s) %s: %s", c.Reason, c.ID, c.Message)
			case c.Message != "":
				t.Logf("%s: %s", c.Verdict, c.Message)
			}
		})
	}
	for _, p := range report.Problems {
		t.Error(p)
	}
}

const notSelected = "not selected"

func optionsFromEnvironment() (RunOptions, error) {
	opts := RunOptions{Parallel: 4, Report: os.Getenv(EnvReport), Probing: os.Getenv(EnvProbing) != "",
		StateDir: os.Getenv(EnvState), Dummy: os.Getenv(EnvDummy)}
	pattern := os.Getenv(EnvRun)
	if f := flag.Lookup("test.run"); pattern == "" && f != nil {
		if _, sub, ok := strings.Cut(f.Value.String(), "/"); ok {
			pattern = sub
		}
	}
	if pattern != "" {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return opts, fmt.Errorf("conformance: choice of checks: %w", err)
		}
		opts.Run = re
	}
	if n := os.Getenv(EnvParallel); n != "" {
		var err error
		if opts.Parallel, err = strconv.Atoi(n); err != nil {
			return opts, fmt.Errorf("conformance: %s: %w", EnvParallel, err)
		}
	}
	return opts, nil
}

func requires(word string) bool {
	return slices.Contains(strings.Split(strings.ReplaceAll(os.Getenv(EnvRequire), " ", ""), ","), word)
}

// childOf starts the running test binary again, as the same test.
func childOf(test string) func(context.Context, string, string) (Child, error) {
	return func(ctx context.Context, role, stateDir string) (Child, error) {
		return startChild(ctx, test, role, stateDir)
	}
}
