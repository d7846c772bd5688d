// Package acme is a provider.
package acme

import (
	"strings"
)

// Adapter drives Acme.
type Adapter struct{}

func gone(err error) bool {
	return strings.Contains(err.Error(), "not found") || err.Error() == "gone"
}
