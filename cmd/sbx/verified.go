package main

import (
	"path"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/catalog"
)

// verifiedView is whether a provider is verified, by what this build carries.
type verifiedView struct {
	Verdict string    `json:"verdict"` // verified or unknown; nothing else is ever known here
	Run     string    `json:"run,omitempty"`
	At      time.Time `json:"at,omitzero"`
	Until   time.Time `json:"until,omitzero"`
	Reason  string    `json:"reason,omitempty"` // of unknown
}

// verdicts.
const (
	verified        = "verified"
	verifiedUnknown = "unknown"
)

// verifiedOf judges an entry at a time. The date is compared every time, because
// a build outlives it.
func verifiedOf(e catalog.Entry, now time.Time) verifiedView {
	v := verifiedView{Verdict: verifiedUnknown, At: e.VerifiedAt, Until: e.ExpiresAt}
	if len(e.Evidence) > 0 {
		v.Run = path.Base(path.Dir(e.Evidence[0].Path))
	}
	switch {
	case e.ID == "":
		v.Reason = "no evidence: the catalog of this build does not know it"
	case e.Status != verified && e.Reason != "":
		v.Reason = e.Reason
	case e.Status != verified, v.Run == "", e.ExpiresAt.IsZero(), e.VerifiedAt.IsZero():
		v.Reason = "no evidence"
	case !now.Before(e.ExpiresAt):
		v.Reason = "expired " + e.ExpiresAt.UTC().Format(time.DateOnly)
	case now.Before(e.VerifiedAt):
		v.Reason = "dated in the future: this machine's clock is wrong, or the catalog is"
	default:
		v.Verdict = verified
	}
	return v
}

// word is v in a table; the lines below it say the rest.
func (v verifiedView) word() string {
	if v.Verdict == verified {
		return "until " + v.Until.UTC().Format(time.DateOnly)
	}
	reason, _, _ := strings.Cut(v.Reason, ":")
	if len(reason) > 24 {
		return verifiedUnknown
	}
	return verifiedUnknown + " (" + reason + ")"
}

// entries are what the catalog of this build states, by provider.
func (o outside) entries() (map[string]catalog.Entry, error) {
	out := map[string]catalog.Entry{}
	if o.catalog == nil {
		return out, nil
	}
	all, err := o.catalog()
	for _, e := range all {
		out[e.ID] = e
	}
	return out, err
}

// unbuilt says why there is no provider with this ID.
func (a *app) unbuilt(id string) string { return catalog.Unbuilt(id, a.ids()...) }
