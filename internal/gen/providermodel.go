package gen

import (
	"path"

	"github.com/agentworkforce/sbx/schema"
)

// providerModel is one provider.yaml as the generators need it. Only what
// shapes output is here; everything else of a manifest is data for docs.
type providerModel struct {
	id, name, summary, homepage string
	kind, base                  string
	module                      string // module that holds the provider's folder
	dir                         string // slash path of the folder within its module
	settings                    []settingModel
	credentialSets              [][]string
	endpoints                   []endpointModel
	claims                      []claimModel // stated ones, in vocabulary order
	labels                      labelModel
	egress, isolation           string
	goneProof                   string
	deleteSynchronous           *bool
	brokersSecrets              bool
	execStreams                 string
	execTimeoutCap              string // Go duration, empty when not known
	execTimeoutDefault          string // likewise
	envReserved                 []string
	egressDefault, portAudience string // empty when not known
	clients                     []clientModel
	image                       string
	forkKeeps                   string
	hazards                     []hazardModel
}

type settingModel struct {
	key, env, label, typ, def string
	aliases, allowed          []string
	secret                    bool
}

type clientModel struct{ module, version, sha256 string }

type endpointModel struct{ name, url, env string }

type claimModel struct {
	capability           capability
	support, reason, via string
	from, class          string
	facts                []factModel // the five facts of snapshot
}

type factModel struct{ name, support, reason string }

type labelModel struct {
	encoding, filter                  string
	max, maxKeyLength, maxValueLength *int64
}

type hazardModel struct{ id, summary, mitigation, check string }

// pkg is the Go package name of the provider's folder.
func (m *providerModel) pkg() string { return schema.PackageName(m.id) }

// importPath is the import path of the provider's folder.
func (m *providerModel) importPath() string { return path.Join(m.module, m.dir) }

// native reports whether Go code in the folder drives the vendor.
func (m *providerModel) native() bool { return m.kind == "native" }

// supported returns the claims whose support is "supported".
func (m *providerModel) supported() []claimModel {
	var out []claimModel
	for _, c := range m.claims {
		if c.support == "supported" {
			out = append(out, c)
		}
	}
	return out
}

// scaffolded returns the claims whose methods a new adapter gets: what is
// supported, and what is stated as unknown, for somebody means to find out.
func (m *providerModel) scaffolded() []claimModel {
	var out []claimModel
	for _, c := range m.claims {
		if c.support == "supported" || c.support == "unknown" {
			out = append(out, c)
		}
	}
	return out
}

// claim returns the claim about a capability, and whether the manifest states one.
func (m *providerModel) claim(id string) (claimModel, bool) {
	for _, c := range m.claims {
		if c.capability.id == id {
			return c, true
		}
	}
	return claimModel{}, false
}

// onSandbox reports whether a method acts on one sandbox (its first parameter
// is "id ID") rather than on the provider.
func (m method) onSandbox() bool {
	return len(m.params) > 0 && m.params[0].name == "id" && m.params[0].typ.name == "ID"
}

// callerParams are the parameters a caller of the method gives: without the id
// of the sandbox it is called on.
func (m method) callerParams() []param {
	if m.onSandbox() {
		return m.params[1:]
	}
	return m.params
}
