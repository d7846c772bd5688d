package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/agentworkforce/sbx/conformance/faults"
	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// faultChecks spoil what passes between the adapter and the vendor.
func faultChecks() map[string]proof {
	return map[string]proof{
		"honesty.not-found-by-code":        {run: spoiled(notFoundByCode), method: "Inspect"},
		"honesty.wrong-key-is-not-gone":    {run: spoiled(wrongKeyIsNotGone), method: "Inspect"},
		"honesty.error-in-success":         {run: spoiled(errorInSuccess), method: "Inspect"},
		"honesty.malformed-success":        {run: spoiled(malformedSuccess), method: "Inspect"},
		"honesty.exec-failure-is-not-exit": {run: spoiled(execFailureIsNotExit), method: "Exec"},
		"honesty.exit-unknown":             {run: spoiled(exitUnknown), method: "Exec"},
		"honesty.exec-cut-is-unknown":      {run: spoiled(execCutIsUnknown), method: "Exec"},
		"honesty.stream-needs-end":         {run: spoiled(streamNeedsEnd), method: "Exec"},
		"honesty.create-not-resent":        {run: spoiled(createNotResent), method: "Create"},
		"honesty.mutation-not-resent":      {run: spoiled(mutationNotResent), method: "Exec"},
		"honesty.outcome-unknown":          {run: spoiled(outcomeUnknown), method: "Exec"},
		"honesty.rate-limit-surfaces":      {run: spoiled(rateLimitSurfaces), method: "Inspect"},
	}
}

// neverAbsent looks and destroys under a fault, and requires that neither says
// that the sandbox is gone.
func (b *between) neverAbsent(ctx context.Context, what string, f faults.Fault) error {
	return b.under(f, func() error {
		_, err := b.table.Inspect(ctx, b.sb.ID())
		if err == nil || isAbsent(err) {
			return fmt.Errorf("with %s a look-up says: %v", what, err)
		}
		outcome, err := b.table.Destroy(ctx, b.sb.ID())
		if err == nil || isAbsent(err) {
			return fmt.Errorf("with %s a destroy says %q, %v", what, outcome, err)
		}
		if b.table.List == nil {
			return nil
		}
		all, err := b.table.List(ctx, contract.ListRequest{})
		if err == nil {
			return fmt.Errorf("with %s a listing has %d rows and no error", what, len(all))
		}
		return nil
	})
}

const saysNotFound = `{"message":"No such container, sandbox or box: not found","error":"not found","code":"internal"}`

func notFoundByCode(ctx context.Context, b *between) error {
	for _, status := range []int{http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable} {
		err := b.neverAbsent(ctx, fmt.Sprintf("status %d and a text that says not found", status), faults.Fault{Status: status, Body: saysNotFound})
		if err != nil {
			return err
		}
	}
	return nil
}

func wrongKeyIsNotGone(ctx context.Context, b *between) error {
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		err := b.neverAbsent(ctx, fmt.Sprintf("status %d", status), faults.Fault{Status: status, Body: `{"message":"key is not valid"}`})
		if err != nil {
			return err
		}
	}
	b.proxy.Set(faults.Fault{Status: http.StatusUnauthorized, Body: `{"message":"key is not valid"}`})
	defer b.proxy.Set(faults.Fault{})
	report, err := b.sb.Destroy(ctx)
	if err == nil || report.VerifiedGone {
		return fmt.Errorf("with a revoked key a destroy says %+v, %v", report, err)
	}
	return nil
}

func errorInSuccess(ctx context.Context, b *between) error {
	return b.neverSuccess(ctx, "an error", `{"message":"internal error","error":{"code":"internal","message":"internal error"}}`)
}

func malformedSuccess(ctx context.Context, b *between) error {
	for what, body := range map[string]string{"nothing": "", "half a document": `{"Id": "a`, "a page": "<html>sign in</html>"} {
		if err := b.neverSuccess(ctx, what, body); err != nil {
			return err
		}
	}
	return b.under(faults.Fault{Only: reading, Cut: true}, func() error {
		if i, err := b.table.Inspect(ctx, b.sb.ID()); err == nil || isAbsent(err) {
			return fmt.Errorf("with half an answer a look-up says %+v, %v", i, err)
		}
		return nil
	})
}

// neverSuccess requires that reads under status 200 with a body are errors.
func (b *between) neverSuccess(ctx context.Context, what, body string) error {
	return b.under(faults.Fault{Only: reading, Status: http.StatusOK, Body: body}, func() error {
		if i, err := b.table.Inspect(ctx, b.sb.ID()); err == nil || isAbsent(err) {
			return fmt.Errorf("with status 200 and %s a look-up says %+v, %v", what, i, err)
		}
		if b.table.List == nil {
			return nil
		}
		if all, err := b.table.List(ctx, contract.ListRequest{}); err == nil {
			return fmt.Errorf("with status 200 and %s a listing has %d rows and no error", what, len(all))
		}
		return nil
	})
}

func execFailureIsNotExit(ctx context.Context, b *between) error {
	for _, status := range []int{http.StatusInternalServerError, http.StatusConflict, http.StatusBadRequest} {
		err := b.under(faults.Fault{Only: changing, Status: status, Body: `{"message":"no"}`}, func() error {
			res, err := b.table.Exec(ctx, b.sb.ID(), contract.Command{Script: "exit 0", Timeout: execLimit})
			if err == nil {
				return fmt.Errorf("a command that was refused with status %d gave exit code %d", status, res.ExitCode)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// exitUnknown lets a command run and spoils what is asked about it afterwards.
func exitUnknown(ctx context.Context, b *between) error {
	for _, body := range []string{"{}", `{"ExitCode":null,"exit_code":null,"exitCode":null}`} {
		err := b.under(faults.Fault{Only: reading, Status: http.StatusOK, Body: body}, func() error {
			res, err := b.table.Exec(ctx, b.sb.ID(), contract.Command{Script: "exit 3", Timeout: 10 * time.Second})
			if err == nil {
				return fmt.Errorf("without an exit code in the answer a command gave %d", res.ExitCode)
			}
			if c := port.CodeOf(err); c != port.CodeExitUnknown && c != port.CodeTimeout && c != port.CodeProvider {
				return fmt.Errorf("without an exit code in the answer: want exit_unknown: %w", err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func rateLimitSurfaces(ctx context.Context, b *between) error {
	const pause = 2 * time.Second
	limited := faults.Fault{Status: http.StatusTooManyRequests, Body: `{"message":"slow down"}`, Header: map[string]string{"Retry-After": "2"}}
	cctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return b.under(limited, func() error {
		return promptly(5*time.Second+overrun, "a look-up under a rate limit", func() error {
			_, err := b.table.Inspect(cctx, b.sb.ID())
			if err := wantCode(err, port.CodeRateLimited, "a look-up under a rate limit"); err != nil {
				return err
			}
			e, ok := errors.AsType[*port.Error](err)
			if !ok || e.RetryAfter != pause {
				return fmt.Errorf("the vendor said to wait %s, the error says %v: %w", pause, e.RetryAfter, err)
			}
			return nil
		})
	})
}
