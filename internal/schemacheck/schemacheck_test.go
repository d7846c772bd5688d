package schemacheck

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/yamldoc"
)

var update = flag.Bool("update", false, "write the golden file anew")

func provider(tb testing.TB) *Checker {
	tb.Helper()
	c, err := Provider()
	require.NoError(tb, err)
	return c
}

func fullManifest(tb testing.TB) string {
	tb.Helper()
	src, err := os.ReadFile(filepath.Join("..", "..", "schema", "testdata", "manifest-full.json"))
	require.NoError(tb, err)
	return string(src)
}

func parse(tb testing.TB, name, src string) *yamldoc.Doc {
	tb.Helper()
	doc, _ := yamldoc.Parse(name, []byte(src))
	require.NotNil(tb, doc)
	return doc
}

func TestFullManifestIsValid(t *testing.T) {
	c := provider(t)
	doc := parse(t, "provider.json", fullManifest(t))
	require.True(t, c.model.accepts(doc.Value()))
	require.Empty(t, c.Validate(doc))
	full, err := c.full()
	require.NoError(t, err)
	require.NoError(t, full.Validate(doc.Value()))
}

func TestEveryMistakeIsOneFindingAtItsPlace(t *testing.T) {
	tests := map[string]struct{ old, new, want string }{
		"unknown property":   {`"license": "Apache-2.0"`, `"licence": "Apache-2.0"`, `unknown property "licence" in the document [SBX120]`},
		"missing":            {`"kind": "native", `, ``, `missing property "kind" in "adapter" [SBX121]`},
		"bare fact":          {`"streams": {"value": "separate"}`, `"streams": "separate"`, `"streams" is a bare value; a fact has a value or a reason why it is unknown [SBX127]`},
		"both":               {`"streams": {"value": "separate"}`, `"streams": {"value": "separate", "unknown": "but why"}`, `"streams" has both a value and a reason why it is unknown [SBX127]`},
		"neither":            {`"streams": {"value": "separate"}`, `"streams": {}`, `"streams" has neither a value nor a reason why it is unknown [SBX127]`},
		"fact misspelt":      {`"streams": {"value": "separate"}`, `"streams": {"vlaue": "separate"}`, `unknown property "vlaue" in "streams" [SBX120]`},
		"word":               {`"kind": "native"`, `"kind": "natve"`, `"kind" is "natve", which is not one of the listed words [SBX123]`},
		"word of a fact":     {`"encoding": {"value": "map"}`, `"encoding": {"value": "maps"}`, `"value" of "encoding" is "maps", which is not one of the listed words [SBX123]`},
		"support misspelt":   {`"support": "unknown", "reason": "Nobody tried it yet."`, `"support": "unknwn"`, `"support" is "unknwn", which is not one of the listed words [SBX123]`},
		"reason":             {`, "reason": "Nobody tried it yet."`, ``, `missing property "reason" in "stop" [SBX151]`},
		"number as text":     {`"max": {"value": 64}`, `"max": {"value": "64"}`, `"value" of "max" must be a whole number, not a text [SBX122]`},
		"empty":              {`"max": {"value": 64}`, `"max": {"value": null}`, `"value" of "max" must be a whole number, not left empty [SBX122]`},
		"address":            {`"https://acme.example/sandboxes"`, `"/sandboxes"`, `"homepage" is not a real address [SBX130]`},
		"impossible date":    {`"readOn": "2026-08-21"`, `"readOn": "2026-02-30"`, `"readOn" is not a real day [SBX129]`},
		"no date":            {`"readOn": "2026-08-21"`, `"readOn": "lately"`, `"readOn" is not a real day [SBX129]`},
		"variable":           {`"ACME_API_KEY"`, `"sk live"`, `"env" does not have the form it must have [SBX131]`},
		"version":            {`"sbx/v1"`, `"sbx/v2"`, `"apiVersion" must be "sbx/v1" [SBX132]`},
		"short":              {`"summary": "Sandboxes in small virtual machines."`, `"summary": "Box"`, `"summary" has 3 characters; at least 8 are needed [SBX125]`},
		"repeated":           {`"platforms": ["linux"]`, `"platforms": ["linux", "linux"]`, `entries 1 and 2 of "platforms" are equal [SBX126]`},
		"gap of two kinds":   {`{"capability": "fork", `, `{"capability": "fork", "check": "exec.dir", `, `entry 1 of "gap" fits none of the forms that are allowed here [SBX128]`},
		"gap short":          {`"computesdkFact": "No fork operation.", "evidence": "sdk"`, `"computesdkFact": "No fork operation."`, `missing property "evidence" in entry 1 of "gap" [SBX121]`},
		"move":               {`"files": {"support"`, `"move": {"support"`, `unknown property "move" in "capabilities" [SBX182]`},
		"unit":               {`{"usd": 0.1, "per": "hour"}`, `{"usd": 0.1}`, `missing property "per" in "value" of "rate" [SBX174]`},
		"cost without run":   {`, "run": "run-20260821-1"}]}`, `}]}`, `missing property "run" in entry 1 of "observations" [SBX175]`},
		"observed, no run":   {`"kind": "observed", "run": "run-20260821-1", `, `"kind": "observed", "url": "https://acme.example/run", `, `missing property "run" in entry 3 of "provenance" [SBX145]`},
		"state of no kind":   {`"up": "running"`, `"up": "awake"`, `"up" is "awake", which is not one of the listed words [SBX123]`},
		"state with a space": {`"up": "running"`, `" up": "running"`, `key " up" does not have the form that keys of "value" of "states" must have [SBX124]`},
		"pricing is a word":  {`"pricing": {"source"`, `"pricing": "free", "hazrds": {"source"`, `"pricing" fits none of the forms that are allowed here [SBX128] unknown property "hazrds" in the document [SBX120]`},
		"a list for a text":  {`"name": "Acme"`, `"name": ["Acme"]`, `"name" must be a text, not a list [SBX122]`},
		"empty list":         {`"platforms": ["linux"]`, `"platforms": []`, `"platforms" has too few entries; at least 1 are needed [SBX125]`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			src := fullManifest(t)
			require.Contains(t, src, tc.old)
			doc := parse(t, "provider.json", strings.Replace(src, tc.old, tc.new, 1))
			found := provider(t).Validate(doc)
			var got []string
			for _, d := range found {
				require.Positive(t, d.Line)
				require.Positive(t, d.Col)
				require.Contains(t, doc.Line(d.Line), ":")
				got = append(got, d.Message+" ["+d.Rule+"]")
			}
			require.Equal(t, tc.want, strings.Join(got, " "))
		})
	}
}

func TestFindingsAreShownWithSuggestionsAndSnippets(t *testing.T) {
	src := `apiVersion: sbx/v1
id: acme
nam: Acme
summary: Sandboxes in small machines.
homepage: https://acme.example
license: Apache-2.0
adapter: {}
provenance: []
credentialSets: []
capabilities:
  list: {support: suported}
  stop: {support: unknown}
exec:
  streams: separate
  timeoutEnforced: {unknown: Nobody looked.}
lifecycle: {goneProof: {value: lst}}
labels: {encoding: {value: map}, filter: {value: none}, max: {value: "64"}}
isolation: {unknown: Nobody looked.}
egress: {control: {unknown: Nobody looked.}}
secrets: {brokering: {unknown: Nobody looked.}}
`
	var set diag.Set
	doc := parse(t, "provider.yaml", src)
	set.Add(provider(t).Validate(doc)...)
	var out bytes.Buffer
	require.NoError(t, diag.Text(&out, &set, diag.TextOptions{Source: func(string) []byte { return []byte(src) }}))
	golden := filepath.Join("testdata", "shown.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, out.Bytes(), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), out.String())
}

func TestCatalogRules(t *testing.T) {
	c, err := Catalog()
	require.NoError(t, err)
	tests := map[string][]string{
		"provider: acme\nstatus: unknown\n":  {"SBX221"},
		"provider: acme\nstatus: verified\n": {"SBX121", "SBX121", "SBX203", "SBX220"},
		"provider: acme\nstatus: unknown\nreason: Nobody tried.\nwaivers:\n  - reason: It is late.\n": {"SBX222", "SBX222"},
		"provider: acme\nstatus: unknown\nreason: Nobody tried.\nverifiedAt: yesterday\n":             {"SBX129"},
	}
	for src, want := range tests {
		var got []string
		for _, d := range c.Validate(parse(t, "acme.yaml", src)) {
			got = append(got, d.Rule)
		}
		require.ElementsMatch(t, want, got, src)
	}
}

func TestASchemaThatDoesNotCompileIsAFinding(t *testing.T) {
	c, err := New("bad.json", []byte(`{"type": "object", "required": ["a"], "properties": {"a": {"pattern": "("}}}`))
	require.NoError(t, err)
	require.Error(t, c.Compile())
	found := c.Validate(parse(t, "x.yaml", "b: 1\n"))
	require.Len(t, found, 1)
	require.Equal(t, RuleSchema, found[0].Rule)
}

// The walk may send a valid document to v5, but never accept one that v5 refuses.
func FuzzTheWalkAgreesWithV5(f *testing.F) {
	c := provider(f)
	full, err := c.full()
	require.NoError(f, err)
	f.Add(fullManifest(f))
	f.Add(strings.Replace(fullManifest(f), `"value": 64`, `"value": 64.5`, 1))
	f.Add(strings.Replace(fullManifest(f), `"value": 64`, `"value": 1e3`, 1))
	f.Fuzz(func(t *testing.T, src string) {
		doc, _ := yamldoc.Parse("x.yaml", []byte(src))
		if doc == nil {
			return
		}
		if err := full.Validate(doc.Value()); c.model.accepts(doc.Value()) {
			require.NoError(t, err)
		} else if err != nil {
			require.NotNil(t, c.Validate(doc))
		}
	})
}

func BenchmarkValid(b *testing.B) {
	c := provider(b)
	doc := parse(b, "provider.json", fullManifest(b))
	full, err := c.full()
	require.NoError(b, err)
	b.Run("walk", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c.Validate(doc)
		}
	})
	b.Run("v5", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := full.Validate(doc.Value()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			if _, err := Provider(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("compile", func(b *testing.B) {
		for b.Loop() {
			if err := provider(b).Compile(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// The walk and v5 agree about every document that is one change away from a valid
// one: each value of it removed, or replaced by each of several others.
func TestTheWalkAgreesWithV5AboutEveryChange(t *testing.T) {
	c := provider(t)
	full, err := c.full()
	require.NoError(t, err)
	root := parse(t, "provider.json", fullManifest(t)).Value()
	tried, refused := 0, 0
	check := func() {
		tried++
		err := full.Validate(root)
		if err != nil {
			refused++
		}
		require.Equal(t, err == nil, c.model.accepts(root), "%v", err)
	}
	others := []any{nil, "unknown", int64(-1), 1.5, []any{"a", "a"}, map[string]any{},
		map[string]any{"value": int64(1)}, map[string]any{"unknown": "Nobody looked."}}
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, value := range v {
				visit(value)
				delete(v, key)
				check()
				for _, other := range others {
					v[key] = other
					check()
				}
				v[key] = value
			}
		case []any:
			for i, value := range v {
				visit(value)
				for _, other := range others {
					v[i] = other
					check()
				}
				v[i] = value
			}
		}
	}
	visit(root)
	require.Greater(t, tried, 1500)
	require.Greater(t, refused, tried/2)
}

// A document that is wrong in a hundred thousand places is explained in a few,
// and its valid part changes nothing.
func TestABoundedNumberOfFindings(t *testing.T) {
	var b strings.Builder
	b.WriteString("limits:\n  other:\n")
	for range 300 {
		b.WriteString("    - {what: x, limit: {value: y}}\n")
	}
	for range 3000 {
		b.WriteString("    - {what: x, limit: 1}\n")
	}
	found := provider(t).Validate(parse(t, "provider.yaml", b.String()))
	require.LessOrEqual(t, len(found), maxFindings)
	require.Equal(t, RuleFact, found[len(found)-1].Rule)
	require.Equal(t, 303, found[len(found)-maxRefused].Line)
}
