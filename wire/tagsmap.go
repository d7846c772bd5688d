package wire

import (
	"maps"
	"regexp"
	"strconv"
	"time"
)

func encodeMap(lim Limits, labels map[string]string, tags Tags) (map[string]string, error) {
	out := make(map[string]string, len(labels)+5)
	maps.Copy(out, labels)
	out[KeyOwner] = tags.Owner
	if tags.Run != "" {
		out[KeyRun] = tags.Run
	}
	if tags.Intent != "" {
		out[KeyIntent] = tags.Intent
	}
	out[KeyAttribution] = attributionPrefix + tags.Owner
	if tags.ReapAfter != nil {
		out[KeyEphemeralUntil] = strconv.FormatInt(tags.ReapAfter.UnixMilli(), 10)
	}
	if lim.MaxLabels > 0 && len(out) > lim.MaxLabels {
		return nil, refuseTag("%d labels, ours included; the provider allows %d", len(out), lim.MaxLabels)
	}
	for k, v := range out {
		switch {
		case lim.MaxKey > 0 && len(k) > lim.MaxKey:
			return nil, refuseTag("the label key %q has %d bytes, the provider allows %d", k, len(k), lim.MaxKey)
		case lim.MaxValue > 0 && len(v) > lim.MaxValue:
			return nil, refuseTag("the label %q has a value of %d bytes, the provider allows %d", k, len(v), lim.MaxValue)
		case !matchesWhole(lim.Key, k):
			return nil, refuseTag("the label key %q has characters that the provider does not store", k)
		case !matchesWhole(lim.Value, v):
			return nil, refuseTag("the label %q has a value with characters that the provider does not store", k)
		}
	}
	return out, nil
}

// matchesWhole works without anchors in the pattern; a nil pattern allows all.
func matchesWhole(re *regexp.Regexp, s string) bool {
	if re == nil {
		return true
	}
	//lint:ignore SA1019 a copy with another Longest setting is the use that stays documented
	longest := re.Copy()
	longest.Longest()
	loc := longest.FindStringIndex(s)
	return loc != nil && loc[0] == 0 && loc[1] == len(s)
}

func decodeMap(e Encoded) Decoded {
	d := Decoded{Marking: MarkingForeign, Name: e.Name, Labels: map[string]string{}}
	for k, v := range e.Labels {
		if !reserved(k) {
			d.Labels[k] = v
		}
	}
	owner := e.Labels[KeyOwner]
	// The attribution repeats the owner: if they disagree, somebody or
	// something rewrote one of them.
	if owner == "" || e.Labels[KeyAttribution] != attributionPrefix+owner {
		return d
	}
	d.Marking = MarkingTagged
	d.Tags = Tags{Owner: owner, Run: e.Labels[KeyRun], Intent: e.Labels[KeyIntent],
		ReapAfter: parseMillis(e.Labels[KeyEphemeralUntil])}
	return d
}

// parseMillis answers nil for what Encode did not write: a deadline that is
// not understood is no deadline, so nothing is reaped by it.
func parseMillis(s string) *time.Time {
	ms, err := strconv.ParseInt(s, 10, 64)
	if err != nil || strconv.FormatInt(ms, 10) != s {
		return nil
	}
	t := time.UnixMilli(ms).UTC()
	return &t
}
