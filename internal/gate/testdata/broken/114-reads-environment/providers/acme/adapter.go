// Package acme is a provider.
package acme

import (
	"os"
)

// Adapter drives Acme.
type Adapter struct{}

func key() string {
	if v, ok := os.LookupEnv("ACME_API_KEY"); ok {
		return v
	}
	return os.Getenv("ACME_KEY")
}
