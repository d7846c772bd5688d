package gate

import "github.com/agentworkforce/sbx/internal/diag"

// facts are what the rules about several files and about time need of one file.
// They are stored in the cache, field by field: see coder.
type facts struct {
	// Of a manifest.
	ID        word
	Kind      string // adapter.kind
	Base      word
	Isolation word
	Supported []string // capability IDs
	Lock      link
	Days      []day
	// Of a catalog entry.
	Provider   word
	Status     word
	VerifiedAt word
	ExpiresAt  word
	Evidence   []link
	Waivers    []word // until
	// Of a Go file.
	Imports []word
	Stubs   []word // methods that answer not_implemented
}

// word is a text and where it stands.
type word struct {
	Text string
	At   diag.Span
}

// link is a path, the digest it must have, and where both stand.
type link struct {
	Path   word
	SHA256 word
}

// day is a date that must not lie in the future.
type day struct {
	word
	// Price says that it is the day a price was read, which grows old.
	Price bool
}

func wordAt(r *report, c cursor) word {
	return word{Text: c.text(), At: r.spanOf(c)}
}
