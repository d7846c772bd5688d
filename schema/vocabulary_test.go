package schema

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func vocabulary(t *testing.T) *Vocabulary {
	t.Helper()
	provider, err := fs.ReadFile(Files(), ProviderFile)
	require.NoError(t, err)
	contract, err := fs.ReadFile(Files(), ContractFile)
	require.NoError(t, err)
	v, err := LoadVocabulary(provider, contract)
	require.NoError(t, err)
	return v
}

func TestVocabularyKeepsDocumentOrder(t *testing.T) {
	v := vocabulary(t)
	var ids []string
	for _, c := range v.Capabilities {
		ids = append(ids, c.ID)
		require.NotEmpty(t, c.Title)
		require.NotEmpty(t, c.Description)
		require.NotEmpty(t, c.Question)
		require.NotEqual(t, "move", c.ID)
	}
	require.Equal(t, []string{"list", "labels", "files", "files.manage", "exec.stream", "exec.async", "pty", "stop", "suspend", "snapshot", "fork",
		"ports", "ssh", "prompt", "lifetime", "create.detached", "logs", "metrics", "restart", "labels.update", "egress.update", "image.update",
		"mounts", "templates", "resize"}, ids)
	var core []string
	for _, m := range v.Core.Methods {
		core = append(core, m.Name)
	}
	require.Equal(t, []string{"Scope", "Create", "Inspect", "Exec", "Destroy"}, core)
}

func TestVocabularyResolvesTypes(t *testing.T) {
	v := vocabulary(t)
	byName := map[string]Method{}
	for _, c := range append([]Capability{v.Core}, v.Capabilities...) {
		for _, m := range c.Methods {
			byName[m.Name] = m
		}
	}
	require.Equal(t, TypeRef{Kind: KindRef, Name: "CreateRequest"}, byName["Create"].Params[0].Type)
	require.Equal(t, TypeRef{Kind: KindScalar, Name: "ID"}, byName["Inspect"].Params[0].Type)
	require.Equal(t, TypeRef{Kind: KindHandle, Name: "DestroyOutcome"}, byName["Destroy"].Results[0].Type)
	require.Equal(t, TypeRef{Kind: KindArray, Elem: &TypeRef{Kind: KindRef, Name: "Instance"}}, byName["List"].Results[0].Type)
	require.Equal(t, "snapshot", byName["CreateSnapshot"].Creates)
	require.Equal(t, "snapshot", byName["DeleteSnapshot"].Destroys)
	require.Equal(t, EffectDestroy, byName["Destroy"].Effect)
	require.Equal(t, RetryNever, byName["Exec"].Retry)
}

func TestVocabularyFailsWithThePosition(t *testing.T) {
	contract, err := fs.ReadFile(Files(), ContractFile)
	require.NoError(t, err)
	src := strings.Replace(method(validMethod), `"capabilities": {"title"`, `"core": {"x-sbx": {}}, "capabilities": {"title"`, 1)
	v, err := LoadVocabulary([]byte(src), contract)
	require.NoError(t, err)
	require.Equal(t, "Lister", v.Capabilities[0].Interface)

	broken := strings.Replace(src, `"read"`, `"raed"`, 1)
	before, _, _ := strings.Cut(broken, `"raed"`)
	line, col := 1+strings.Count(before, "\n"), len(before)-strings.LastIndex(before, "\n")
	_, err = LoadVocabulary([]byte(broken), contract)
	require.EqualError(t, err, fmt.Sprintf("provider.schema.json:%d:%d: method List has no effect of the list [read mutate create destroy]", line, col))
	_, err = LoadVocabulary([]byte(`{"a": 1,}`), contract)
	require.ErrorContains(t, err, "provider.schema.json:1:")
	_, err = LoadVocabulary([]byte(`{}`), []byte(`{`))
	require.ErrorContains(t, err, "contract.schema.json:1:2: the document ends too early")
	_, err = LoadVocabulary([]byte(`{}`), []byte(`{}`))
	require.Error(t, err)
}
