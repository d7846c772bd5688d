package sandbox

import (
	"errors"
	"fmt"
	"time"

	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
)

// again says when and how to look again at what is left open, "" where nothing
// is. cause is why the vendor could not be asked, nil when it could.
func (r *reaper) again(th *thing, item ReapItem, cause error) string {
	look := "sbx reap --provider " + th.provider
	switch {
	case item.Err != "" && item.Destroy != nil && item.Destroy.Acknowledged:
		return "in a few minutes, " + look + " --apply looks for it again"
	case item.Err != "":
		return look + " --apply asks again"
	case item.Verdict != VerdictUnknown:
		return ""
	case cause != nil:
		return againAfter(cause, th.provider, look)
	case len(th.opened().otherIDs) > 0:
		return "sbx rm for each of these IDs, then " + look
	case th.alive() != nil && th.alive().Liveness != ledger.Alive:
		return "when " + th.alive().Path + " can be read and locked, " + look
	}
	// A create that nobody waited for may still come to something.
	if settled := th.updated.Add(r.provision(th.provider)); settled.After(r.o.Now()) {
		return "after " + settled.UTC().Format(time.RFC3339) + ", when a create that was under way is over, " + look
	}
	return fmt.Sprintf("no later look here will settle it; look at %s itself for what is tagged run %s, intent %s",
		th.provider, th.tags.Run, th.intent)
}

// againAfter is again where the vendor could not be asked.
func againAfter(cause error, provider, look string) string {
	known, _ := errors.AsType[*Error](cause)
	switch code := port.CodeOf(cause); {
	case known != nil && known.RetryAfter > 0:
		return "in " + known.RetryAfter.String() + ", " + look
	case code == port.CodeUnauthenticated, code == port.CodePermissionDenied:
		return "with the credentials it was made with, " + look
	case code == port.CodeOutcomeUnknown:
		return "no later look here will settle it; look at " + provider + " itself"
	case code == port.CodeUnsupported:
		return "with a program that can remove it at " + provider
	case code == port.CodeUnavailable, code == port.CodeTimeout, code == port.CodeRateLimited:
		return "when " + provider + " answers, " + look
	}
	return "when that is repaired, " + look
}

// provision is how long a create at the provider may take.
func (r *reaper) provision(id string) time.Duration {
	if p := r.providers[id]; p != nil {
		return p.opts.deadlines.Provision
	}
	return newOpenOptions(r.opts).deadlines.Provision
}
