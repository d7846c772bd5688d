// Package acme is a provider.
package acme

import (
	"testing"
	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/providers/docker"
	"github.com/stretchr/testify/require"
	"github.com/agentworkforce/sbx/wire"
)

// Adapter drives Acme.
type Adapter struct{}

