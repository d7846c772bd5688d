package gen

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/schema"
)

// catalogProject is a project with one supported capability.
func catalogProject(t *testing.T, entry string, files map[string]string) *Project {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	require.NoError(t, os.MkdirAll(filepath.Join(root, "catalog"), 0o755))
	if entry != "" {
		require.NoError(t, os.WriteFile(filepath.Join(root, "catalog", "acme.yaml"), []byte(entry), 0o644))
	}
	p, _, found, err := newProject(root, "example.com/x")
	require.NoError(t, err)
	require.Empty(t, found)
	p.Manifests = []*Manifest{newManifest("providers/acme", []byte("id: acme\nname: Acme\nsummary: S.\nhomepage: https://acme.example\nadapter: {kind: native}\ncapabilities:\n  list: {support: supported}\n  stop: {support: supported}\n"))}
	return p
}

func catalogOf(t *testing.T, p *Project) Catalog {
	t.Helper()
	src, err := p.readCatalog()
	require.NoError(t, err)
	c, err := p.catalog(src)
	require.NoError(t, err)
	text, err := catalogJSON(c)
	require.NoError(t, err)
	s, err := schema.Files().ReadFile("catalog-index.schema.json")
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("index.json", bytes.NewReader(s)))
	compiled, err := compiler.Compile("index.json")
	require.NoError(t, err)
	var v any
	require.NoError(t, json.Unmarshal(text, &v))
	require.NoError(t, compiled.Validate(v))
	return c
}

// reportWith is a report in which every check passed but those left out.
func reportWith(t *testing.T, leave func(schema.Check) bool) string {
	t.Helper()
	checks, err := schema.Checks()
	require.NoError(t, err)
	var rows []runCheck
	for _, c := range checks {
		if !leave(c) {
			rows = append(rows, runCheck{c.ID, c.Revision, "passed"})
		}
	}
	b, err := json.Marshal(map[string]any{"checks": rows})
	require.NoError(t, err)
	return string(b)
}

const catalogRun = "evidence/acme/run-1/"

func verifiedEntry(sha string) string {
	return "provider: acme\nstatus: verified\nevidence:\n  - path: " + catalogRun + "statement.json\n    sha256: " + sha +
		"\nverifiedAt: 2026-08-20T11:00:00Z\nverifiedBy: A. Person\nexpiresAt: 2026-11-18T11:00:00Z\n"
}

// TestCatalogComputesWhatIsProven: a capability is verified when the linked run
// shows every check that it owes, whatever the entry says.
func TestCatalogComputesWhatIsProven(t *testing.T) {
	report := reportWith(t, func(c schema.Check) bool { return c.ID == "stop.keeps-disk" })
	p := catalogProject(t, verifiedEntry(digest([]byte("{}\n"))), map[string]string{catalogRun + "statement.json": "{}\n", catalogRun + "conformance.json": report})
	r := catalogOf(t, p).Providers[0]
	require.Equal(t, "verified", r.Status)
	require.True(t, r.Core.Verified)
	claims := map[string]bool{}
	for _, c := range r.Claims {
		claims[c.ID] = c.Verified
	}
	require.True(t, claims["list"])
	require.False(t, claims["stop"], "one of its checks lacks")
	require.False(t, claims["files"], "it is not claimed")

	page := string(catalogPage(catalogOf(t, p)))
	require.Contains(t, page, "| verified | core, list | stop | 2026-08-20T11:00:00Z | 2026-11-18T11:00:00Z |")

	p = catalogProject(t, verifiedEntry(digest([]byte("other"))), map[string]string{catalogRun + "statement.json": "{}\n", catalogRun + "conformance.json": report})
	require.False(t, catalogOf(t, p).Providers[0].Core.Verified, "another statement than the linked one")
	p = catalogProject(t, verifiedEntry(digest([]byte("{}\n"))), nil)
	require.False(t, catalogOf(t, p).Providers[0].Core.Verified, "no run is there")
}

func TestCatalogOfUnknown(t *testing.T) {
	r := catalogOf(t, catalogProject(t, "", nil)).Providers[0]
	require.Equal(t, "unknown", r.Status)
	require.NotEmpty(t, r.Reason)
	r = catalogOf(t, catalogProject(t, "provider: [", nil)).Providers[0]
	require.Equal(t, "unknown", r.Status)
	r = catalogOf(t, catalogProject(t, "provider: acme\nstatus: unknown\nreason: The | is odd.\nverifiedAt: 2026-08-20T11:00:00Z\nwaivers: [{owner: Ada, reason: It is known., until: 2026-12-31}]\n", nil)).Providers[0]
	require.Empty(t, r.VerifiedAt, "a date of what is not verified would mislead")
	require.Len(t, r.Waivers, 1)
}
