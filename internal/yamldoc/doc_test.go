package yamldoc

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/stretchr/testify/require"
)

const manifest = `# yaml-language-server: $schema=x
name: Acme  # the name
when: 2026-11-11
"qu\"oted": 'it''s'
list:
- a: 1
  b: [x, {y: 2.5, z: }, ]
-
- |
  line one
    line two

  line three

fold: >2-
    two more
  end
plain: one
  two

  three # comment
日本: "é\u0301x"
empty:
a/b~c: ~
flow: {
  "k": [1, # one ]
    2
  ]
}
last: -1.50e+3
`

func parse(t *testing.T, name, src string) *Doc {
	t.Helper()
	d, ds := Parse(name, []byte(src))
	require.Empty(t, ds)
	require.NotNil(t, d)
	return d
}

func at(s diag.Span) string {
	return fmt.Sprintf("%d:%d-%d:%d", s.Line, s.Col, s.EndLine, s.EndCol)
}

func TestValue(t *testing.T) {
	d := parse(t, "m.yaml", manifest)
	require.Equal(t, map[string]any{
		"name": "Acme", "when": "2026-11-11", `qu"oted`: "it's",
		"list": []any{
			map[string]any{"a": int64(1), "b": []any{"x", map[string]any{"y": 2.5, "z": nil}}},
			nil, "line one\n  line two\n\nline three\n",
		},
		"fold": "  two more\nend", "plain": "one two\nthree", "日本": "é\u0301x", "empty": nil, "a/b~c": nil,
		"flow": map[string]any{"k": []any{int64(1), int64(2)}}, "last": -1500.0,
	}, d.Value())
	require.Equal(t, "m.yaml", d.Name())
	require.Equal(t, manifest, string(d.Source()))
	require.Equal(t, 30, d.Lines())
	require.Equal(t, "empty:", d.Line(23))
	require.Empty(t, d.Line(0))
	require.Empty(t, d.Line(99))
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]any{
		"0": int64(0), "-0": int64(0), "9007199254740991": int64(9007199254740991), "-9007199254740991": int64(-9007199254740991),
		"9007199254740992": 9007199254740992.0, "1e17": 1e17, "100000000000000000": 1e17, "0.1": 0.1, "1.0": 1.0,
		"5e-324": 5e-324, "1.7976931348623157e308": 1.7976931348623157e308,
	} {
		for _, name := range []string{"f.yaml", "f.json"} {
			require.Equal(t, want, parse(t, name, text).Value(), text)
		}
	}
}

func TestPos(t *testing.T) {
	d := parse(t, "m.yaml", manifest)
	for pointer, want := range map[string][2]string{
		"":            {"0:0-0:0", "2:1-30:15"},
		"/name":       {"2:1-2:5", "2:7-2:11"},
		"/when":       {"3:1-3:5", "3:7-3:17"},
		`/qu"oted`:    {"4:1-4:11", "4:13-4:20"},
		"/list":       {"5:1-5:5", "6:1-13:13"},
		"/list/0":     {"0:0-0:0", "6:3-7:26"},
		"/list/0/a":   {"6:3-6:4", "6:6-6:7"},
		"/list/0/b":   {"7:3-7:4", "7:6-7:26"},
		"/list/0/b/1": {"0:0-0:0", "7:10-7:23"},
		"/list/1":     {"0:0-0:0", "8:2-8:2"},
		"/list/2":     {"0:0-0:0", "9:3-13:13"},
		"/fold":       {"15:1-15:5", "15:7-17:6"},
		"/plain":      {"18:1-18:6", "18:8-21:8"},
		"/日本":         {"22:1-22:3", "22:5-22:15"},
		"/empty":      {"23:1-23:6", "23:7-23:7"},
		"/a~1b~0c":    {"24:1-24:6", "24:8-24:9"},
		"/flow":       {"25:1-25:5", "25:7-29:2"},
		"/flow/k":     {"26:3-26:6", "26:8-28:4"},
		"/flow/k/1":   {"0:0-0:0", "27:5-27:6"},
		"/last":       {"30:1-30:5", "30:7-30:15"},
		"/nowhere":    {"0:0-0:0", "0:0-0:0"},
		"/list/3":     {"0:0-0:0", "0:0-0:0"},
		"/list/00":    {"0:0-0:0", "0:0-0:0"},
		"/name/x":     {"0:0-0:0", "0:0-0:0"},
		"name":        {"0:0-0:0", "0:0-0:0"},
	} {
		key, value := d.Pos(pointer)
		require.Equal(t, want, [2]string{at(key), at(value)}, pointer)
	}
}

func TestNavigation(t *testing.T) {
	d := parse(t, "m.yaml", manifest)
	require.Equal(t, []Child{{"0", "/list/0"}, {"1", "/list/1"}, {"2", "/list/2"}}, d.Children("/list"))
	require.Equal(t, []Child{{"a", "/list/0/a"}, {"b", "/list/0/b"}}, d.Children("/list/0"))
	require.Equal(t, Child{"a/b~c", "/a~1b~0c"}, d.Children("")[8])
	require.Empty(t, d.Children("/name"))
	require.Empty(t, d.Children("/none"))
	require.Equal(t, []Kind{Mapping, Sequence, Scalar, Absent},
		[]Kind{d.Kind(""), d.Kind("/list"), d.Kind("/list/1"), d.Kind("/list/9")})
	require.Equal(t, "/list/0", d.Nearest("/list/0/c/d"))
	require.Equal(t, "", d.Nearest("/x/y"))
	require.Equal(t, "", d.Nearest("not a pointer"))
}

func TestJSONIsTheSameTree(t *testing.T) {
	src := "{\"a\": [1, -2.5e1, \"é\\n\\ud83d\\ude00\\/\"],\n  \"日\": {\"x\": null, \"y\": true}, \"e\": {}}\n"
	d := parse(t, "f.json", src)
	// The YAML parser knows neither surrogate pairs nor the escaped slash.
	y := parse(t, "f.yaml", strings.Replace(src, `\ud83d\ude00\/`, `\u263a\u263a\t`, 1))
	var want any
	require.NoError(t, json.Unmarshal([]byte(src), &want))
	got, err := json.Marshal(d.Value())
	require.NoError(t, err)
	wanted, err := json.Marshal(want)
	require.NoError(t, err)
	require.JSONEq(t, string(wanted), string(got))
	for _, pointer := range []string{"", "/a", "/a/0", "/a/1", "/a/2", "/日", "/日/x", "/日/y", "/e"} {
		k, v := d.Pos(pointer)
		yk, yv := y.Pos(pointer)
		require.Equal(t, [2]diag.Span{yk, yv}, [2]diag.Span{k, v}, pointer)
	}
}

func TestUnsure(t *testing.T) {
	d, ds := Parse("f.yaml", []byte("a: *x\nb: {c: 1, c: 2}\nd:\n  <<: {e: 1}\n  f: 1\ng: 0x1\nh: 1\n"))
	require.Nil(t, d, "an alias that nothing defines ends the file")
	require.Len(t, ds, 1)
	d, ds = Parse("f.yaml", []byte("z: &x 1\na: *x\nb: {c: 1, c: 2, i: 3}\nd:\n  <<: {e: 1}\n  f: 1\ng: 0x1\nh: 1\n"))
	require.Len(t, ds, 5)
	require.Equal(t, map[string]any{
		"z": int64(1), "a": nil, "b": map[string]any{"c": int64(1), "i": int64(3)}, "d": map[string]any{"f": int64(1)}, "g": nil, "h": int64(1),
	}, d.Value())
	for pointer, want := range map[string]bool{
		"": false, "/z": false, "/a": true, "/a/deeper": true, "/b": false, "/b/c": true, "/b/i": false,
		"/d": true, "/d/f": true, "/d/missing": true, "/g": true, "/h": false, "/h/x": false,
	} {
		require.Equal(t, want, d.Unsure(pointer), pointer)
	}
}

func TestPointers(t *testing.T) {
	require.Equal(t, "/a~1b/~0/", Join("", "a/b", "~", ""))
	keys, ok := Split("/a~1b/~0/~01")
	require.True(t, ok)
	require.Equal(t, []string{"a/b", "~", "~1"}, keys)
	for _, bad := range []string{"a", "/~", "/~2"} {
		_, ok := Split(bad)
		require.False(t, ok, bad)
	}
	p, ok := FromLocation("#/a%20b/c~1d")
	require.True(t, ok)
	require.Equal(t, "/a b/c~1d", p)
	_, ok = FromLocation("/%zz")
	require.False(t, ok)
}

func TestReadStopsAtTheLimit(t *testing.T) {
	in := &endless{}
	d, ds, err := Read("f.yaml", in)
	require.NoError(t, err)
	require.Nil(t, d)
	require.Equal(t, "1:1-1:1 SBX111", brief(ds))
	require.LessOrEqual(t, in.read, MaxBytes+1)
	broken := errors.New("broken")
	_, _, err = Read("f.yaml", iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
	d, ds, err = Read("f.yaml", strings.NewReader("a: 1"))
	require.NoError(t, err)
	require.Empty(t, ds)
	require.Equal(t, map[string]any{"a": int64(1)}, d.Value())
}

// endless is a reader with no end that counts what is taken from it.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.read += len(p)
	return len(p), nil
}
