package tree

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseBlocks(t *testing.T) {
	text := "a\n  // sbxgen:begin one\nx\n\t// sbxgen:end one\n# sbxgen:begin two\r\n# sbxgen:end two\r\n<!-- sbxgen:begin x.y-z -->\n1\n2\n<!-- sbxgen:end x.y-z -->"
	list, err := parseBlocks(text)
	require.NoError(t, err)
	require.Len(t, list, 3)
	require.Equal(t, "x\n", list[0].text(text))
	require.Equal(t, "", list[1].text(text))
	require.Equal(t, "1\n2\n", list[2].text(text))
	require.Contains(t, replaceBlock(text, list[1], "new"), "begin two\r\nnew\r\n# sbxgen:end two\r\n")

	for bad, line := range map[string]int{
		"\n# sbxgen:begin a\n":                                    2,
		"# sbxgen:end a\n":                                        1,
		"# sbxgen:begin a\n# sbxgen:begin b\n":                    2,
		"# sbxgen:begin a\n# sbxgen:end b\n":                      2,
		"# sbxgen:begin a\n# sbxgen:end a\n# sbxgen:begin a\n":    3,
		"# sbxgen:begin a\n# sbxgen:end a\nx\n// sbxgen:end a\n ": 4,
	} {
		_, err := parseBlocks(bad)
		var e *BlockError
		require.ErrorAs(t, err, &e, bad)
		require.Equal(t, line, e.Line, bad)
	}
	for _, ordinary := range []string{"see sbxgen:begin a\n", "# sbxgen:begin\n", "<!-- sbxgen:begin a\n", "# sbxgen:begin a b\n"} {
		list, err := parseBlocks(ordinary)
		require.NoError(t, err)
		require.Empty(t, list)
	}
}

// TestBlocksKeepSurroundingBytes writes blocks into random files and compares
// everything outside the markers byte for byte.
func TestBlocksKeepSurroundingBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"text", "\n", "\r\n", "\r", " ", "\t", "\x00", "\xff\xfe", "é", "# sbxgen: ", "<!-- x -->", "<<<<<<<", "", "```\n"}
	noise := func() string {
		var b strings.Builder
		for range random.IntN(12) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		return b.String()
	}
	for range 5000 {
		before, after := noise(), noise()
		if before != "" && !strings.HasSuffix(before, "\n") {
			before += "\n"
		}
		eol := []string{"\n", "\r\n"}[random.IntN(2)]
		begin, end := "<!-- sbxgen:begin n -->"+eol, "<!-- sbxgen:end n -->"
		if after != "" {
			after = "\n" + after
		}
		content := before + begin + "old" + eol + end + after
		list, err := parseBlocks(content)
		require.NoError(t, err, "%q", content)
		require.Len(t, list, 1, "%q", content)
		planned := strings.ReplaceAll(noise(), "sbxgen:", "x")
		got := replaceBlock(content, list[0], planned)
		require.True(t, strings.HasPrefix(got, before+begin) && strings.HasSuffix(got, end+after), "%q -> %q", content, got)
		again, err := parseBlocks(got)
		require.NoError(t, err)
		require.Equal(t, blockText(planned), again[0].text(got))
		require.Equal(t, got, replaceBlock(got, again[0], planned), "twice is once")
	}
}

func FuzzParseBlocks(f *testing.F) {
	f.Add("a\n# sbxgen:begin x\nold\n# sbxgen:end x\nb", "new")
	f.Add("<!-- sbxgen:begin x -->\r\n<!-- sbxgen:end x -->", "one\r\ntwo")
	f.Add("// sbxgen:begin x\n// sbxgen:begin x\n", "")
	f.Fuzz(func(t *testing.T, content, text string) {
		list, err := parseBlocks(content)
		if err != nil || checkBlock("x", text) != nil {
			return
		}
		for _, b := range list {
			got := replaceBlock(content, b, text)
			require.Equal(t, content[:b.start], got[:b.start])
			require.True(t, strings.HasSuffix(got, content[b.end:]))
			again, err := parseBlocks(got)
			require.NoError(t, err)
			require.Len(t, again, len(list))
		}
	})
}

func FuzzParseLock(f *testing.F) {
	l := lock{Inputs: inputs("x"), Owned: map[string]string{"a/b.go": sumOf(nil)}, Blocks: map[string]string{"r.md#n": sumOf(nil)}}
	raw, err := l.encode()
	require.NoError(f, err)
	f.Add(raw)
	f.Add([]byte("<<<<<<< a\n" + string(raw) + "=======\n" + string(raw) + ">>>>>>> b\n"))
	f.Add([]byte(`{"format": 1, "owned": {"../x": "00"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, state, err := parseLock("lock", data)
		if err != nil {
			return
		}
		for section, entries := range l.sections() {
			for key, sum := range *entries {
				require.True(t, validEntry(section, key, sum), "%s %q", section, key)
			}
		}
		if state == lockIntact {
			again, err := l.encode()
			require.NoError(t, err)
			require.Equal(t, strings.ReplaceAll(string(data), "\r\n", "\n"), string(again))
		}
	})
}

func FuzzParseJournal(f *testing.F) {
	raw, err := journal{Format: lockFormat, Entries: []entry{{Path: "a/b", Stage: "1", New: sumOf(nil), Floor: "a"}}}.encode()
	require.NoError(f, err)
	f.Add(string(raw))
	f.Fuzz(func(t *testing.T, data string) {
		body := strings.TrimSuffix(data, "\n")
		for _, text := range []string{data, sumOf([]byte(body)) + "\n" + body} {
			j, ok := parseJournal([]byte(text))
			for _, e := range j.Entries {
				require.True(t, ok)
				require.NoError(t, checkPath(e.Path))
			}
		}
	})
}

func TestLockHasOneSortedLinePerEntry(t *testing.T) {
	l := lock{Owned: map[string]string{"b.go": sumOf(nil), "a<&>.go": sumOf(nil)}}
	raw, err := l.encode()
	require.NoError(t, err)
	require.Equal(t, "{\n  \"format\": 1,\n  \"owned\": {\n    \"a<&>.go\": \""+sumOf(nil)+"\",\n    \"b.go\": \""+sumOf(nil)+"\"\n  }\n}\n", string(raw))
}

func TestPatterns(t *testing.T) {
	for pat, cases := range map[string]map[string]bool{
		"**":                {"a": true, "a/b/c": true},
		"zz_generated_*":    {"zz_generated_x.go": true, "sub/zz_generated_x.go": false, "x.go": false},
		"**/zz_generated_*": {"zz_generated_x.go": true, "sub/zz_generated_x.go": true, "sub/x.go": false},
		"sub/**":            {"sub/x": true, "sub/y/x": true, "x": false, "subway/x": false},
		"sub/**/*.gen":      {"sub/x.gen": true, "sub/y/x.gen": true, "x.gen": false},
		"sub/x_*.go":        {"sub/x_1.go": true, "sub/y/x_1.go": false},
	} {
		p, err := parsePattern(pat)
		require.NoError(t, err)
		for rel, want := range cases {
			require.Equal(t, want, p.match(rel), "%s %s", pat, rel)
		}
	}
}

func TestDiff(t *testing.T) {
	require.Equal(t, "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n", unified("x", []byte("a\nb"), []byte("a\nc\n")))
	require.Equal(t, "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", unified("x", nil, []byte("a\n")))
	require.Equal(t, "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", unified("x", []byte("a\n"), nil))
	require.Equal(t, "Binary files a/x and b/x differ\n", unified("x", []byte("\x00"), []byte("a")))
	require.NotEmpty(t, unified("x", nil, []byte{}))
	require.Empty(t, unified("x", []byte("a"), []byte("a")))
}
