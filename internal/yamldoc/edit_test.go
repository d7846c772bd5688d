package yamldoc

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSetScalarChangesOnlyTheValue(t *testing.T) {
	for _, c := range []struct{ pointer, text, old, new string }{
		{"/name", "Bcme", "name: Acme ", "name: Bcme "},
		{"/list/0/b/1/y", "true", "y: 2.5", "y: true"},
		{"/list/1", "x", "-\n", "- x\n"},
		{"/empty", Quote("a \"b\"\n"), "empty:\n", "empty: \"a \\\"b\\\"\\n\"\n"},
		{"/plain", "4", "one\n  two\n\n  three #", "4 #"},
		{"/fold", "x", ">2-\n    two more\n  end\n", "x\n"},
		{"/日本", "'n'", `"é\u0301x"`, "'n'"},
	} {
		d := parse(t, "m.yaml", manifest)
		out, err := d.SetScalar(c.pointer, c.text)
		require.NoError(t, err, c.pointer)
		require.Equal(t, strings.Replace(manifest, c.old, c.new, 1), string(out))
		require.Equal(t, manifest, string(d.Source()), "the document itself stays")
	}
}

func TestSetScalarRefuses(t *testing.T) {
	d := parse(t, "m.yaml", manifest)
	for pointer, text := range map[string]string{
		"/list": "x", "/nowhere": "x", "/name": "a: b", "/when": "x\nnew: 1", "/last": "\"", "/empty": "[]", "/list/0/a": "&x 1",
	} {
		_, err := d.SetScalar(pointer, text)
		require.ErrorIs(t, err, ErrEdit, pointer)
	}
}

func TestEditsKeepMarkAndLineEnds(t *testing.T) {
	d, ds := Parse("f.yaml", []byte("\ufeffa: 1\r\nb: 2\r\n"))
	require.Len(t, ds, 2)
	out, err := d.SetScalar("/a", "3")
	require.NoError(t, err)
	require.Equal(t, "\ufeffa: 3\r\nb: 2\r\n", string(out))
}

func TestAppendMapEntry(t *testing.T) {
	for name, c := range map[string]struct{ file, src, pointer, key, want string }{
		"block":           {"f.yaml", "a:\n  b: 1 # one\nc: 2\n", "/a", "k", "a:\n  b: 1 # one\n  k: \"v\"\nc: 2\n"},
		"root":            {"f.yaml", "a: 1", "", "true", "a: 1\n\"true\": \"v\""},
		"in list":         {"f.yaml", "- a: 1\n- b\n", "/0", "k e", "- a: 1\n  \"k e\": \"v\"\n- b\n"},
		"flow":            {"f.yaml", "a: {b: 1} # x\n", "/a", "k", "a: {b: 1, k: \"v\"} # x\n"},
		"empty flow":      {"f.yaml", "a: {}\n", "/a", "k", "a: {k: \"v\"}\n"},
		"json":            {"f.json", "{\"a\": {\"b\": [1]}}", "/a", "k", "{\"a\": {\"b\": [1], \"k\": \"v\"}}"},
		"after block":     {"f.yaml", "a:\n  b: |\n    x\nc: 1\n", "/a", "k", "a:\n  b: |\n    x\n  k: \"v\"\nc: 1\n"},
		"after empty":     {"f.yaml", "a:\n  b:\nc: 1\n", "/a", "k", "a:\n  b:\n  k: \"v\"\nc: 1\n"},
		"windows endings": {"f.yaml", "a: 1\r\nb: 2", "", "k", "a: 1\r\nb: 2\nk: \"v\""},
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := Parse(c.file, []byte(c.src))
			out, err := d.AppendMapEntry(c.pointer, c.key, Quote("v"))
			require.NoError(t, err)
			require.Equal(t, c.want, string(out))
		})
	}
	d := parse(t, "f.yaml", "a: 1\nb: [1]\n")
	for _, c := range [][3]string{{"", "a", "1"}, {"/b", "x", "1"}, {"/a", "x", "1"}, {"/none", "x", "1"}, {"", "x", "1\ny: 2"}} {
		_, err := d.AppendMapEntry(c[0], c[1], c[2])
		require.ErrorIs(t, err, ErrEdit, c)
	}
}

func TestQuoteReadsBack(t *testing.T) {
	for _, s := range []string{"", "a\tb\n", `"\`, "😀", "yes"} {
		for _, name := range []string{"f.yaml", "f.json"} {
			require.Equal(t, s, parse(t, name, Quote(s)).Value(), "%q as %s", s, name)
		}
	}
	const refused = "\r\x00\x7f\u0085\u2028\ufeff\u202e"
	for _, name := range []string{"f.yaml", "f.json"} {
		d, found := Parse(name, []byte(Quote(refused)))
		require.Equal(t, refused, d.Value())
		require.Len(t, found, 1)
		require.Equal(t, RuleControl, found[0].Rule)
	}
}
