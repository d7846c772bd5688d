package gen

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func sandboxVocabulary(t *testing.T) *vocabulary {
	t.Helper()
	src, err := readSources(os.DirFS(filepath.Join("..", "..", "schema")))
	require.NoError(t, err)
	v, err := loadVocabulary(src.provider, src.contract)
	require.NoError(t, err)
	return v
}

func TestTheSandboxOperationsInTheTreeAreCurrent(t *testing.T) {
	want, err := sandboxOperationsFile(sandboxVocabulary(t))
	require.NoError(t, err)
	have, err := os.ReadFile(filepath.Join("..", "..", "sandbox", "zz_generated_operations.go"))
	require.NoError(t, err)
	require.Equal(t, string(want), string(have))
}

// TestAnOperationSelectsItsHelper shows that the method follows from the
// vocabulary's words alone.
func TestAnOperationSelectsItsHelper(t *testing.T) {
	id := param{name: "id", typ: typeRef{kind: "scalar", name: "ID"}}
	ref := func(name string) typeRef { return typeRef{kind: "ref", name: name} }
	for want, m := range map[string]method{
		"func (s *Sandbox) Op(ctx context.Context) (contract.Instance, error) {": {effect: "mutate", params: []param{id}, results: []param{{typ: ref("Instance")}}},
		"return lifecycle(ctx, s, op,":                                           {effect: "mutate", params: []param{id}, results: []param{{typ: ref("Instance")}}},
		"return sandboxCallNone(ctx, s, op,":                                     {effect: "mutate", params: []param{id}},
		"return sandboxCall(ctx, s, op,":                                         {effect: "read", params: []param{id}, results: []param{{typ: ref("Metrics")}}},
		"return sandboxOpen(ctx, s, op,":                                         {effect: "read", params: []param{id}, results: []param{{typ: typeRef{kind: "handle", name: "PTY"}}}},
		"return call(ctx, p, op,":                                                {effect: "read", results: []param{{typ: typeRef{kind: "scalar", name: "string"}}}},
		"p.destroyOwned(ctx, op, contract.ResourceKindImage,":                    {effect: "destroy", destroys: "image", params: []param{{name: "image", typ: typeRef{kind: "scalar", name: "ID"}}}, results: []param{{typ: typeRef{kind: "handle", name: "DestroyOutcome"}}}},
		"sandboxCreate(ctx, s, op, contract.ResourceKindImage, request.Name": {effect: "create", creates: "image", params: []param{id, {name: "request", typ: ref("SnapshotRequest")}},
			results: []param{{typ: ref("Snapshot")}}},
		"limitTransfer": {effect: "mutate", params: []param{id, {name: "content", typ: typeRef{kind: "handle", name: "WriteStream"}}}},
	} {
		m.name, m.doc = "Op", "Op does it."
		src, err := sandboxOperationsFile(&vocabulary{capabilities: []capability{{id: "new.thing", methods: []method{m}}}})
		require.NoError(t, err)
		require.Contains(t, string(src), want)
		require.Contains(t, string(src), "contract.CapabilityNewThing")
	}
}

func TestAnOperationThatNoHelperCarriesIsRefused(t *testing.T) {
	ref := param{typ: typeRef{kind: "ref", name: "Snapshot"}}
	for name, m := range map[string]method{
		"two results":             {effect: "read", results: []param{ref, ref}},
		"destroys nothing":        {effect: "destroy", params: []param{{name: "image", typ: typeRef{kind: "scalar", name: "ID"}}}},
		"creates without request": {effect: "create", creates: "image", results: []param{ref}},
	} {
		m.name, m.doc = "Op", "Op does it."
		_, err := sandboxOperationsFile(&vocabulary{capabilities: []capability{{id: "x", methods: []method{m}}}})
		require.Error(t, err, name)
	}
}
