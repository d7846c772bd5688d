package schemacheck

import (
	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/yamldoc"
)

// Kind is the sort of a failure.
type Kind int

// The kinds. Each has a rule of its own, and some places have a nearer one.
const (
	KindUnknownProperty Kind = iota + 1 // a key the schema does not have
	KindMissingProperty                 // a required key that is not there
	KindType                            // a value of another type
	KindWord                            // a word that is not in the list
	KindConst                           // another value than the only one allowed
	KindFormat                          // a date, time or address that is none
	KindPattern                         // a text of another form
	KindRange                           // a number, text or list out of its bounds
	KindRepeated                        // two equal entries of a list
	KindFact                            // neither known nor unknown, or both
	KindAlternative                     // none of several forms
	KindName                            // a key of another form than keys must have here
	KindPackage                         // the ID of a provider that no Go package can be named after
)

// ofText reports the kinds that look at the same text from several sides; one
// of them is enough to say about one value.
func (k Kind) ofText() bool {
	return k == KindFormat || k == KindPattern || k == KindRange
}

// Finding is one place where a document breaks the schema.
type Finding struct {
	Kind Kind
	Rule string
	// Pointer leads to the value that is refused, or to the mapping that lacks
	// or holds Name.
	Pointer string
	// Name is the property that is missing or not known, or the refused key.
	Name string
	// Location is the keyword's own place in the schema, as a JSON pointer.
	Location string

	at         place
	suggestion string // for Name or for the value
	nth        int    // of KindRepeated: the index of the second
	first      int    // and of the first
	both       bool   // of KindFact: value and unknown are both there
}

// span returns where the finding is shown: the offending key, the offending
// value, or for what is missing the key of the mapping that lacks it.
func (f *Finding) span(doc *yamldoc.Doc) diag.Span {
	switch f.Kind {
	case KindUnknownProperty, KindName:
		key, _ := doc.Pos(yamldoc.Join(f.Pointer, f.Name))
		return key
	case KindMissingProperty, KindFact:
		return holder(doc, f.Pointer)
	case KindRepeated:
		_, value := doc.Pos(yamldoc.Join(f.Pointer, itoa(f.nth)))
		return value
	}
	key, value := doc.Pos(f.Pointer)
	if doc.Kind(f.Pointer) != yamldoc.Scalar && !key.IsZero() {
		return key
	}
	if value.IsZero() {
		return holder(doc, doc.Nearest(f.Pointer))
	}
	return value
}

// holder returns the place that stands for a whole value: a scalar itself, the
// key of a mapping or list, the first key of a mapping that has no key.
func holder(doc *yamldoc.Doc, pointer string) diag.Span {
	key, value := doc.Pos(pointer)
	if doc.Kind(pointer) == yamldoc.Scalar {
		return value
	}
	if !key.IsZero() {
		return key
	}
	if pointer != "" {
		if children := doc.Children(pointer); len(children) > 0 {
			if key, _ = doc.Pos(children[0].Pointer); !key.IsZero() {
				return key
			}
		}
	}
	value.EndLine, value.EndCol = value.Line, value.Col+1
	return value
}
