// Package acme is a provider.
package acme

import (
	"io"
)

// Adapter drives Acme.
type Adapter struct{}

func (a *Adapter) Close() {
	_ = a.stop()
	_, _ = io.Copy(dst, src)
	_ = copy(dst, src)
}
