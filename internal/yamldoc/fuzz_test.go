package yamldoc

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// FuzzParse asserts what holds for every input: no panic, every finding and
// every value has a position inside the text, and a value without findings
// says the same when it is written as JSON and read again.
func FuzzParse(f *testing.F) {
	f.Add(manifest, false)
	f.Add("{\"a\": [1, -2.5e1, \"é\\n\"], \"b\": {\"x\": null}}", true)
	f.Add(billionLaughs(), false)
	for _, c := range refusals() {
		if len(c.src) < 1000 {
			f.Add(c.src, strings.HasSuffix(c.name, ".json"))
		}
	}
	f.Fuzz(func(t *testing.T, src string, isJSON bool) {
		// The fuzzer has no time limit of its own.
		watchdog := time.AfterFunc(20*time.Second, func() { panic(fmt.Sprintf("no end in sight: %q", src)) })
		defer watchdog.Stop()
		name := "f.yaml"
		if isJSON {
			name = "f.json"
		}
		d, ds := Parse(name, []byte(src))
		text := source{src: []byte(strings.TrimPrefix(src, "\ufeff")), starts: []int{0}}
		text.index()
		for i, c := range text.src {
			if c == '\n' {
				text.starts = append(text.starts, i+1)
			}
		}
		for _, finding := range ds {
			requireInside(t, text, finding.Span(), finding.Message)
		}
		if d == nil {
			require.NotEmpty(t, ds, "no document and no reason")
			return
		}
		requirePositions(t, d, text, "", d.value, len(ds) == 0)
		if len(ds) > 0 {
			return
		}
		encoded, err := json.Marshal(d.Value())
		require.NoError(t, err)
		again, ds := Parse("again.json", encoded)
		if len(encoded) > MaxBytes {
			return
		}
		require.Empty(t, ds)
		// A float without a fraction is written as an integer.
		require.Equal(t, floats(d.Value()), floats(again.Value()))
	})
}

func requirePositions(t *testing.T, d *Doc, text source, pointer string, value any, clean bool) {
	t.Helper()
	key, span := d.Pos(pointer)
	requireInside(t, text, span, pointer)
	if pointer != "" && !key.IsZero() {
		requireInside(t, text, key, pointer)
	}
	_, n, _ := d.find(pointer)
	from := text.offset(span.Line, span.Col)
	if v, ok := value.(string); ok && clean && isPlain(n) && !strings.ContainsAny(v, "\n ") {
		require.True(t, strings.HasPrefix(string(text.src[from:]), v), "%q is not at %v", v, span)
	}
	switch v := value.(type) {
	case map[string]any:
		for k, e := range v {
			requirePositions(t, d, text, Join(pointer, k), e, clean)
		}
	case []any:
		for i, e := range v {
			requirePositions(t, d, text, Join(pointer, fmt.Sprint(i)), e, clean)
		}
	}
}

func requireInside(t *testing.T, text source, s diag.Span, what string) {
	t.Helper()
	if s.IsZero() && strings.HasSuffix(what, "not shown") {
		return
	}
	from, to := text.offset(s.Line, s.Col), text.offset(s.EndLine, s.EndCol)
	require.True(t, s.Line >= 1 && s.Col >= 1 && s.EndLine <= len(text.starts) && from <= to, "%s: %v", what, s)
	require.Equal(t, s, text.span(from, to), "%s: a column beyond its line", what)
}

func floats(v any) any {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = floats(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = floats(e)
		}
		return out
	}
	return v
}

// benchmarkManifest is a provider manifest of about 4.4 KB.
func benchmarkManifest() []byte {
	var b strings.Builder
	b.WriteString("apiVersion: sbx/v1\nid: acme\nname: Acme\nhomepage: https://example.com\ncapabilities:\n")
	for i := 0; b.Len() < 4300; i++ {
		fmt.Fprintf(&b, "  capability%02d:\n    support: not-exposed # why\n    reason: the vendor has no operation for it\n"+
			"    semantics: {via: native, atomic: true, limit: %d}\n    evidence:\n      - path: evidence/acme/run-%d\n        at: 2026-11-11\n", i, i*10, i)
	}
	return []byte(b.String())
}

func BenchmarkParse(b *testing.B) {
	src := benchmarkManifest()
	b.Run("yamldoc", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(src)))
		for b.Loop() {
			if d, ds := Parse("f.yaml", src); d == nil || len(ds) > 0 {
				b.Fatal(ds)
			}
		}
	})
	b.Run("yaml.v3-node", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(src)))
		for b.Loop() {
			var n yaml.Node
			if err := yaml.Unmarshal(src, &n); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("yaml.v3-node-and-value", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(src)))
		for b.Loop() {
			var n yaml.Node
			var v any
			if err := errors.Join(yaml.Unmarshal(src, &n), n.Decode(&v)); err != nil {
				b.Fatal(err)
			}
		}
	})
	d, _ := Parse("f.yaml", src)
	encoded, err := json.Marshal(d.Value())
	if err != nil {
		b.Fatal(err)
	}
	b.Run("json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if d, ds := Parse("f.json", encoded); d == nil || len(ds) > 0 || !reflect.DeepEqual(d.Kind(""), Mapping) {
				b.Fatal(ds)
			}
		}
	})
}
