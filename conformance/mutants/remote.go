package mutants

import (
	"context"
	"strings"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// remoteMutants misread what comes over the wire: errors, halves of answers, and
// connections that broke. They need the vendor behind HTTP.
func remoteMutants() []Mutant {
	all := []Mutant{
		{Name: "not found by its words", Seen: "SDKs that search the message for \"not found\"", Kills: "honesty.not-found-by-code",
			Make: onAnyRead(func(err error) error {
				if strings.Contains(err.Error(), "not found") && port.CodeOf(err) != port.CodeNotFound {
					return notFound("Inspect", "")
				}
				return err
			})},
		{Name: "wrong key reads as gone", Seen: "a 401 on a look-up taken for absence", Kills: "honesty.wrong-key-is-not-gone",
			Make: onAnyRead(func(err error) error {
				if c := port.CodeOf(err); c == port.CodeUnauthenticated || c == port.CodePermissionDenied {
					return notFound("Inspect", "")
				}
				return err
			})},
		{Name: "error document is a sandbox", Seen: "clients that decode 200 and look at nothing", Kills: "honesty.error-in-success", Make: plain(lenientInspect(port.CodeProvider))},
		{Name: "half an answer is a sandbox", Seen: "decoders that ignore an unexpected end", Kills: "honesty.malformed-success", Make: plain(lenientInspect(port.CodeUnavailable))},
		{Name: "refused command is exit 1", Seen: "run() that turns any failure into a result", Kills: "honesty.exec-failure-is-not-exit", Make: execErrorIs(1, port.CodeOutcomeUnknown, port.CodeInvalidArgument, port.CodeUnavailable, port.CodeFailedPrecondition)},
		{Name: "missing exit code is 0", Seen: "exitCode ?? 0", Kills: "honesty.exit-unknown", Make: execErrorIs(0, port.CodeExitUnknown)},
		{Name: "broken output is whole", Seen: "streams whose end is the end of the connection", Kills: "honesty.stream-needs-end", Make: plain(brokenIsWhole)},
		{Name: "output so far is dropped", Seen: "an error in the place of a result", Kills: "honesty.stream-needs-end",
			Make: onExec(func(next func(context.Context, string, contract.Command) (contract.ExecResult, error), ctx context.Context,
				id string, c contract.Command) (contract.ExecResult, error) {
				res, err := next(ctx, id, c)
				if err != nil {
					res = contract.ExecResult{}
				}
				return res, err
			})},
		{Name: "cut command changed nothing", Seen: "every broken connection taken for a request that never left", Kills: "honesty.exec-cut-is-unknown",
			Make: onExec(func(next func(context.Context, string, contract.Command) (contract.ExecResult, error), ctx context.Context,
				id string, c contract.Command) (contract.ExecResult, error) {
				res, err := next(ctx, id, c)
				if port.CodeOf(err) == port.CodeExitUnknown && ctx.Err() == nil {
					err = &port.Error{Code: port.CodeUnavailable, Op: "Exec", ID: id, Outcome: port.OutcomeUnchanged}
				}
				return res, err
			})},
		{Name: "cut command is sent again", Seen: "a retry around run()", Kills: "honesty.exec-cut-is-unknown", Make: execAgain(port.CodeExitUnknown)},
		{Name: "lost command is sent again", Seen: "a retry below run()", Kills: "honesty.mutation-not-resent", Make: execAgain(port.CodeOutcomeUnknown)},
		{Name: "lost create is sent again", Seen: "an HTTP client that retries a POST", Kills: "honesty.create-not-resent", Make: plain(createAgain(port.CodeOutcomeUnknown, 1))},
		{Name: "lost change is done", Seen: "a broken connection after a POST taken for success", Kills: "honesty.outcome-unknown", Make: plain(lostIsUnchanged)},
		{Name: "waiting time is dropped", Seen: "429 without its Retry-After", Kills: "honesty.rate-limit-surfaces",
			Make: onAnyRead(func(err error) error {
				if port.CodeOf(err) == port.CodeRateLimited {
					return &port.Error{Code: port.CodeRateLimited, Op: "Inspect", Outcome: port.OutcomeUnchanged, Retryable: true}
				}
				return err
			})},
		{Name: "cursor loop is the end", Seen: "a page loop that stops when it sees a cursor again", Kills: "honesty.list-cursor-loop",
			Make: plain(func(t contract.Table) contract.Table {
				next := t.List
				t.List = func(ctx context.Context, r contract.ListRequest) ([]contract.Instance, error) {
					all, err := next(ctx, r)
					if err != nil && strings.Contains(err.Error(), "cursor") {
						return all, nil
					}
					return all, err
				}
				return t
			})},
		{Name: "quota is retried", Seen: "a 502 with a quota in it, sent again and again", Kills: "honesty.quota-is-not-retried", Make: plain(createAgain(port.CodeQuotaExceeded, 3))},
		{Name: "transfer is begun for ever", Seen: "a pull loop without a count", Kills: "honesty.pull-is-bounded", Make: plain(createAgain(port.CodeUnavailable, 12))},
	}
	for i := range all {
		all[i].Remote = true
	}
	return all
}

// onAnyRead changes the errors of look-ups and destroys.
func onAnyRead(fn func(err error) error) func() func(contract.Table) contract.Table {
	return plain(func(t contract.Table) contract.Table {
		inspect, destroy := t.Inspect, t.Destroy
		t.Inspect = func(ctx context.Context, id string) (contract.Instance, error) {
			i, err := inspect(ctx, id)
			if err != nil {
				err = fn(err)
			}
			return i, err
		}
		t.Destroy = func(ctx context.Context, id string) (port.DestroyOutcome, error) {
			outcome, err := destroy(ctx, id)
			if err != nil {
				if err = fn(err); absent(err) {
					return port.DestroyAlreadyAbsent, nil
				}
			}
			return outcome, err
		}
		return t
	})
}

// lenientInspect takes answers that could not be understood for a running sandbox.
func lenientInspect(code port.Code) func(contract.Table) contract.Table {
	return func(t contract.Table) contract.Table {
		next := t.Inspect
		t.Inspect = func(ctx context.Context, id string) (contract.Instance, error) {
			i, err := next(ctx, id)
			if port.CodeOf(err) == code {
				return contract.Instance{ID: id, State: contract.StateRunning, Freshness: contract.FreshnessLive}, nil
			}
			return i, err
		}
		return t
	}
}

// execErrorIs turns errors of these codes into an exit code.
func execErrorIs(exit int64, codes ...port.Code) func() func(contract.Table) contract.Table {
	return onExec(func(next func(context.Context, string, contract.Command) (contract.ExecResult, error), ctx context.Context,
		id string, c contract.Command) (contract.ExecResult, error) {
		res, err := next(ctx, id, c)
		for _, code := range codes {
			if port.CodeOf(err) == code && ctx.Err() == nil {
				res.ExitCode, err = exit, nil
				res.Truncated = new(bool)
			}
		}
		return res, err
	})
}

// brokenIsWhole reports what came before a break as all that there was, and asks
// for nothing more.
func brokenIsWhole(t contract.Table) contract.Table {
	next := t.Exec
	t.Exec = func(ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
		res, err := next(ctx, id, c)
		if port.CodeOf(err) == port.CodeExitUnknown && len(res.Stdout) > 0 {
			res.ExitCode, res.Truncated, err = 0, new(bool), nil
		}
		return res, err
	}
	return t
}

// execAgain submits a command again after an error of this code.
func execAgain(code port.Code) func() func(contract.Table) contract.Table {
	return onExec(func(next func(context.Context, string, contract.Command) (contract.ExecResult, error), ctx context.Context,
		id string, c contract.Command) (contract.ExecResult, error) {
		res, err := next(ctx, id, c)
		if port.CodeOf(err) == code && ctx.Err() == nil {
			return next(ctx, id, c)
		}
		return res, err
	})
}

// createAgain sends a create so many times more after errors of this code.
func createAgain(code port.Code, more int) func(contract.Table) contract.Table {
	return func(t contract.Table) contract.Table {
		next := t.Create
		t.Create = func(ctx context.Context, r contract.CreateRequest) (contract.Instance, error) {
			i, err := next(ctx, r)
			for n := 0; n < more && port.CodeOf(err) == code && ctx.Err() == nil; n++ {
				i, err = next(ctx, r)
			}
			return i, err
		}
		return t
	}
}

// lostIsUnchanged says of a change whose answer was lost that nothing happened.
func lostIsUnchanged(t contract.Table) contract.Table {
	next := t.Stop
	t.Stop = func(ctx context.Context, id string) (contract.Instance, error) {
		i, err := next(ctx, id)
		if port.CodeOf(err) == port.CodeOutcomeUnknown {
			err = &port.Error{Code: port.CodeUnavailable, Op: "Stop", ID: id, Outcome: port.OutcomeUnchanged}
		}
		return i, err
	}
	return t
}
