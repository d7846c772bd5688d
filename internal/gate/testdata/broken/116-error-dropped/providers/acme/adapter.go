// Package acme is a provider.
package acme

// Adapter drives Acme.
type Adapter struct{}

func (a *Adapter) Close() {
	_ = a.stop()
}
