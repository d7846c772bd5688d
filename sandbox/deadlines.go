package sandbox

import (
	"context"
	"fmt"
	"time"
)

// Deadlines limit each logical operation as a whole, retries and polling
// included. They apply when the caller's context has no deadline of its own;
// Provision and Destroy always apply, because what they do goes on when the
// caller has left.
type Deadlines struct {
	Provision time.Duration // create, fork, capture: 10 minutes
	Ready     time.Duration // from created to a first command: 2 minutes
	Operation time.Duration // stop, start, suspend, resume, and other changes: 2 minutes
	Transfer  time.Duration // moving file content: 10 minutes
	Lookup    time.Duration // reads: 15 seconds
	Destroy   time.Duration // destroy until verified gone: 60 seconds
}

func (d Deadlines) withDefaults() Deadlines {
	for _, f := range []struct {
		v   *time.Duration
		def time.Duration
	}{
		{&d.Provision, 10 * time.Minute}, {&d.Ready, 2 * time.Minute}, {&d.Operation, 2 * time.Minute},
		{&d.Transfer, 10 * time.Minute}, {&d.Lookup, 15 * time.Second}, {&d.Destroy, time.Minute},
	} {
		if *f.v <= 0 {
			*f.v = f.def
		}
	}
	return d
}

// limit names one of the deadlines, so that an error can say which one fired.
type limit string

const (
	limitProvision limit = "provision"
	limitReady     limit = "ready"
	limitOperation limit = "operation"
	limitTransfer  limit = "transfer"
	limitLookup    limit = "lookup"
	limitDestroy   limit = "destroy"
	limitCommand   limit = "command"
)

func (d Deadlines) of(l limit) time.Duration {
	switch l {
	case limitProvision:
		return d.Provision
	case limitReady:
		return d.Ready
	case limitTransfer:
		return d.Transfer
	case limitLookup:
		return d.Lookup
	case limitDestroy:
		return d.Destroy
	}
	return d.Operation
}

// firedError is the cause of a context that one of our deadlines ended.
type firedError struct {
	limit limit
	after time.Duration
}

func (e *firedError) Error() string {
	return fmt.Sprintf("the %s deadline of %s passed", e.limit, e.after)
}

// Is makes a fired deadline a context.DeadlineExceeded.
func (e *firedError) Is(target error) bool { return target == context.DeadlineExceeded }

// within gives ctx the deadline d unless the caller has set one.
func within(ctx context.Context, l limit, d time.Duration) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, d, &firedError{limit: l, after: d})
}

// detached gives work that must not be left halfway its own deadline, whatever
// becomes of the caller.
func detached(ctx context.Context, l limit, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.WithoutCancel(ctx), d, &firedError{limit: l, after: d})
}

// pause waits for d or until ctx ends, and reports whether ctx is still live.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return ctx.Err() == nil
	}
}

// backoff doubles from first to most.
type backoff struct{ next, most time.Duration }

func (b *backoff) wait(ctx context.Context, atLeast time.Duration) bool {
	d := max(b.next, atLeast)
	b.next = min(2*b.next, b.most)
	return pause(ctx, d)
}
