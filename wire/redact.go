package wire

import (
	"errors"
	"fmt"
	"slices"

	"github.com/agentworkforce/sbx/port"
)

// MinSecret is the shortest secret, in bytes, that can be redacted: a shorter
// one would blot out ordinary text and be guessed from what remains.
const MinSecret = 8

const mask = "[redacted]"

// NamedSecret is a secret and the name under which it is reported.
type NamedSecret struct {
	Name  string
	Value port.Secret
}

// Finding says that a secret occurs somewhere. It never holds the value.
type Finding struct {
	Name string // of the secret
	Form string // how it was written: "plain", "url", "base64", "hex", "json"
	At   int    // byte offset
}

// Redactor replaces known secrets by "[redacted]", whether plain, URL-encoded,
// JSON-escaped, in hex, or in base64 (both alphabets, any alignment, unwrapped).
// It is immutable and safe for concurrent use. A nil *Redactor knows no secret
// and changes nothing.
//
// Redact before truncating, never after: a secret cut in two matches nothing.
type Redactor struct {
	secrets []NamedSecret
	starts  [256][]form // forms by first byte, longest first
	longest int
}

type form struct {
	text string
	kind string
	name string
}

// NewRedactor returns a redactor for these secrets. Absent ones are skipped;
// one shorter than MinSecret is CodeInvalidArgument, naming but not showing it.
func NewRedactor(secrets ...NamedSecret) (*Redactor, error) {
	r := &Redactor{}
	for _, s := range secrets {
		if s.Value.IsZero() {
			continue
		}
		if len(s.Value.Reveal()) < MinSecret {
			return nil, &port.Error{Code: port.CodeInvalidArgument, Op: "Open", Outcome: port.OutcomeUnchanged,
				Reason: fmt.Sprintf("the secret %q is shorter than %d bytes and cannot be kept out of logs", s.Name, MinSecret)}
		}
		if slices.Contains(r.secrets, s) {
			continue
		}
		r.secrets = append(r.secrets, s)
		for _, f := range forms(s) {
			r.starts[f.text[0]] = append(r.starts[f.text[0]], f)
			r.longest = max(r.longest, len(f.text))
		}
	}
	for i := range r.starts {
		slices.SortStableFunc(r.starts[i], func(a, b form) int { return len(b.text) - len(a.text) })
	}
	return r, nil
}

// With returns a redactor that knows r's secrets and these.
func (r *Redactor) With(secrets ...NamedSecret) (*Redactor, error) {
	if r == nil {
		return NewRedactor(secrets...)
	}
	return NewRedactor(slices.Concat(r.secrets, secrets)...)
}

// Bytes returns a redacted copy of b.
func (r *Redactor) Bytes(b []byte) []byte { return r.clean(b, false) }

// String returns s redacted.
func (r *Redactor) String(s string) string {
	if r == nil || r.longest == 0 {
		return s
	}
	return string(r.clean([]byte(s), false))
}

// RedactTail redacts b and then keeps its last limit bytes. b should begin
// where the text began: a secret whose start is already gone is not recognised.
func (r *Redactor) RedactTail(b []byte, limit int) []byte {
	out := r.clean(b, false)
	return out[len(out)-min(max(limit, 0), len(out)):]
}

// RedactHead redacts b and then keeps its first limit bytes.
func (r *Redactor) RedactHead(b []byte, limit int) []byte {
	return head(r.clean(b, false), max(limit, 0))
}

// Scan returns where secrets occur in b, for tests and for checks before
// something is published.
func (r *Redactor) Scan(b []byte) []Finding {
	var out []Finding
	if r == nil {
		return nil
	}
	for i := range b {
		if f, _ := r.at(b[i:]); f != nil {
			out = append(out, Finding{Name: f.name, Form: f.kind, At: i})
		}
	}
	return out
}

// Error returns err with its text redacted. errors.Is and errors.As still find
// what err wraps. A *port.Error stays one.
func (r *Redactor) Error(err error) error {
	if err == nil || r == nil || r.longest == 0 {
		return err
	}
	if e, ok := err.(*port.Error); ok { // only the outermost is rebuilt; what it wraps is wrapped again
		clean := *e
		clean.Reason, clean.Err = r.String(e.Reason), r.Error(e.Err)
		clean.ID = r.String(e.ID)
		return &clean
	}
	if text := err.Error(); r.String(text) != text {
		return &redactedError{text: r.String(text), err: err}
	}
	return err
}

// redactedError shows clean text and answers for its cause without handing out
// its message.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string        { return e.text }
func (e *redactedError) Is(target error) bool { return errors.Is(e.err, target) }
func (e *redactedError) As(target any) bool   { return errors.As(e.err, target) }

// clean redacts b. With cut, b ends where its text did not, and an end that
// may be the start of a secret is dropped.
func (r *Redactor) clean(b []byte, cut bool) []byte {
	var s scan
	out, rest := s.run(r, nil, b, !cut)
	if len(rest) > 0 && s.covered == 0 {
		return append(out, mask...)
	}
	return out
}

// at returns the longest form that b begins with, and whether b could be the
// beginning of a longer one.
func (r *Redactor) at(b []byte) (match *form, open bool) {
	for i := range r.starts[b[0]] {
		f := &r.starts[b[0]][i]
		if len(f.text) <= len(b) {
			if match == nil && string(b[:len(f.text)]) == f.text {
				match = f
			}
		} else if f.text[:len(b)] == string(b) {
			open = true
		}
	}
	return match, open
}

// scan is the state of one redaction that is fed in pieces.
type scan struct {
	covered int // bytes still ahead that belong to secrets already masked
}

// run appends the redaction of b to out. Unless final, it stops where a secret
// might begin that b does not show whole, and returns that rest.
// Overlapping secrets are masked together, so that none leaves its tail.
func (s *scan) run(r *Redactor, out, b []byte, final bool) (done, rest []byte) {
	if r == nil || r.longest == 0 {
		return append(out, b...), nil
	}
	for i := 0; i < len(b); i++ {
		match, open := (*form)(nil), false
		if r.starts[b[i]] != nil {
			match, open = r.at(b[i:])
		}
		if open && !final {
			return out, b[i:]
		}
		if match != nil {
			if s.covered == 0 {
				out = append(out, mask...)
			}
			s.covered = max(s.covered, len(match.text))
		}
		if s.covered > 0 {
			s.covered--
			continue
		}
		out = append(out, b[i])
	}
	return out, nil
}
