package evidence

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/schema"
)

// Current is what evidence has to match: a provider as it stands, and the lists
// it is judged by.
type Current struct {
	Provider string
	// Adapter is empty for a provider without one; nothing matches it then.
	Adapter string
	Claims  string
	// Supported are the capabilities that the manifest claims, sorted.
	Supported []string
	Endpoints []ManifestEndpoint
	// Contract has the revision of each part of the contract, the core as "core".
	Contract map[string]int
	Checks   []schema.Check
	Metrics  []schema.Metric
	Suite    int
}

// ManifestEndpoint is an endpoint as the manifest has it.
type ManifestEndpoint struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// claimed is the part of a manifest that matters here.
type claimed struct {
	ID      string `json:"id"`
	Adapter struct {
		Kind string `json:"kind"`
		Base string `json:"base"`
	} `json:"adapter"`
	Endpoints    []ManifestEndpoint           `json:"endpoints"`
	Capabilities map[string]claimedCapability `json:"capabilities"`
}

type claimedCapability struct {
	Support string `json:"support"`
	// Of a snapshot, whose support follows from these two.
	CreatesObject   *claimedFact `json:"createsObject"`
	RestoreMakesNew *claimedFact `json:"restoreMakesNew"`
}

type claimedFact struct {
	Support string `json:"support"`
}

func (c claimedCapability) supported() bool {
	if c.CreatesObject != nil || c.RestoreMakesNew != nil {
		return c.CreatesObject != nil && c.RestoreMakesNew != nil &&
			c.CreatesObject.Support == "supported" && c.RestoreMakesNew.Support == "supported"
	}
	return c.Support == "supported"
}

// NewCurrent describes the provider in the folder dir of the module fsys, whose
// manifest has this value. The error says what cannot be read or bound.
func NewCurrent(fsys fs.FS, dir string, manifest any) (*Current, error) {
	c, err := lists()
	if err != nil {
		return nil, err
	}
	plain, err := json.Marshal(manifest)
	if err != nil {
		return nil, fmt.Errorf("evidence: manifest: %w", err)
	}
	var m claimed
	if err := json.Unmarshal(plain, &m); err != nil {
		return nil, fmt.Errorf("evidence: manifest: %w", err)
	}
	c.Provider, c.Endpoints = m.ID, m.Endpoints
	for id, capability := range m.Capabilities {
		if capability.supported() {
			c.Supported = append(c.Supported, id)
		}
	}
	slices.Sort(c.Supported)
	if c.Claims, err = ClaimsDigest(manifest); err != nil {
		return nil, err
	}
	if m.Adapter.Kind == "none" {
		return c, nil
	}
	base := ""
	if m.Adapter.Base != "" {
		base = path.Join(path.Dir(dir), m.Adapter.Base)
		// The base of a provider in a module of its own is code of another module,
		// which is bound by its version.
		if _, err := fs.Stat(fsys, base); errors.Is(err, fs.ErrNotExist) {
			base = ""
		}
	}
	c.Adapter, err = AdapterDigest(fsys, dir, base)
	return c, err
}

func lists() (*Current, error) {
	c := &Current{Suite: conformance.SuiteRevision}
	var err error
	if c.Contract, err = schema.ContractRevisions(); err != nil {
		return nil, err
	}
	if c.Checks, err = schema.Checks(); err != nil {
		return nil, err
	}
	c.Metrics, err = schema.Metrics()
	return c, err
}

// binding is what a run of these checks depends on now.
func (c *Current) binding(report *conformance.Report) Binding {
	b := Binding{Adapter: c.Adapter, Claims: c.Claims, Core: c.Contract[coreID], Contract: map[string]int{}, Checks: boundChecks(report)}
	for _, id := range c.Supported {
		if revision, ok := c.Contract[id]; ok {
			b.Contract[id] = revision
		}
	}
	return b
}

// coreID is the core among the parts of the contract and the owners of checks.
const coreID = "core"

// boundChecks are the checks of a report with their revisions.
func boundChecks(report *conformance.Report) []string {
	out := []string{}
	if report == nil {
		return out
	}
	for _, r := range report.Checks {
		out = append(out, checkRef(r.ID, r.Revision))
	}
	return out
}

// Groups are the six groups of checks that everybody owes.
func Groups() []string {
	return []string{"create", "ready", "execute", "cleanup", "teardown-must-fire", "teardown-must-not-fire"}
}

// Owes reports whether a provider has to pass a check to count as verified: every
// check of the six groups, and those of the capabilities that it claims.
func (c *Current) Owes(check schema.Check) bool {
	return owes(check.Group, check.Capability, c.Supported)
}

func owes(group, capability string, supported []string) bool {
	return slices.Contains(Groups(), group) || group == "capability" && slices.Contains(supported, capability)
}
