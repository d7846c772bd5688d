package port

import (
	"fmt"
	"io"
	"log/slog"
)

// redacted stands wherever a secret would have been printed.
const redacted = "[redacted]"

// Secret holds a credential. Every fmt verb, encoding/json, encoding and slog
// show "[redacted]"; only Reveal gives the value. The zero value is absent.
type Secret struct{ value string }

// NewSecret wraps a value. A blank value is absent.
func NewSecret(value string) Secret { return Secret{value: value} }

// Reveal returns the value. Call it where the credential leaves the process
// towards its vendor, and nowhere else.
func (s Secret) Reveal() string { return s.value }

// IsZero reports whether there is no value.
func (s Secret) IsZero() bool { return s.value == "" }

// String hides the value.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return redacted
}

// GoString hides the value.
func (s Secret) GoString() string { return "port.Secret(" + redacted + ")" }

// Format hides the value under every verb and flag.
func (s Secret) Format(f fmt.State, _ rune) {
	if _, err := io.WriteString(f, s.String()); err != nil {
		return // fmt.State has no way to report a failed write
	}
}

// MarshalText hides the value from JSON, YAML and every text encoder.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue hides the value from slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
