package main

import (
	"context"
	"fmt"

	"github.com/agentworkforce/sbx/ledger"
)

// whole is a thing in all ledgers: several runs may have handled it.
type whole struct{ owner, provider, scope, intent string }

// gone are the runs that have proven things gone, from files that are in order:
// what a damaged one says settles nothing. Proven gone once is gone for ever, so
// reap asks for no more either.
func (o outside) gone(ctx context.Context) (map[whole]string, error) {
	runs, err := findRuns(ctx, o, nil)
	if err != nil {
		return nil, err
	}
	out := map[whole]string{}
	for _, r := range runs {
		if r.Liveness == ledger.Empty {
			continue
		}
		rep, err := ledger.Verify(r.Path)
		if err != nil || !rep.OK() {
			continue // verify tells of it where that file is its subject
		}
		for _, e := range rep.State.Entries {
			if e.Status == ledger.StatusVerifiedGone && len(e.OtherIDs) == 0 {
				out[whole{rep.State.Owner, e.Provider, e.Scope, e.Intent}] = r.Run
			}
		}
	}
	return out, nil
}

// settle marks what a file leaves open and another run has settled.
func (v *verifyView) settle(rep *ledger.Report, gone map[whole]string) {
	v.owes = rep.State.Unrecognized > 0 || v.OK == nil || !*v.OK
	for i := range v.Findings {
		f := &v.Findings[i]
		if f.Rule != ledger.RuleBalance {
			continue
		}
		e := rep.State.Entry(f.Intent)
		if e != nil && len(e.OtherIDs) == 0 {
			f.SettledIn = gone[whole{rep.State.Owner, e.Provider, e.Scope, e.Intent}]
		}
		v.owes = v.owes || f.SettledIn == ""
	}
}

// balance is what a file says of itself, and what others say of the rest.
func (v *verifyView) balance() string {
	if *v.Balanced {
		return "balanced"
	}
	if v.owes {
		return "something is owed"
	}
	in := ""
	for _, f := range v.Findings {
		switch {
		case f.SettledIn == "" || f.SettledIn == in:
		case in == "":
			in = f.SettledIn
		default:
			return "settled in other runs"
		}
	}
	return fmt.Sprintf("settled in run %s", in)
}
