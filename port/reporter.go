package port

import "context"

// CapabilityReporter is implemented by adapters whose vendor can say, for the
// account at hand, what it supports. The answer can only narrow the manifest:
// a capability it calls false is refused, one it calls true stays what the
// manifest says. IDs that are absent from the map were not answered.
type CapabilityReporter interface {
	ReportCapabilities(ctx context.Context) (map[string]bool, error)
}
