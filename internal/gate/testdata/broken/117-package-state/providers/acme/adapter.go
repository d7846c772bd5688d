// Package acme is a provider.
package acme

import (
	"errors"
)

// Adapter drives Acme.
type Adapter struct{}

var sandboxes = map[string]int{}

var errGone = errors.New("gone")

var _ error = errGone

func init() { sandboxes["a"] = 1 }
