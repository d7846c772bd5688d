package schema

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func fullManifest(t *testing.T) string {
	t.Helper()
	src, err := os.ReadFile("testdata/manifest-full.json")
	require.NoError(t, err)
	return string(src)
}

func TestFullManifestIsValid(t *testing.T) {
	require.NoError(t, compile(t, ProviderFile).Validate(decode(t, []byte(fullManifest(t)))))
}

// The full manifest uses every section, so that the edits below reach all.
func TestFullManifestHasEverySection(t *testing.T) {
	manifest, ok := decode(t, []byte(fullManifest(t))).(map[string]any)
	require.True(t, ok)
	for _, m := range tree(t, ProviderFile).get("properties").members {
		require.Contains(t, manifest, m.key)
	}
}

func TestManifestRefuses(t *testing.T) {
	edits := map[string]struct{ old, new, at string }{
		"zero for unknown":               {`"outputCap": {"unknown": "The docs do not say."}`, `"outputCap": null`, "/exec/outputCap"},
		"bare value":                     {`"streams": {"value": "separate"}`, `"streams": "separate"`, "/exec/streams"},
		"value and unknown":              {`"streams": {"value": "separate"}`, `"streams": {"value": "separate", "unknown": "but why"}`, "/exec/streams"},
		"unknown without a reason":       {`{"unknown": "The docs do not say."}`, `{"unknown": ""}`, "/exec/outputCap"},
		"word of another list":           {`"encoding": {"value": "map"}`, `"encoding": {"value": "maps"}`, "/labels/encoding"},
		"duration without a unit":        {`"1h30m"`, `"90"`, "/exec/timeoutCap"},
		"state nobody knows":             {`"up": "running"`, `"up": "awake"`, "/lifecycle/states"},
		"rate without a unit":            {`{"value": {"usd": 0.05, "per": "vcpu-hour"}}`, `{"value": {"usd": 0.05}}`, "/pricing/rates/0/rate"},
		"class price without a unit":     {`{"usd": 0.1, "per": "hour"}`, `{"usd": 0.1}`, "/machineClasses/0/rate"},
		"observation without a run":      {`, "run": "run-20260821-1"}]}`, `}]}`, "/pricing/observations/0"},
		"class without a rate":           {`, "rate": {"value": {"usd": 0.1, "per": "hour"}, "from": "docs"}}`, `}`, "/machineClasses/0"},
		"price without its source":       {`"source": {"url": "https://acme.example/pricing", "readOn": "2026-08-21"}, `, ``, "/pricing"},
		"relative homepage":              {`"https://acme.example/sandboxes"`, `"/sandboxes"`, "/homepage"},
		"relative endpoint":              {`"https://api.acme.example/v1"`, `"api.acme.example"`, "/endpoints/0/url"},
		"impossible date":                {`"readOn": "2026-08-21"`, `"readOn": "2026-02-30"`, "/pricing/source/readOn"},
		"observed without a run":         {`{"id": "run", "kind": "observed", "run": "run-20260821-1", `, `{"id": "run", "kind": "observed", "url": "https://acme.example/run", `, "/provenance/2"},
		"docs without an address":        {`"kind": "docs", "url": "https://acme.example/docs", `, `"kind": "docs", `, "/provenance/0"},
		"missing reason":                 {`"stop": {"support": "unknown", "reason": "Nobody tried it yet."}`, `"stop": {"support": "unknown"}`, "/capabilities/stop"},
		"capability nobody has":          {`"files": {"support"`, `"flies": {"support"`, "/capabilities"},
		"capability move":                {`"files": {"support"`, `"move": {"support"`, "/capabilities"},
		"four snapshot facts":            {`, "restoreMakesNew": {"support": "supported"}`, ``, "/capabilities/snapshot"},
		"value where a name belongs":     {`"ACME_API_KEY"`, `"sk-live-1234"`, "/credentialSets/0/0/env"},
		"empty credential set":           {`[[{"env": "ACME_API_KEY", "label": "API key", "docs": "https://acme.example/keys"}]]`, `[[]]`, "/credentialSets/0"},
		"hazard nobody knows":            {`"delete-async"`, `"delete-asinc"`, "/hazards/0/id"},
		"hazard without a check":         {`, "check": "cleanup.destroyed-is-not-gone"}]`, `}]`, "/hazards/0"},
		"gap of two kinds":               {`{"capability": "fork", `, `{"capability": "fork", "check": "exec.dir", `, "/adapter/gap/0"},
		"gap without evidence":           {`"computesdkFact": "No fork operation.", "evidence": "sdk"`, `"computesdkFact": "No fork operation."`, "/adapter/gap/0"},
		"bridge without a package":       {`"kind": "native"`, `"kind": "computesdk"`, "/adapter"},
		"process without a command":      {`"kind": "native"`, `"kind": "process"`, "/adapter"},
		"unknown section":                {`"limits": {`, `"limit": {`, ""},
		"no proof of absence":            {`, "goneProof": {"value": "both"}`, ``, "/lifecycle"},
		"other format version":           {`"sbx/v1"`, `"sbx/v2"`, "/apiVersion"},
		"ID in capitals":                 {`"id": "acme"`, `"id": "Acme"`, "/id"},
		"doubled platform":               {`["linux"]`, `["linux", "linux"]`, "/platforms"},
		"negative limit":                 {`"sandboxes": {"value": 20}`, `"sandboxes": {"value": -1}`, "/limits/sandboxes"},
		"provenance of a careless class": {`"from": "sdk", "class": "observed"`, `"from": "sdk", "class": "guessed"`, "/adapter/computesdkServes"},
	}
	s := compile(t, ProviderFile)
	base := fullManifest(t)
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, base, edit.old)
			err := s.Validate(decode(t, []byte(strings.Replace(base, edit.old, edit.new, 1))))
			require.Error(t, err)
			require.Contains(t, fmt.Sprintf("%#v", err), "[I#"+edit.at+"]", "the place is named")
		})
	}
}

func TestUnknownPriceIsAllowed(t *testing.T) {
	base := fullManifest(t)
	start, end := strings.Index(base, `"pricing": {`), strings.Index(base, `"hazards"`)
	src := base[:start] + `"pricing": {"unknown": "The vendor publishes none."}, ` + base[end:]
	require.NoError(t, compile(t, ProviderFile).Validate(decode(t, []byte(src))))
}

func TestBridgedManifestIsValid(t *testing.T) {
	bridge := `"kind": "computesdk", "bridge": {"package": "@acme/sandboxes", "version": "1.2.3", "integrity": "sha512-AAAA==",
	  "lockfile": {"path": "package-lock.json", "sha256": "` + strings.Repeat("0", 64) + `"}, "closure": {"packages": 12, "bytes": 1000000},
	  "installScripts": "denied", "export": "acme", "providerName": "acme", "module": "import", "node": "20.18.1",
	  "processScope": "per-credential", "openSideEffects": "none", "cancelCreate": "settle-then-destroy",
	  "config": {"apiKey": "ACME_API_KEY"}, "sdk": {"acme": "4.5.6"},
	  "defaults": {"daemonSsePort": "false"}, "options": {"labels": "metadata"}, "behaviour": {"lookup": {"value": "always-a-handle"}, "listPages": {"unknown": "No run yet."}},
	  "nativeCalls": [{"name": "suspend", "path": "getInstance().pause", "sdk": "acme@4.5.6"}],
	  "probes": [{"name": "exists", "method": "GET", "url": "https://api.acme.example/v1/{id}", "gone": [404], "header": "X-Key", "env": "ACME_API_KEY"}]}`
	src := strings.Replace(fullManifest(t), `"kind": "native"`, bridge, 1)
	s := compile(t, ProviderFile)
	require.NoError(t, s.Validate(decode(t, []byte(src))))
	require.Error(t, s.Validate(decode(t, []byte(strings.Replace(src, `"1.2.3", "integrity"`, `"^1.2.3", "integrity"`, 1)))), "a range is no pin")
	require.Error(t, s.Validate(decode(t, []byte(strings.Replace(src, `"GET"`, `"DELETE"`, 1)))), "a probe changes nothing")
	require.Error(t, s.Validate(decode(t, []byte(strings.Replace(src, `"denied"`, `"allowed"`, 1)))))
}

func TestCatalogEntries(t *testing.T) {
	s := compile(t, CatalogFile)
	link := `{"path": "evidence/acme/run-1/statement.json", "sha256": "` + strings.Repeat("0", 64) + `"}`
	verified := `{"provider": "acme", "status": "verified", "evidence": [` + link + `], "verifiedAt": "2026-08-21T14:03:00Z", "verifiedBy": "a person", "expiresAt": "2026-11-19T14:03:00Z"}`
	for _, good := range []string{
		`{"provider": "acme", "status": "unknown", "reason": "Nobody ran it yet."}`,
		verified,
		`{"provider": "acme", "status": "unknown", "reason": "Nobody ran it yet.", "waivers": [{"subject": "egress.dns-contained", "owner": "a person", "reason": "The vendor promised it.", "until": "2026-12-31"}]}`,
	} {
		require.NoError(t, s.Validate(decode(t, []byte(good))), good)
	}
	for name, bad := range map[string]string{
		"verified without evidence":   `{"provider": "acme", "status": "verified", "verifiedAt": "2026-08-21T14:03:00Z", "verifiedBy": "a person", "expiresAt": "2026-11-19T14:03:00Z"}`,
		"verified with no links":      strings.Replace(verified, link, "", 1),
		"unknown without a reason":    `{"provider": "acme", "status": "unknown"}`,
		"another status":              `{"provider": "acme", "status": "trusted", "reason": "It looks good."}`,
		"path that climbs":            strings.Replace(verified, "evidence/acme/run-1/", "evidence/acme/../", 1),
		"time that does not exist":    strings.Replace(verified, "2026-08-21T14", "2026-08-32T14", 1),
		"waiver without an end":       `{"provider": "acme", "status": "unknown", "reason": "Nobody ran it yet.", "waivers": [{"owner": "a person", "reason": "The vendor promised it."}]}`,
		"key that nobody understands": strings.Replace(verified, `"verifiedBy"`, `"verifedBy"`, 1),
	} {
		require.Error(t, s.Validate(decode(t, []byte(bad))), name)
	}
}
