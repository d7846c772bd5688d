package gate

import "github.com/agentworkforce/sbx/internal/diag"

// facts are what the rules about several files and about time need of one file.
// They are stored in the cache, so every field is plain data.
type facts struct {
	// Of a manifest.
	ID        word     `json:"id,omitzero"`
	Kind      string   `json:"kind,omitempty"` // adapter.kind
	Base      word     `json:"base,omitzero"`
	Isolation word     `json:"isolation,omitzero"`
	Supported []string `json:"supported,omitempty"` // capability IDs
	Lock      link     `json:"lock,omitzero"`
	Days      []day    `json:"days,omitempty"`
	// Of a catalog entry.
	Provider   word   `json:"provider,omitzero"`
	Status     word   `json:"status,omitzero"`
	VerifiedAt word   `json:"verifiedAt,omitzero"`
	ExpiresAt  word   `json:"expiresAt,omitzero"`
	Evidence   []link `json:"evidence,omitempty"`
	Waivers    []word `json:"waivers,omitempty"` // until
	// Of a Go file.
	Imports []word `json:"imports,omitempty"`
	Stubs   []word `json:"stubs,omitempty"` // methods that answer not_implemented
}

// word is a text and where it stands.
type word struct {
	Text string    `json:"t"`
	At   diag.Span `json:"a"`
}

// link is a path, the digest it must have, and where both stand.
type link struct {
	Path   word `json:"p"`
	SHA256 word `json:"s"`
}

// day is a date that must not lie in the future.
type day struct {
	word
	// Price says that it is the day a price was read, which grows old.
	Price bool `json:"price,omitempty"`
}

func wordAt(r *report, c cursor) word {
	return word{Text: c.text(), At: r.spanOf(c)}
}
