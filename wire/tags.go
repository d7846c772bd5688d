package wire

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agentworkforce/sbx/port"
)

// Tags say whose a resource is. Only sandbox/ makes them; adapters encode them
// as their manifest's labels.encoding says.
type Tags struct {
	Owner     string     // who may stop and destroy it; required
	Run       string     // the program run that made it
	Intent    string     // the ledger record that announced it
	ReapAfter *time.Time // any reaper may destroy it after this; kept to the millisecond
}

// Encoding is the manifest's labels.encoding.
type Encoding string

const (
	// EncodingMap writes each tag under a label key of its own.
	EncodingMap Encoding = "map"
	// EncodingPacked writes tags and user labels into one string value.
	EncodingPacked Encoding = "packed"
	// EncodingName writes owner, run and intent into the resource name. It has
	// no room for ReapAfter and user labels.
	EncodingName Encoding = "name"
	// EncodingNone means that the vendor stores nothing of ours.
	EncodingNone Encoding = "none"
)

// CarriesReapAfter says whether Tags.ReapAfter survives this encoding. Where it does
// not, only the ledger knows the time, and no foreign reaper can act on it.
func (e Encoding) CarriesReapAfter() bool { return e == EncodingMap || e == EncodingPacked }

// CarriesLabels says whether user labels survive this encoding.
func (e Encoding) CarriesLabels() bool { return e == EncodingMap || e == EncodingPacked }

// Limits are a vendor's own bounds. Lengths are in bytes; 0 means no bound,
// except where said otherwise. A value over a limit is refused, never cut.
type Limits struct {
	MaxLabels int // labels in all, ours included
	MaxKey    int
	MaxValue  int
	MaxPacked int // of the packed value
	MaxName   int // 0 means 63 when the name carries tags
	// Key and Value, when set, must match whole keys and values of a map.
	Key   *regexp.Regexp
	Value *regexp.Regexp
}

// Encoded is what goes to the vendor, and what comes back from it.
type Encoded struct {
	Name   string
	Labels map[string]string // EncodingMap
	Packed string            // EncodingPacked
}

// Marking is what a resource's labels say about its origin.
type Marking string

const (
	// MarkingUnknown is the zero value: this encoding says nothing.
	MarkingUnknown Marking = ""
	// MarkingTagged means well-formed tags are there. Whether they name this
	// owner is for the caller to compare.
	MarkingTagged Marking = "tagged"
	// MarkingForeign means that there are no tags of ours, or damaged ones.
	MarkingForeign Marking = "foreign"
)

// Decoded is what could be read back. Tags are set only when Marking is
// MarkingTagged. Labels are the user's alone.
type Decoded struct {
	Marking Marking
	Tags    Tags
	Labels  map[string]string
	Name    string // without what EncodingName added
}

// Keys that EncodingMap writes. The last two are the ones that reapers of
// other programs understand.
const (
	KeyOwner          = "sbx.owner"
	KeyRun            = "sbx.run"
	KeyIntent         = "sbx.intent"
	KeyAttribution    = "_sandbox.attributionTag"
	KeyEphemeralUntil = "_sandbox.ephemeralUntil" // unix milliseconds
	attributionPrefix = "sbx:"
)

// Encode lays out tags, user labels and a name for the vendor. The name is the
// resource's own, or with EncodingName a prefix for people ([a-z0-9-]).
//
// Errors: CodeInvalidArgument for a missing owner, a reserved label key, text
// that is not UTF-8 or anything over a limit; CodeUnsupported for user labels
// where the encoding cannot carry them. Nothing is dropped or cut to fit,
// except that only map and packed carry ReapAfter.
func Encode(enc Encoding, lim Limits, labels map[string]string, tags Tags, name string) (Encoded, error) {
	if err := checkTags(enc, labels, tags); err != nil {
		return Encoded{}, err
	}
	out, err := Encoded{Name: name}, error(nil)
	switch enc {
	case EncodingMap:
		out.Labels, err = encodeMap(lim, labels, tags)
	case EncodingPacked:
		out.Packed, err = encodePacked(lim, labels, tags)
	case EncodingName:
		out.Name, err = encodeName(tags, name)
		if lim.MaxName == 0 {
			lim.MaxName = defaultMaxName
		}
	}
	if err == nil && lim.MaxName > 0 && len(out.Name) > lim.MaxName {
		err = refuseTag("the name needs %d bytes, the provider allows %d", len(out.Name), lim.MaxName)
	}
	if err != nil {
		return Encoded{}, err
	}
	return out, nil
}

// Decode is the inverse of Encode. Any string may be given to it: what Encode
// did not write, or the vendor damaged, is MarkingForeign.
func Decode(enc Encoding, e Encoded) Decoded {
	switch enc {
	case EncodingMap:
		return decodeMap(e)
	case EncodingPacked:
		return decodePacked(e)
	case EncodingName:
		return decodeName(e)
	}
	return Decoded{Name: e.Name}
}

func checkTags(enc Encoding, labels map[string]string, tags Tags) error {
	switch enc {
	case EncodingMap, EncodingPacked, EncodingName:
		if tags.Owner == "" {
			return refuseTag("the owner tag is missing")
		}
	case EncodingNone:
	default:
		return refuseTag("unknown label encoding %q", enc)
	}
	if len(labels) > 0 && !enc.CarriesLabels() {
		return &port.Error{Code: port.CodeUnsupported, Op: "Create", Capability: "labels",
			Outcome: port.OutcomeUnchanged, Reason: fmt.Sprintf("label encoding %q has no room for user labels", enc)}
	}
	for _, t := range []string{tags.Owner, tags.Run, tags.Intent} {
		if !utf8.ValidString(t) {
			return refuseTag("a tag is not valid UTF-8")
		}
	}
	for k, v := range labels {
		switch {
		case k == "":
			return refuseTag("a label has an empty key")
		case reserved(k):
			return refuseTag("the label key %q is reserved", k)
		case !utf8.ValidString(k) || !utf8.ValidString(v):
			return refuseTag("the label %q is not valid UTF-8", k)
		}
	}
	return nil
}

// reserved covers whole name spaces, in any case and with any space around, so
// that a vendor that folds or trims keys cannot turn a user's key into ours.
func reserved(key string) bool {
	k := strings.ToLower(strings.ToUpper(strings.TrimSpace(key))) // up first: U+017F folds to s
	return strings.HasPrefix(k, "sbx.") || strings.HasPrefix(k, "_sandbox.")
}

func refuseTag(format string, args ...any) error {
	return &port.Error{Code: port.CodeInvalidArgument, Op: "Create", Outcome: port.OutcomeUnchanged,
		Reason: fmt.Sprintf(format, args...)}
}

// MatchLabels reports whether have contains every pair of want. Nothing wanted
// matches everything. Use it on every item of a listing, also when the vendor
// filters: a filter that is ignored would hand out somebody else's sandbox.
func MatchLabels(have, want map[string]string) bool {
	for k, v := range want {
		if got, ok := have[k]; !ok || got != v {
			return false
		}
	}
	return true
}
