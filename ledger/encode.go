package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// maxLine bounds a record, so that a reader needs bounded memory per line.
	maxLine = 1 << 20
	// maxText bounds a reason; vendors have been seen to return whole pages.
	maxText = 4 << 10
)

// firstHash stands where the first record has no line before it.
func firstHash() string { return strings.Repeat("0", sha256.Size*2) }

// lineHash is what the record after line carries as PrevHash. line ends in '\n'.
func lineHash(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}

// encode renders r as one line. Strings that identify something are never
// repaired: a record that JSON could not carry unchanged is refused.
func encode(r *Record) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, &InvalidError{Field: "record", Reason: "cannot be encoded: " + err.Error()}
	}
	if b.Len() > maxLine {
		return nil, &InvalidError{Field: "record", Reason: fmt.Sprintf("is longer than %d bytes", maxLine)}
	}
	return b.Bytes(), nil
}

// clean redacts the free text of r and bounds it, in that order: a secret cut in
// two would no longer be recognised.
func clean(r *Record, redact func(string) string) {
	r.Outcome = cleanText(r.Outcome, redact)
	r.Reason = cleanText(r.Reason, redact)
	if len(r.Labels) > 0 {
		labels := make(map[string]string, len(r.Labels))
		for k, v := range r.Labels {
			labels[k] = cleanText(v, redact)
		}
		r.Labels = labels
	}
}

func cleanText(s string, redact func(string) string) string {
	if s == "" {
		return s
	}
	if redact != nil {
		s = redact(s)
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + " [cut]"
	}
	return s
}

// validate refuses what no reader could use. It does not judge the order of
// events: a fact that came late or twice is still a fact and must be recorded.
func validate(r *Record) error {
	if !r.Event.Valid() {
		return &InvalidError{Field: "event", Reason: fmt.Sprintf("%q is not an event of the format", r.Event)}
	}
	for _, f := range []struct{ name, value string }{
		{"provider", r.Provider}, {"scope", r.Scope}, {"intent", r.Intent},
		{"id", r.ID}, {"name", r.Name}, {"parent", r.Parent},
	} {
		if !utf8.ValidString(f.value) {
			return &InvalidError{Field: f.name, Reason: "is not valid UTF-8"}
		}
	}
	for k := range r.Labels {
		if !utf8.ValidString(k) {
			return &InvalidError{Field: "labels", Reason: "has a key that is not valid UTF-8"}
		}
	}
	if r.Kind != "" && !r.Kind.Valid() {
		return &InvalidError{Field: "kind", Reason: fmt.Sprintf("%q is not a kind of the format", r.Kind)}
	}
	if r.Disposition != "" && !r.Disposition.Valid() {
		return &InvalidError{Field: "disposition", Reason: fmt.Sprintf("%q is neither scoped nor kept", r.Disposition)}
	}
	return validateNeeds(r)
}

func validateNeeds(r *Record) error {
	missing := func(field string) error {
		return &InvalidError{Field: field, Reason: "is required for event " + string(r.Event)}
	}
	switch r.Event {
	case EventRunStarted, EventRunEnded:
		return &InvalidError{Field: "event", Reason: string(r.Event) + " is written by the ledger itself"}
	case EventRecovered:
		if r.Intent != "" && r.ID == "" {
			return missing("id")
		}
		return nil
	}
	if r.Intent == "" {
		return missing("intent")
	}
	switch r.Event {
	case EventIntent, EventAdopted:
		switch {
		case r.Kind == "":
			return missing("kind")
		case r.Provider == "":
			return missing("provider")
		case r.Disposition == "":
			return missing("disposition")
		}
	case EventDispositionChanged:
		if r.Disposition == "" {
			return missing("disposition")
		}
	}
	if (r.Event == EventCreated || r.Event == EventAdopted) && r.ID == "" {
		return missing("id")
	}
	return nil
}
