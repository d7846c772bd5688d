// Package schema is the single source of truth: the JSON Schemas of manifests,
// catalog entries and contract types, the capability vocabulary, and the lists
// of error codes, checks, metrics, hazards and validation rules. Code, forms,
// documentation and diagnostics are made from what is here.
//
// The package imports only the standard library and keeps no state: every
// accessor decodes the embedded text anew, so callers that need a list often
// keep it. All functions may be called concurrently.
package schema

import "embed"

//go:embed *.json
var files embed.FS

// Names of the hand-written schemas.
const (
	ProviderFile = "provider.schema.json"
	ContractFile = "contract.schema.json"
	CatalogFile  = "catalog.schema.json"
)

// Names of the data files beside the schemas.
const (
	errorsFile  = "errors.json"
	checksFile  = "checks.json"
	metricsFile = "metrics.json"
	rulesFile   = "rules.json"
	hazardsFile = "hazards.json"
)

// Files returns the embedded schemas and data files by their base names.
func Files() embed.FS { return files }
