package yamldoc

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/stretchr/testify/require"
)

// brief prints a finding as "line:col-line:col RULE", with the places it
// relates to.
func brief(ds []diag.Diagnostic) string {
	var out []string
	for _, d := range ds {
		s := fmt.Sprintf("%d:%d-%d:%d %s", d.Line, d.Col, d.EndLine, d.EndCol, d.Rule)
		for _, r := range d.Related {
			s += fmt.Sprintf(" (%d:%d)", r.Span.Line, r.Span.Col)
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

// refusals has each class of refused text with the exact place it is refused
// at. The name's ending chooses the parser.
func refusals() []struct{ name, src, want string } {
	return []struct{ name, src, want string }{
		// Syntax.
		{"colon in value.yaml", "a: b: c\n", "1:5-1:6 SBX100"},
		{"indented too far.yaml", "a: 1\n  b: 2\n", "2:4-2:5 SBX100"},
		{"dedent to nowhere.yaml", "a:\n    b: 1\n  c: 2\n", "3:3-3:4 SBX100 (1:1)"},
		{"no colon.yaml", "a: 1\nb 2\nc: 3\n", "2:1-2:4 SBX100"},
		{"unclosed double quote.yaml", "a: 1\nb: \"x\nc: 2\n", "2:4-2:5 SBX100"},
		{"unclosed single quote.yaml", "é: 'x\n", "1:4-1:5 SBX100"},
		{"unclosed bracket.yaml", "a: [1, 2\n", "1:4-1:5 SBX100"},
		{"unclosed brace.yaml", "a:\n  b: {x: 1\n", "2:6-2:7 SBX100"},
		{"wrong bracket.yaml", "a: [1, 2}\n", "1:9-1:10 SBX100 (1:4)"},
		{"at sign.yaml", "日本: @x\n", "1:5-1:6 SBX100"},
		{"backtick.yaml", "a: `x`\n", "1:4-1:5 SBX100"},
		{"unknown escape.yaml", "a: \"x\\d\"\n", "1:6-1:7 SBX100 (1:4)"},
		{"item in mapping.yaml", "a: 1\n- b\n", "2:1-2:2 SBX100 (1:1)"},
		{"end without start.yaml", "a: 1\n]\n", "2:1-2:2 SBX100 (1:1)"},
		// Tabs.
		{"tab.yaml", "a:\n\tb: 1\n", "2:1-2:2 SBX101"},
		{"space and tab.yaml", "a:\n  b: 1\n  \tc: 1\n", "3:3-3:4 SBX101"},
		{"tab before item.yaml", "a:\n\t- b\n", "2:1-2:2 SBX101"},
		// Keys.
		{"duplicate.yaml", "a: 1\nb: 2\n\"a\": 3\n", "3:1-3:4 SBX102 (1:1)"},
		{"duplicate twice.yaml", "x:\n  a: 1\n  a: 2\n  a: 3\n", "3:3-3:4 SBX102 (2:3), 4:3-4:4 SBX102 (2:3)"},
		{"duplicate flow.yaml", "x: {é: 1, é: 2}\n", "1:11-1:12 SBX102 (1:5)"},
		{"merge.yaml", "a: {b: 1}\nc:\n  <<: {x: 1}\n  d: 1\n", "3:3-3:5 SBX103"},
		{"number key.yaml", "a:\n  8080: x\n", "2:3-2:7 SBX107"},
		{"bool key.yaml", "true: x\n", "1:1-1:5 SBX107"},
		{"null key.yaml", "~: x\n", "1:1-1:2 SBX107"},
		{"sequence key.yaml", "? [a, b]\n: x\n", "1:3-1:9 SBX107"},
		// Anchors, aliases, tags, directives, documents.
		{"anchor and alias.yaml", "a: &x 1\nb: *x\n", "1:4-1:6 SBX104, 2:4-2:6 SBX104"},
		{"merge of alias.yaml", "a: &x {k: 1}\nb:\n  <<: *x\n", "1:4-1:6 SBX104, 3:3-3:5 SBX103, 3:7-3:9 SBX104"},
		{"unknown alias.yaml", "a: 1\nb: *nope\n", "2:4-2:9 SBX104"},
		{"python tag.yaml", "a: !!python/object:os.system x\n", "1:4-1:29 SBX105"},
		{"str tag.yaml", "- !!str 5\n", "1:3-1:8 SBX105"},
		{"bare tag.yaml", "é: ! 5\n", "1:4-1:5 SBX105"},
		{"tag and anchor.yaml", "a: &x !t v\n", "1:4-1:6 SBX104, 1:7-1:9 SBX105"},
		{"directive.yaml", "%YAML 1.1\n---\na: 1\n", "1:1-1:10 SBX105"},
		{"two documents.yaml", "a: 1\n---\nb: 2\n", "2:1-2:4 SBX106"},
		{"empty second document.yaml", "a: 1\n---\n", "2:1-2:4 SBX106"},
		// Bytes.
		{"not utf-8.yaml", "a: é\nb: \xff\n", "2:4-2:5 SBX108"},
		{"utf-16.yaml", "\xff\xfea\x00", "1:1-1:2 SBX108"},
		{"bom.yaml", "\ufeffa: 1\nb: : \n", "1:1-1:1 SBX109, 2:4-2:5 SBX100"},
		{"nul.yaml", "a: x\x00y\n", "1:5-1:6 SBX110"},
		{"bell and delete.yaml", "a: \a\nb: \x7f\n", "1:4-1:5 SBX110, 2:4-2:5 SBX110"},
		{"line separator.yaml", "a: é\u2028b\n", "1:5-1:6 SBX110"},
		{"next line.yaml", "a: b\u0085c: d\n", "1:5-1:6 SBX110"},
		{"right to left.yaml", "a: x # é\u202ey\n", "1:9-1:10 SBX110"},
		{"escaped bell.yaml", "a: \"x\\u0007\"\nb: \"\\e[31m\"\n", "1:4-1:13 SBX110, 2:4-2:12 SBX110"},
		{"escaped right to left.yaml", "é: [\"\\u202e\"]\n\"k\\u2066\": 1\n", "1:5-1:13 SBX110, 2:1-2:10 SBX110"},
		{"escaped nul.json", "{\"a\": \"x\\u0000\", \"b\\r\": 1}", "1:7-1:16 SBX110, 1:18-1:23 SBX110"},
		{"lone cr.yaml", "a: 1\rb: 2\n", "1:5-1:6 SBX110"},
		{"crlf.yaml", "a: 1\r\nb: x: y\r\n", "1:5-1:5 SBX118, 2:5-2:6 SBX100"},
		{"crlf once.yaml", "a: 1\nb:\r\n  c: 1\nb: 2\n", "2:3-2:3 SBX118, 4:1-4:2 SBX102 (2:1)"},
		// Size, depth, nothing.
		{"too large.yaml", "a: " + strings.Repeat("x", MaxBytes), "1:1-1:1 SBX111"},
		{"too deep flow.yaml", strings.Repeat("[", 65) + strings.Repeat("]", 65), "1:65-1:66 SBX112"},
		{"too deep block.yaml", strings.Repeat("- ", 66) + "x\n", "1:129-1:130 SBX112"},
		{"too deep.json", strings.Repeat("[", 65) + strings.Repeat("]", 65), "1:65-1:66 SBX112"},
		{"empty.yaml", "", "1:1-1:1 SBX113"},
		{"only comments.yaml", "# nothing\n\n", "1:1-1:1 SBX113"},
		{"only a marker.yaml", "---\n", "1:1-1:1 SBX113"},
		{"empty.json", " \n", "1:1-1:1 SBX113"},
		// Scalars.
		{"yes.yaml", "a: yes\nb: \"yes\"\nc: [Off, y]\n", "1:4-1:7 SBX114, 3:5-3:8 SBX114"},
		{"big integer.yaml", "a: 9007199254740993\n", "1:4-1:20 SBX115"},
		{"huge integer.yaml", "a: -99999999999999999999999\n", "1:4-1:28 SBX115"},
		{"long fraction.yaml", "a: 0.12345678901234567890\n", "1:4-1:26 SBX115"},
		{"overflow.yaml", "a: 1e999\n", "1:4-1:9 SBX115"},
		{"underflow.yaml", "a: 1e-999\n", "1:4-1:10 SBX115"},
		{"octal.yaml", "a: 0755\nb: 0o17\nc: 0x1F\nd: 1_000\ne: +1\nf: .5\ng: 1.\nh: 0b1\n",
			"1:4-1:8 SBX116, 2:4-2:8 SBX116, 3:4-3:8 SBX116, 4:4-4:9 SBX116, 5:4-5:6 SBX116, 6:4-6:6 SBX116, 7:4-7:6 SBX116, 8:4-8:7 SBX116"},
		{"infinity.yaml", "a: .inf\nb: -.INF\nc: .nan\n", "1:4-1:8 SBX117, 2:4-2:9 SBX117, 3:4-3:8 SBX117"},
		// JSON.
		{"trailing comma.json", "{\"a\": [1, 2,],\n}", "1:12-1:13 SBX119, 1:14-1:15 SBX119"},
		{"comments.json", "// é\n{/* x */\"a\": 1 # y\n}", "1:1-1:5 SBX119, 2:2-2:9 SBX119, 2:16-2:19 SBX119"},
		{"unclosed comment.json", "{} /* x", "1:4-1:5 SBX100"},
		{"duplicate.json", "{\"é\": 1, \"\\u00e9\": 2}", "1:10-1:18 SBX102 (1:2)"},
		{"single quotes.json", "{\"a\": 'b'}", "1:7-1:8 SBX100"},
		{"bare key.json", "{a: 1}", "1:2-1:3 SBX100"},
		{"bare word.json", "[true, maybe]", "1:8-1:13 SBX100"},
		{"missing comma.json", "[1 2]", "1:4-1:5 SBX100"},
		{"missing colon.json", "{\"a\" 1}", "1:6-1:7 SBX100"},
		{"no value.json", "{\"a\":", "1:6-1:6 SBX100"},
		{"unclosed.json", "{\"a\": [1,\n 2", "1:7-1:8 SBX100"},
		{"unclosed string.json", "[\"ab\n\"]", "1:2-1:3 SBX100"},
		{"tab in string.json", "[\"a\tb\"]", "1:4-1:5 SBX100"},
		{"bad escape.json", "[\"\\x\"]", "1:3-1:4 SBX100"},
		{"half surrogate.json", "[\"\\ud800\"]", "1:3-1:4 SBX100"},
		{"two values.json", "{} {}", "1:4-1:5 SBX100"},
		{"numbers.json", "[01, +1, .5, 1., 0x1, NaN, -Infinity, 1e999]",
			"1:2-1:4 SBX116, 1:6-1:8 SBX116, 1:10-1:12 SBX116, 1:14-1:16 SBX116, 1:18-1:21 SBX116, 1:23-1:26 SBX117, 1:28-1:37 SBX117, 1:39-1:44 SBX115"},
		{"crlf.json", "{\r\n\"a\": x}", "1:2-1:2 SBX118, 2:6-2:7 SBX100"},
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range refusals() {
		t.Run(c.name, func(t *testing.T) {
			_, ds := Parse(c.name, []byte(c.src))
			require.Equal(t, c.want, brief(ds), "%v", ds)
			for _, d := range ds {
				require.Equal(t, c.name, d.File)
				require.NotEmpty(t, d.Message)
				require.Equal(t, "sbxgen explain "+d.Rule, d.Next)
			}
		})
	}
}

func TestEveryRuleIsListedOnceAndTested(t *testing.T) {
	var ids []string
	for _, r := range Rules() {
		require.NotEmpty(t, r.Title)
		ids = append(ids, r.ID)
	}
	require.True(t, slices.IsSorted(ids))
	require.Len(t, slices.Compact(slices.Clone(ids)), len(ids))
	tested := map[string]bool{}
	for _, c := range refusals() {
		_, ds := Parse(c.name, []byte(c.src))
		for _, d := range ds {
			tested[d.Rule] = true
			i := slices.Index(ids, d.Rule)
			require.GreaterOrEqual(t, i, 0, d.Rule)
			require.Equal(t, Rules()[i].Severity, d.Severity)
		}
	}
	// Of what Parse never sees: see TestUnreadable.
	tested[RuleUnreadable] = true
	for _, id := range ids {
		require.True(t, tested[id], id)
	}
}

func TestUnreadable(t *testing.T) {
	d := Unreadable("a.yaml", &fs.PathError{Op: "open", Path: "/home/somebody/a.yaml", Err: fs.ErrPermission})
	require.Equal(t, "a.yaml: error: cannot be read: permission denied [SBX136]", d.String(), "no path of one machine")
	d = Unreadable("a.yaml", &fs.PathError{Op: "read", Path: "a.yaml", Err: ErrNotRegular})
	require.Contains(t, d.Message, "not a regular file")
	require.NotEmpty(t, d.Help)
}

// The exact position of a syntax error is read from inside the parser; this
// fails when another version of it keeps its marks under another name.
func TestParserStillKeepsItsMarks(t *testing.T) {
	_, ds := Parse("f.yaml", []byte("é: [\n  a, @\n"))
	require.Len(t, ds, 1)
	require.Equal(t, diag.Span{Line: 2, Col: 6, EndLine: 2, EndCol: 7}, ds[0].Span())
	require.Regexp(t, regexp.MustCompile(`^found character that cannot start any token`), ds[0].Message)
	require.Contains(t, ds[0].Help, "quotes")
}
