package sandbox

import (
	"fmt"
	"strings"

	"github.com/agentworkforce/sbx/port"
)

// Ref names a sandbox across providers: "provider:native", split at the first
// colon, so a native ID may hold more of them.
type Ref string

// NewRef joins a provider ID and a native ID.
func NewRef(provider, native string) Ref { return Ref(provider + ":" + native) }

// ParseRef checks that s has both parts; otherwise it is invalid_argument.
func ParseRef(s string) (Ref, error) {
	provider, native, ok := strings.Cut(s, ":")
	if !ok || provider == "" || native == "" {
		return "", &Error{Code: port.CodeInvalidArgument, Op: "ParseRef", Outcome: port.OutcomeUnchanged,
			Reason: fmt.Sprintf("%q is not provider:id", s)}
	}
	return Ref(s), nil
}

// Provider is the part before the first colon.
func (r Ref) Provider() string { p, _, _ := strings.Cut(string(r), ":"); return p }

// Native is the part after the first colon.
func (r Ref) Native() string { _, n, _ := strings.Cut(string(r), ":"); return n }

// String returns the reference as written.
func (r Ref) String() string { return string(r) }
