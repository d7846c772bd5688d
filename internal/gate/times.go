package gate

import (
	"time"
)

// maxAge is how long evidence is fresh, and oldPrice after how many days a price
// is read again.
const (
	maxAge   = 90 * 24 * time.Hour
	oldPrice = 365 * 24 * time.Hour
)

// days checks the dates of a manifest against the day of this check. Somewhere
// on Earth it is already tomorrow.
func (r *run) days(name string, e *examined) {
	for _, d := range e.facts.Days {
		t, err := time.Parse(time.DateOnly, d.Text)
		switch {
		case err != nil: // the schema has said so
		case t.After(r.asOf.Add(14 * time.Hour)):
			r.at(name, ruleFuture, d.At, d.Text+" has not come yet").Help = "this check is made for " + r.asOf.UTC().Format(time.DateOnly)
		case d.Price && r.asOf.Sub(t) > oldPrice:
			r.at(name, ruleOldPrice, d.At, "the price was read more than a year ago")
		}
	}
}

// entryTimes checks the times of a catalog entry against each other and the day.
func (r *run) entryTimes(name string, e *examined) {
	f := e.facts
	verified, err := time.Parse(time.RFC3339, f.VerifiedAt.Text)
	hasVerified := err == nil
	expires, err := time.Parse(time.RFC3339, f.ExpiresAt.Text)
	hasExpires := err == nil
	if hasVerified && verified.After(r.asOf) {
		r.at(name, ruleTimes, f.VerifiedAt.At, "verifiedAt has not come yet").Help =
			"this check is made for " + r.asOf.UTC().Format(time.RFC3339)
	}
	if hasVerified && hasExpires {
		switch {
		case !expires.After(verified):
			r.at(name, ruleTimes, f.ExpiresAt.At, "it expires before it was verified")
		case expires.Sub(verified) > maxAge:
			r.at(name, ruleTimes, f.ExpiresAt.At, "evidence holds for at most ninety days").Suggestion =
				verified.Add(maxAge).UTC().Format(time.RFC3339)
		}
	}
	backwards := hasVerified && !expires.After(verified)
	if hasExpires && !backwards && f.Status.Text == "verified" && !expires.After(r.asOf) {
		r.at(name, ruleExpired, f.ExpiresAt.At, "the evidence has expired").Next = "sbxgen evidence collect " + f.Provider.Text
	}
	for _, w := range f.Waivers {
		until, err := time.Parse(time.DateOnly, w.Text)
		if err == nil && r.asOf.After(until.Add(24*time.Hour)) {
			r.at(name, ruleWaiverExpired, w.At, "the waiver ended on "+w.Text)
		}
	}
}
