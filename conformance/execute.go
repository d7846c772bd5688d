package conformance

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Execute runs the checks and returns what held. The error is about a run that
// could not be made or recorded at all, and is beside the report when there is
// one; what became of each check is in the report. When ctx ends, checks that
// have not started are unknown and everything made is still destroyed.
func Execute(ctx context.Context, h Harness, opts RunOptions) (*Report, error) {
	if opts.CheckTimeout <= 0 {
		opts.CheckTimeout = 5 * time.Minute
	}
	checks, err := registry()
	if err != nil {
		return nil, err
	}
	s, cleanup, err := newSuite(ctx, h, opts)
	if err != nil {
		return nil, err
	}
	r := &runner{s: s, checks: checks, results: map[string]*Result{}, began: time.Now()}
	report := r.report()
	r.admit(ctx)
	before, method, beforeErr := s.countVendor(ctx)
	s.before = before
	r.run(ctx)
	r.control(ctx, report, opts.Dummy)
	if ctx.Err() != nil {
		r.problem("the run was ended early: %v", context.Cause(ctx))
	}
	report.FinishedAt = time.Now().UTC()
	report.Vendor = s.vendorCounts(context.WithoutCancel(ctx), method, before, beforeErr)
	if s.p != nil {
		if err := s.p.Close(); err != nil {
			r.problem("closing the provider: %v", err)
		}
	}
	owing := s.ledgers(r, report)
	if owing { // the ledgers are how a reaper finds what is left
		r.problem("something is still owed; the ledgers of this run are left in place for the reaper")
		cleanup = func() error { return nil }
	}
	r.finish(report)
	if opts.Report != "" {
		err = writeReport(opts.Report, report)
	}
	return report, joinErrors(err, cleanup())
}

func writeReport(path string, r *Report) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("conformance: report: %w", err)
	}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("conformance: report: %w", err)
	}
	defer func() {
		if closeErr := f.Close(); closeErr != nil && err == nil {
			err = fmt.Errorf("conformance: report: %w", closeErr)
		}
	}()
	return r.Encode(f)
}
