package schema

// BaseCircle follows the bases of a provider and returns the IDs from it back to
// itself, or nil when it does not build on itself. baseOf is the base of an ID,
// empty for none.
func BaseCircle(id string, baseOf func(id string) string) []string {
	seen := []string{id}
	known := map[string]bool{}
	for at := baseOf(id); at != "" && !known[at]; at = baseOf(at) {
		seen = append(seen, at)
		if at == id {
			return seen
		}
		known[at] = true
	}
	return nil
}
