package conformance

import (
	"context"
	"maps"
	"path/filepath"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
)

// countVendor counts what exists at the vendor by kind, without the adapter
// where there is a way, else through its listings.
func (s *suite) countVendor(ctx context.Context) (map[string]int, CountMethod, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if s.h.Count != nil {
		n, err := s.h.Count(ctx)
		return n, CountIndependent, err
	}
	if s.p == nil || !s.callable(contract.CapabilityList) {
		return nil, CountNone, nil
	}
	t := s.table()
	all, err := t.List(ctx, contract.ListRequest{})
	if err != nil {
		return nil, CountAdapterList, err
	}
	n := map[string]int{string(contract.ResourceKindSandbox): len(all)}
	if s.callable(contract.CapabilitySnapshot) {
		snapshots, err := t.ListSnapshots(ctx)
		if err != nil {
			return nil, CountAdapterList, err
		}
		n[string(contract.ResourceKindSnapshot)] = len(snapshots)
	}
	return n, CountAdapterList, nil
}

// settledCount counts until the numbers are those of before, or ten seconds have
// passed: what others do at the same time, and vendors that lag, even out.
func (s *suite) settledCount(ctx context.Context, before map[string]int) (map[string]int, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		n, _, err := s.countVendor(ctx)
		if err == nil && maps.Equal(n, before) {
			return n, nil
		}
		if !wait(ctx, 500*time.Millisecond) {
			last, _, lastErr := s.countVendor(context.WithoutCancel(ctx))
			return last, lastErr
		}
	}
}

func (s *suite) vendorCounts(ctx context.Context, method CountMethod, before map[string]int, beforeErr error) VendorCounts {
	v := VendorCounts{Method: method, Before: before}
	if beforeErr != nil {
		v.Problem = s.scrub.text("before: " + beforeErr.Error())
	}
	if method == CountNone {
		return v
	}
	after, err := s.settledCount(ctx, before)
	v.After = after
	if err != nil {
		v.Problem = sentences(v.Problem, s.scrub.text("after: "+err.Error()))
	}
	return v
}

// ledgers summarizes what the run recorded, and reports whether anything is
// still owed.
func (s *suite) ledgers(r *runner, report *Report) (owing bool) {
	runs, err := ledger.Scan(context.Background(), ledger.Dirs{Root: s.stateDir})
	if err != nil {
		r.problem("ledgers: %v", err)
		return true
	}
	for _, run := range runs {
		if run.Started.IsZero() || run.Started.Before(report.StartedAt.Add(-time.Second)) {
			continue
		}
		log, err := ledger.Read(run.Path)
		if err != nil {
			r.problem("ledger %s: %v", filepath.Base(run.Path), err)
			owing = true
			continue
		}
		rep, err := ledger.Verify(run.Path)
		if err != nil {
			r.problem("ledger %s: %v", filepath.Base(run.Path), err)
			continue
		}
		sum := summarize(filepath.Base(run.Path), rep, ledger.Fold(log.Records))
		if !sum.Intact {
			r.problem("ledger %s is not intact: %+v", sum.File, rep.Findings)
		}
		report.Ledgers = append(report.Ledgers, sum)
	}
	return owing || s.owes(runs)
}

// owes reports whether a thing that was made is neither gone nor handed over in
// any of the runs: one run may make it and another one destroy it.
func (s *suite) owes(runs []ledger.RunInfo) bool {
	gone, open := map[string]bool{}, map[string]bool{}
	for _, run := range runs {
		log, err := ledger.Read(run.Path)
		if err != nil {
			continue
		}
		for _, e := range ledger.Fold(log.Records).Entries {
			settled := e.Status.Settled() || e.Status == ledger.StatusDestroyed && !s.canProveGone() ||
				e.Status == ledger.StatusIntended && e.ID == "" && !s.canFind()
			if settled {
				gone[e.ID] = true
			} else {
				open[e.ID] = true
			}
		}
	}
	for id := range open {
		if id == "" || !gone[id] {
			return true
		}
	}
	return false
}

// canFind reports whether what came of a create whose answer was lost can be
// found by its tags. Where it cannot, the ledger rightly keeps the intent open
// for ever, and what was made is looked for by the tap instead.
func (s *suite) canFind() bool {
	m := s.h.Driver.Manifest
	switch m.Labels.Encoding {
	case contract.LabelEncodingMap, contract.LabelEncodingPacked, contract.LabelEncodingName:
		return m.Claims[string(contract.CapabilityList)].Support == contract.SupportSupported
	}
	return false
}

// wait waits for d or until ctx ends, and reports whether ctx is still live.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return ctx.Err() == nil
	}
}
