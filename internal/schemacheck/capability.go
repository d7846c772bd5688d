package schemacheck

import (
	"cmp"
	"slices"
)

// Capability is one entry of the vocabulary that a manifest's schema carries.
type Capability struct {
	ID string
	// Reserved says that the contract has neither an interface nor a field for
	// it yet.
	Reserved bool
	Methods  []string
}

// Capabilities returns the capabilities that the schema lists, sorted by ID; a
// schema without any has none. It costs nothing beyond what New has read, which
// schema.LoadVocabulary, the full reader, does not.
func (c *Checker) Capabilities() []Capability {
	list := c.model.Defs["capabilities"]
	if list == nil {
		return nil
	}
	out := make([]Capability, 0, len(list.Properties))
	for id, n := range list.Properties {
		item := Capability{ID: id, Reserved: true}
		if x := n.XSbx; x != nil {
			item.Reserved = x.Interface == "" && len(x.Flag) == 0
			for _, m := range x.Methods {
				item.Methods = append(item.Methods, m.Name)
			}
		}
		out = append(out, item)
	}
	slices.SortFunc(out, func(a, b Capability) int { return cmp.Compare(a.ID, b.ID) })
	return out
}
