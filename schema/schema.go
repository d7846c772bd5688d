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

//go:embed *.json evidence/*.json
var files embed.FS

// Names of the hand-written schemas.
const (
	ProviderFile = "provider.schema.json"
	ContractFile = "contract.schema.json"
	CatalogFile  = "catalog.schema.json"
)

// Names of the data files beside the schemas.
const (
	errorsFile    = "errors.json"
	checksFile    = "checks.json"
	metricsFile   = "metrics.json"
	rulesFile     = "rules.json"
	hazardsFile   = "hazards.json"
	revisionsFile = "revisions.json"
)

// Names of the schemas of what programs write. They are reflected from Go types
// by internal/evidence/schemagen, never edited.
const (
	ReportFile       = "evidence/report.schema.json"
	BenchmarkFile    = "evidence/benchmark.schema.json"
	LedgerRecordFile = "evidence/ledger-record.schema.json"
	StatementFile    = "evidence/statement.schema.json"
)

// KeysFile is the hand-written schema of evidence/keys.yaml.
const (
	KeysFile = "evidence/keys.schema.json"
)

// Files returns the embedded schemas and data files by their base names; the
// reflected ones are in the folder evidence.
func Files() embed.FS { return files }
