//go:build !unix

package tree

// quick leaves every file to the longer way.
func (h *hasher) quick(string) (sum string, ok bool) { return "", false }
