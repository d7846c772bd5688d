// Package acme is a provider.
package acme

import (
	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/providers/docker"
	"github.com/agentworkforce/sbx/wire"
	"github.com/stretchr/testify/require"
	"testing"
)

// Adapter drives Acme.
type Adapter struct{}
