package schema

import (
	"encoding/json"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/stretchr/testify/require"
)

// compile compiles one embedded schema with formats asserted.
func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.AssertFormat = true
	src, err := fs.ReadFile(Files(), name)
	require.NoError(t, err)
	require.NoError(t, c.AddResource(name, strings.NewReader(string(src))))
	s, err := c.Compile(name)
	require.NoError(t, err)
	return s
}

func tree(t *testing.T, name string) *node {
	t.Helper()
	src, err := fs.ReadFile(Files(), name)
	require.NoError(t, err)
	root, dups, serr := parseTree(src)
	require.Nil(t, serr)
	require.Empty(t, dups)
	return root
}

func TestSchemasCompile(t *testing.T) {
	names, err := fs.Glob(Files(), "*.schema.json")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		compile(t, name)
	}
}

func TestEveryObjectIsClosed(t *testing.T) {
	objects := 0
	var walk func(n *node)
	walk = func(n *node) {
		if n.get("type").str() == "object" {
			objects++
			additional := n.get("additionalProperties")
			require.NotNil(t, additional, n.ptr)
			if n.get("properties") != nil {
				require.Equal(t, boolNode, additional.kind, n.ptr)
				require.False(t, additional.truth, n.ptr)
			} else {
				require.Equal(t, objectNode, additional.kind, n.ptr)
			}
		}
		for _, m := range n.members {
			walk(m.val)
		}
		for _, item := range n.items {
			walk(item)
		}
	}
	for _, name := range []string{ProviderFile, ContractFile, CatalogFile} {
		walk(tree(t, name))
	}
	require.Greater(t, objects, 100)
}

func TestEveryFactHasOneShape(t *testing.T) {
	defs := tree(t, ProviderFile).get("$defs")
	facts := 0
	for _, m := range defs.members {
		if !strings.HasPrefix(m.key, "fact") {
			continue
		}
		facts++
		alternatives := m.val.get("oneOf").items
		require.Len(t, alternatives, 2, m.key)
		require.Equal(t, []string{"value", "from", "class"}, memberKeys(alternatives[0].get("properties")), m.key)
		require.Equal(t, []string{"value"}, alternatives[0].get("required").strs(), m.key)
		require.Equal(t, "#/$defs/unknown", alternatives[1].get("$ref").str(), m.key)
	}
	require.Greater(t, facts, 30)
}

func TestEveryDefinitionIsUsed(t *testing.T) {
	for _, name := range []string{ProviderFile, CatalogFile} {
		src, err := fs.ReadFile(Files(), name)
		require.NoError(t, err)
		for _, m := range tree(t, name).get("$defs").members {
			used := strings.Contains(string(src), `"#/$defs/`+m.key+`"`) || m.key == "core"
			require.True(t, used, "%s: $defs/%s is referred to by nothing", name, m.key)
		}
	}
}

// The manifest speaks of the same things as the contract, in the same words.
func TestEnumWordsMatchTheContract(t *testing.T) {
	manifest, contract := tree(t, ProviderFile).get("$defs"), tree(t, ContractFile).get("$defs")
	pairs := map[string]string{
		"factIsolation": "Isolation", "factEgressControl": "EgressControl", "factGoneProof": "GoneProof",
		"factLabelEncoding": "LabelEncoding", "factLabelFilter": "LabelFilter", "factStreams": "Streams",
	}
	for fact, typ := range pairs {
		got := append(manifest.at(fact, "oneOf").items[0].at("properties", "value", "enum").strs(), "unknown")
		want := contract.at(typ, "enum").strs()
		if !slices.Contains(want, "unknown") {
			want = append(want, "unknown")
		}
		require.Equal(t, want, got, "%s and %s", fact, typ)
	}
	require.Equal(t, contract.at("State", "enum").strs(), manifest.at("canonicalState", "enum").strs())
	require.Equal(t, contract.at("AdapterKind", "enum").strs(), manifest.at("adapter", "properties", "kind", "enum").strs())
	require.Equal(t, contract.at("SettingType", "enum").strs(), manifest.at("setting", "properties", "type", "enum").strs())
	require.Equal(t, contract.at("Support", "enum").strs(), manifest.at("claim", "properties", "support", "enum").strs())
	require.Equal(t, contract.at("Via", "enum").strs(), manifest.at("semantics", "properties", "via", "enum").strs())
}

func TestAtMostEightQuestionsInOrder(t *testing.T) {
	asked := map[int]string{}
	var walk func(n *node)
	walk = func(n *node) {
		if x := n.get("x-sbx"); x.get("ask") != nil {
			asked[int(number(x.get("ask")))] = x.get("question").str()
		}
		for _, m := range n.members {
			walk(m.val)
		}
	}
	walk(tree(t, ProviderFile))
	require.Len(t, asked, 8)
	for i := 1; i <= 8; i++ {
		require.True(t, strings.HasSuffix(asked[i], "?") || strings.HasSuffix(asked[i], "."), "question %d: %q", i, asked[i])
	}
}

func TestWhatIsNoClaimIsMarked(t *testing.T) {
	var marked []string
	for _, m := range tree(t, ProviderFile).get("properties").members {
		if claim := m.val.at("x-sbx", "claim"); claim != nil && !claim.truth {
			marked = append(marked, m.key)
		}
	}
	require.ElementsMatch(t, []string{"name", "summary", "homepage", "maintainers", "provenance", "pricing"}, marked)
}

func TestErrorsDecode(t *testing.T) {
	data, err := Errors()
	require.NoError(t, err)
	exits := map[int]bool{}
	for _, e := range data.Exits {
		require.NotEmpty(t, e.Doc)
		exits[e.Exit] = true
	}
	for _, c := range data.Codes {
		require.True(t, exits[c.Exit], "%s ends with %d, which has no meaning", c.Code, c.Exit)
		require.Contains(t, []string{"none", "unknown", "done"}, c.Effect)
	}
}

func TestChecksAreComplete(t *testing.T) {
	checks, err := Checks()
	require.NoError(t, err)
	groups := []string{"create", "ready", "execute", "cleanup", "teardown-must-fire", "teardown-must-not-fire", "capability", "egress", "shape", "honesty"}
	v := vocabulary(t)
	capabilities := map[string]Capability{"core": v.Core}
	for _, c := range v.Capabilities {
		capabilities[c.ID] = c
	}
	byID, perGroup, sentences := map[string]Check{}, map[string]int{}, map[string]string{}
	for _, c := range checks {
		require.NotContains(t, byID, c.ID)
		require.Regexp(t, `^[a-z0-9-]+(\.[a-z0-9-]+)+$`, c.ID)
		require.GreaterOrEqual(t, c.Revision, 1)
		require.Contains(t, groups, c.Group)
		require.Contains(t, capabilities, c.Capability, c.ID)
		require.Regexp(t, `^L[0-4]$`, c.Level)
		require.Regexp(t, `^(R([1-9]|[1-3][0-9]|4[0-4]))?$`, c.Rule)
		require.True(t, strings.HasSuffix(c.Sentence, "."), c.ID)
		require.Empty(t, sentences[c.Sentence], "%s says the same as another check", c.ID)
		byID[c.ID], sentences[c.Sentence] = c, c.ID
		perGroup[c.Group]++
		if c.Group == "capability" {
			require.Contains(t, capabilities[c.Capability].Checks, c.ID, "nobody owes this check")
		}
	}
	for id, capability := range capabilities {
		for _, check := range capability.Checks {
			require.Equal(t, id, byID[check].Capability, check)
		}
	}
	for _, group := range groups {
		require.NotZero(t, perGroup[group], group)
	}
	require.Equal(t, 11, perGroup["teardown-must-fire"])
	require.Equal(t, 11, perGroup["teardown-must-not-fire"])
}

func TestMetricsDecode(t *testing.T) {
	metrics, err := Metrics()
	require.NoError(t, err)
	var ids []string
	known := map[string]bool{"core": true}
	for _, c := range vocabulary(t).Capabilities {
		known[c.ID] = true
	}
	for _, m := range metrics {
		require.NotContains(t, ids, m.ID)
		require.True(t, known[m.Capability], m.ID)
		require.Equal(t, "ms", m.Unit)
		require.NotEmpty(t, m.Start+m.Stop)
		require.NotEqual(t, m.Start, m.Stop, m.ID)
		require.NotEmpty(t, m.Doc)
		ids = append(ids, m.ID)
	}
	require.Subset(t, ids, []string{"bare_create", "provider_ready", "agent_relay_ready", "bootstrap_gap", "history_first_cloud_receipt",
		"targeted_spawn_ready", "repo_mount_read", "history_drain_before_destroy", "destroy", "verified_gone", "provider_auto_sleep",
		"provider_wake_ready", "controller_stop", "controller_resume_ready", "time_to_resumed_execution"})
}

func TestRulesDecode(t *testing.T) {
	rules, err := Rules()
	require.NoError(t, err)
	families := map[byte]string{'1': "manifest", '2': "catalog", '3': "generated", '4': "adapter", '5': "secrets"}
	last := ""
	for _, r := range rules {
		require.Regexp(t, regexp.MustCompile(`^SBX[1-5][0-9]{2}$`), r.ID)
		require.Greater(t, r.ID, last, "rules are sorted and unique")
		last = r.ID
		require.Equal(t, families[r.ID[3]], r.Family, r.ID)
		require.Contains(t, []string{"error", "warning"}, r.Severity)
		require.NotEmpty(t, r.Title)
		require.NotEmpty(t, r.Why)
		require.NotEmpty(t, r.Fix)
	}
	require.NotEmpty(t, last)
}

func TestHazardsAgreeWithTheEnum(t *testing.T) {
	hazards, err := Hazards()
	require.NoError(t, err)
	checks, err := Checks()
	require.NoError(t, err)
	var ids, known []string
	for _, c := range checks {
		known = append(known, c.ID)
	}
	for _, h := range hazards {
		ids = append(ids, h.ID)
		require.True(t, strings.HasSuffix(h.Doc, "."), h.ID)
		require.Contains(t, known, h.Check, h.ID)
	}
	require.Equal(t, tree(t, ProviderFile).at("$defs", "hazardId", "enum").strs(), ids)
	require.GreaterOrEqual(t, len(ids), 40)
}

func TestDataIsDecodedStrictly(t *testing.T) {
	_, err := decodeChecks([]byte(`{"checks": [{"id": "a.b", "levle": "L0"}]}`))
	require.ErrorContains(t, err, `unknown field "levle"`)
	_, err = decodeChecks([]byte(`{"checks": []} {}`))
	require.ErrorContains(t, err, "text after the document")
}

// decode gives a document as the validator wants it.
func decode(t *testing.T, src []byte) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(string(src)))
	dec.UseNumber()
	var doc any
	require.NoError(t, dec.Decode(&doc))
	return doc
}
