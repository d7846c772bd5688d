package main

import (
	"github.com/agentworkforce/sbx/generated/registry"
	"github.com/agentworkforce/sbx/sandbox"
)

// lookupDriver finds a provider that is linked into this program.
func lookupDriver(id string) (sandbox.Driver, bool) { return registry.Lookup(id) }
