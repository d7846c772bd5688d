package gen

// Value is the manifest as decoded: maps, lists, texts, numbers. It is shared and
// must not be changed; a document that cannot be read is empty.
func (m *Manifest) Value() map[string]any { return m.value() }
