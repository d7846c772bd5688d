package mutants

import (
	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/sandbox"
)

// wrapperMutants are no faults of operations, but of how a provider is declared,
// opened and created with.
func wrapperMutants() []Mutant {
	return []Mutant{
		{Name: "readiness is not waited for", Seen: "wrappers that return when the vendor has accepted", Kills: "ready.is-bounded",
			Create: []sandbox.CreateOption{sandbox.SkipReady()}, Make: plain(unchanged)},
		{Name: "an open network is allowed for good", Seen: "a switch set once, for every start", Kills: "egress.undeclared-refuses",
			Create: []sandbox.CreateOption{sandbox.AllowUncontained()}, Make: plain(unchanged)},
		{Name: "names will do for addresses", Seen: "an allow list of hosts taken to say everything", Kills: "egress.address-only-refused",
			Manifest: func(m *contract.Manifest) { m.Egress = contract.EgressControlHosts },
			Create:   []sandbox.CreateOption{sandbox.AllowUncontained()}, Make: plain(unchanged)},
		{Name: "no credentials are enough", Seen: "a second way to sign in that needs nothing but a region", Kills: "shape.credentials-absent",
			Manifest: func(m *contract.Manifest) {
				m.Settings = append(m.Settings, contract.SettingRule{Key: "region", Env: "SBX_REFERENCE_REGION", Label: "Region",
					Type: contract.SettingTypeString, Default: "here"})
				m.CredentialSets = append(m.CredentialSets, []string{"region"})
			}, Make: plain(unchanged)},
		{Name: "claims more than there is", Seen: "capability tables copied from another provider", Kills: "shape.manifest-matches",
			Manifest: func(m *contract.Manifest) {
				m.Claims[string(contract.CapabilityExecAsync)] = contract.Claim{Support: contract.SupportSupported, Via: contract.ViaNative}
			}, Make: plain(unchanged)},
	}
}
