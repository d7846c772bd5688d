package docker

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// Labels of our own beside the ownership tags that wire writes. All of them
// are written on every container and image, empty ones too: a container
// inherits the labels of its image and a committed image those of its
// container, and only an explicit value keeps an inherited one out.
const (
	keyProvider = "sbx.provider"
	keyKind     = "sbx.kind" // kindSandbox or kindSnapshot
	keyUser     = "sbx.labels"
	keyName     = "sbx.name"   // of a snapshot
	keySource   = "sbx.source" // of a snapshot: the container it was taken from
	keyBase     = "sbx.base"   // the fork's own image, removed with its last user
	keyFork     = "sbx.fork"   // "1" on an image that a fork made for itself

	kindSandbox  = "sandbox"
	kindSnapshot = "snapshot"
)

// never is the reap time of what nobody reaps by time: the last second of the
// year 9999. It has to be a number, because other programs' reapers read it.
func never() time.Time { return time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC) }

// marks are the values of our own labels.
type marks struct{ kind, name, source, base, fork string }

// encodeLabels lays out user labels, ownership tags and our own marks.
func (a *Adapter) encodeLabels(op string, user map[string]string, tags contract.Tags, m marks) (map[string]string, error) {
	t := wire.Tags{Owner: tags.Owner, Run: tags.Run, Intent: tags.Intent, ReapAfter: tags.ReapAfter}
	if t.ReapAfter == nil {
		end := never()
		t.ReapAfter = &end
	}
	enc, err := wire.Encode(wire.EncodingMap, wire.Limits{}, user, t, "")
	if err != nil {
		if e, ok := errors.AsType[*port.Error](err); ok {
			e.Op, e.Provider = op, a.variant.ProviderID
		}
		return nil, err
	}
	keys, err := json.Marshal(slices.Sorted(maps.Keys(user)))
	if err != nil {
		return nil, a.refuse(op, "", "the label keys cannot be encoded")
	}
	out := map[string]string{wire.KeyRun: "", wire.KeyIntent: ""}
	maps.Copy(out, enc.Labels)
	maps.Copy(out, map[string]string{keyProvider: a.variant.ProviderID, keyKind: m.kind, keyUser: string(keys),
		keyName: m.name, keySource: m.source, keyBase: m.base, keyFork: m.fork})
	return out, nil
}

// ours reports whether an object with these labels was made by this provider.
func (a *Adapter) ours(labels map[string]string, kind string) bool {
	return labels[keyProvider] == a.variant.ProviderID && labels[keyKind] == kind
}

// decodeLabels returns the user's own labels, without what the image brought,
// and the ownership tags, nil when there are none.
func decodeLabels(labels map[string]string) (map[string]string, *contract.Tags) {
	var user map[string]string
	var keys []string
	if err := json.Unmarshal([]byte(labels[keyUser]), &keys); err == nil && len(keys) > 0 {
		user = make(map[string]string, len(keys))
		for _, k := range keys {
			if v, ok := labels[k]; ok {
				user[k] = v
			}
		}
	}
	d := wire.Decode(wire.EncodingMap, wire.Encoded{Labels: labels})
	if d.Marking != wire.MarkingTagged {
		return user, nil
	}
	tags := &contract.Tags{Owner: d.Tags.Owner, Run: d.Tags.Run, Intent: d.Tags.Intent, ReapAfter: d.Tags.ReapAfter}
	if tags.ReapAfter != nil && !tags.ReapAfter.Before(never()) {
		tags.ReapAfter = nil
	}
	return user, tags
}

// matchTags reports whether have carries every member that want states.
func matchTags(have, want *contract.Tags) bool {
	if want == nil || *want == (contract.Tags{}) {
		return true
	}
	return have != nil && (want.Owner == "" || want.Owner == have.Owner) &&
		(want.Run == "" || want.Run == have.Run) && (want.Intent == "" || want.Intent == have.Intent) &&
		(want.ReapAfter == nil || have.ReapAfter != nil && want.ReapAfter.Equal(*have.ReapAfter))
}
