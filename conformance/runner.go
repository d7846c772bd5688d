package conformance

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
)

// runner decides which check runs when, and keeps the results.
type runner struct {
	s      *suite
	checks []check
	began  time.Time

	mu       sync.Mutex
	results  map[string]*Result
	problems []string
	executed int
	selected map[string]bool
}

func (r *runner) problem(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems = append(r.problems, r.s.scrub.text(fmt.Sprintf(format, args...)))
}

// admit gives a verdict to everything that will not be executed: what nobody has
// written, what was not selected, and without a vendor everything live.
func (r *runner) admit(ctx context.Context) {
	r.selected = r.choose()
	preflight := r.s.preflight(ctx)
	if preflight != nil {
		r.problemOfPreflight(preflight)
	}
	for _, c := range r.checks {
		switch {
		case c.run == nil:
			r.decide(c, Unknown, NotAttempted, "the suite has no function for this check yet")
		case !r.selected[c.ID]:
			r.decide(c, Unknown, NotAttempted, notSelected)
		case preflight != nil && !c.offline:
			r.decide(c, Unknown, AuthUnavailable, preflight.Error())
		}
	}
}

// problemOfPreflight keeps a run that judged nothing live from looking whole.
func (r *runner) problemOfPreflight(err error) {
	if r.s.opts.Observer != nil {
		r.s.opts.Observer(Progress{Total: len(r.checks), Elapsed: time.Since(r.began),
			Result: &Result{Verdict: Unknown, Reason: AuthUnavailable, Message: r.s.scrub.text(err.Error())}})
	}
}

// choose closes the selection over what the selected checks depend on.
func (r *runner) choose() map[string]bool {
	byID := map[string]check{}
	for _, c := range r.checks {
		byID[c.ID] = c
	}
	chosen := map[string]bool{}
	var add func(id string)
	add = func(id string) {
		if chosen[id] {
			return
		}
		chosen[id] = true
		for _, need := range byID[id].needs {
			add(need)
		}
	}
	for _, c := range r.checks {
		if r.s.opts.Run == nil || r.s.opts.Run.MatchString(c.ID) {
			add(c.ID)
		}
	}
	return chosen
}

// decide records a result without executing anything.
func (r *runner) decide(c check, v Verdict, reason Reason, message string) *Result {
	res := r.blank(c)
	res.Verdict, res.Reason, res.Message = v, reason, r.s.scrub.text(message)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results[c.ID] = res
	return res
}

func (r *runner) blank(c check) *Result {
	return &Result{ID: c.ID, Revision: c.Revision, Group: c.Group, Capability: c.Capability, Level: c.Level, Rule: c.Rule,
		Owed: r.s.owed(c)}
}

// run executes what is left, cheapest first: everything else, then, when nothing
// is in use any more, the checks that come last.
func (r *runner) run(ctx context.Context) {
	var first, last []check
	for _, c := range r.checks {
		switch {
		case r.results[c.ID] != nil:
		case c.last:
			last = append(last, c)
		default:
			first = append(first, c)
		}
	}
	r.phase(ctx, first)
	if err := r.s.endShared(context.WithoutCancel(ctx)); err != nil {
		r.problem("teardown of the shared sandbox: %v", err)
	}
	r.phase(ctx, last)
}

// phase runs checks, at most Parallel at once, each when what it needs is decided.
func (r *runner) phase(ctx context.Context, pending []check) {
	slices.SortStableFunc(pending, func(a, b check) int {
		if a.Level != b.Level {
			return int(a.Level[1]) - int(b.Level[1])
		}
		return a.order - b.order
	})
	done := make(chan struct{})
	running := 0
	for len(pending) > 0 || running > 0 {
		if running < max(r.s.opts.Parallel, 1) {
			if i := slices.IndexFunc(pending, r.decided); i >= 0 {
				c := pending[i]
				pending = slices.Delete(pending, i, i+1)
				running++
				go func() {
					r.one(ctx, c)
					done <- struct{}{}
				}()
				continue
			}
			if running == 0 { // a circle of needs
				for _, c := range pending {
					r.decide(c, Unknown, BlockedBy, "its preconditions depend on one another")
				}
				return
			}
		}
		<-done
		running--
	}
}

func (r *runner) decided(c check) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, need := range c.needs {
		if r.results[need] == nil {
			return false
		}
	}
	return true
}

// blocker is the first precondition that did not pass.
func (r *runner) blocker(c check) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, need := range c.needs {
		if r.results[need].Verdict != Passed {
			return need
		}
	}
	return ""
}

func (r *runner) one(ctx context.Context, c check) {
	r.observe(c, nil)
	var res *Result
	switch blocker := r.blocker(c); {
	case ctx.Err() != nil:
		res = r.decide(c, Unknown, NotAttempted, "the run was ended before this check")
	case blocker != "":
		res = r.decide(c, Unknown, BlockedBy, blocker+" did not pass")
		res.BlockedBy = blocker
	default:
		res = r.execute(ctx, c)
		r.mu.Lock()
		r.results[c.ID] = res
		r.executed++
		r.mu.Unlock()
	}
	r.observe(c, res)
}

// execute runs one check and its teardown.
func (r *runner) execute(ctx context.Context, c check) *Result {
	res := r.blank(c)
	res.StartedAt = time.Now().UTC()
	t := &trial{s: r.s, id: c.ID, calls: map[string]int{}, requests: map[string][]any{}}
	ctx = context.WithValue(ctx, trialKey{}, t)
	cctx, cancel := context.WithTimeoutCause(ctx, r.s.opts.CheckTimeout, errCheckDeadline)
	err := r.guarded(cctx, c, t)
	res.Verdict, res.Reason, res.Message = judge(cctx, err)
	cancel()
	if err := recovered(func() error { return t.teardown(context.WithoutCancel(ctx)) }); err != nil {
		res.Verdict, res.Reason = Failed, ""
		res.Message = sentences(res.Message, "teardown: "+err.Error())
	}
	t.mu.Lock()
	panics := slices.Clone(t.panics)
	t.mu.Unlock()
	for _, p := range panics {
		res.Verdict, res.Reason = Failed, ""
		res.Message = sentences(res.Message, p.Error()+"\n"+p.stack)
	}
	res.Duration = time.Since(res.StartedAt)
	res.Message = r.s.scrub.text(res.Message)
	if res.Verdict != Passed && res.Verdict != RefusedAsDeclared {
		res.Method, res.Location = locate(r.s.adapterUnderTest(), c.method)
		res.Repro = r.repro(c.ID)
	}
	return res
}

// guarded runs a check's function, but first sees whether the provider has the
// capability at all. A function that does not return when its context has ended
// is left behind.
func (r *runner) guarded(ctx context.Context, c check, t *trial) error {
	answer := make(chan error, 1)
	go func() {
		answer <- recovered(func() error {
			if c.Capability != "core" && !c.offline {
				if ok, err := t.declared(ctx, contract.Capability(c.Capability)); !ok {
					return err
				}
			}
			return c.run(ctx, t)
		})
	}()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
	}
	most := min(graceAfterDeadline, r.s.opts.CheckTimeout)
	grace := time.NewTimer(most)
	defer grace.Stop()
	select {
	case err := <-answer:
		return err
	case <-grace.C:
		return unknown(TimedOut, "the check did not return %s after its context had ended", most)
	}
}

const graceAfterDeadline = 15 * time.Second

// recovered turns a panic into an error with its stack.
func recovered(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return fn()
}

func sentences(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

func (r *runner) observe(c check, res *Result) {
	if r.s.opts.Observer == nil {
		return
	}
	r.mu.Lock()
	p := Progress{Check: c.Check, Done: len(r.results), Total: len(r.checks), Elapsed: time.Since(r.began)}
	r.mu.Unlock()
	if res != nil {
		copied := *res
		p.Result = &copied
	}
	r.s.opts.Observer(p)
}
