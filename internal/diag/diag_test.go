package diag

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sample has one of everything a printer must handle.
func sample() *Set {
	s := &Set{}
	s.Add(
		Diagnostic{
			File: "providers/b/provider.yaml", Line: 2, Col: 4, EndLine: 2, EndCol: 8, Rule: "SBX130",
			Severity: Warning, Message: "100% of \"日本\", and: a comma,\nsecond line", Next: "sbxgen explain SBX130",
		},
		Diagnostic{
			File: "catalog/acme.yaml", Line: 3, Col: 11, EndLine: 3, EndCol: 18, Rule: "SBX203",
			Message: `unknown status "verifed"`, Suggestion: "verified", Help: "a status is one of verified, unknown",
			Next:    "sbxgen explain SBX203",
			Related: []Related{{Span: Span{Line: 1, Col: 1, EndLine: 1, EndCol: 9}, Message: "the provider is named here"}},
		},
		Diagnostic{File: "catalog/acme.yaml", Line: 1, Col: 1, EndLine: 3, EndCol: 5, Rule: "SBX102", Message: "spans lines"},
		Diagnostic{File: "catalog/acme.yaml", Message: "no position", Severity: Note},
		Diagnostic{Message: "no file, \x1b[2Jhostile \u202e text"},
		Diagnostic{File: "a b,c:d.yaml", Line: 7, Rule: "SBX100", Message: "no column"},
	)
	return s
}

func sampleSource(file string) []byte {
	switch file {
	case "catalog/acme.yaml":
		return []byte("provider: acme\r\n\r\n\tstatus:  verifed # 日本\r\n")
	case "providers/b/provider.yaml":
		return []byte("\ufeffid: b\n日本: é\u0301x\u202e\x07😀!\n")
	}
	return nil
}

func TestGolden(t *testing.T) {
	rule := func(id string) (string, string) {
		if id == "SBX203" {
			return "status must be known", "https://example.com/rules/SBX203"
		}
		return "", ""
	}
	for name, print := range map[string]func(io.Writer, *Set) error{
		"plain.txt":   func(w io.Writer, s *Set) error { return Text(w, s, TextOptions{}) },
		"listing.txt": func(w io.Writer, s *Set) error { return Text(w, s, TextOptions{Source: sampleSource}) },
		"color.txt": func(w io.Writer, s *Set) error {
			return Text(w, s, TextOptions{Source: sampleSource, Color: true})
		},
		"report.json": JSON,
		"github.txt":  GitHub,
		"log.sarif": func(w io.Writer, s *Set) error {
			return SARIF(w, s, SARIFOptions{Version: "1.2.3", InformationURI: "https://example.com", Rule: rule})
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, print(&b, sample()))
			path := filepath.Join("testdata", name)
			if *update {
				require.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), b.String())
			if strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".sarif") {
				require.True(t, json.Valid(b.Bytes()))
			}
			for _, line := range strings.Split(b.String(), "\n") {
				require.Equal(t, strings.TrimRight(line, " "), line, "trailing space")
			}
		})
	}
}

func TestEmptySet(t *testing.T) {
	var s Set
	require.NoError(t, s.Err())
	require.Equal(t, "no problems", s.Error())
	require.Equal(t, "no problems", s.Counts().String())
	var text, js, sarif, gh bytes.Buffer
	require.NoError(t, Text(&text, &s, TextOptions{}))
	require.NoError(t, JSON(&js, &s))
	require.NoError(t, SARIF(&sarif, &s, SARIFOptions{}))
	require.NoError(t, GitHub(&gh, &s))
	require.Empty(t, text.String())
	require.Empty(t, gh.String())
	require.Equal(t, `{
  "version": 1,
  "counts": {
    "errors": 0,
    "warnings": 0,
    "notes": 0,
    "files": 0
  },
  "diagnostics": []
}
`, js.String())
	require.Contains(t, sarif.String(), `"results": []`)
	require.Contains(t, sarif.String(), `"rules": []`)
}

func TestSetSortsAndDropsRepeats(t *testing.T) {
	var s Set
	poor := Diagnostic{File: "a", Line: 2, Col: 1, Rule: "SBX1", Message: "m"}
	rich := poor
	rich.Suggestion = "x"
	s.Add(Diagnostic{File: "b", Message: "m"}, poor, rich, poor)
	s.Add(Diagnostic{File: "a", Line: 10, Message: "m"}, Diagnostic{File: "a", Line: 2, Col: 1, Rule: "SBX1", Message: "other"})
	var got []string
	for _, d := range s.All() {
		got = append(got, d.String())
	}
	require.Equal(t, []string{"a:2:1: error: m [SBX1]", "a:2:1: error: other [SBX1]", "a:10: error: m", "b: error: m"}, got)
	require.Equal(t, "x", s.All()[0].Suggestion, "the richer of two twins stays")
	require.Equal(t, 4, s.Len())
	require.Equal(t, strings.Join(got, "\n"), s.Error())
}

func TestSetIsAnErrorOnlyWithErrors(t *testing.T) {
	var s Set
	s.Add(Diagnostic{Message: "w", Severity: Warning}, Diagnostic{Message: "n", Severity: Note})
	require.NoError(t, s.Err())
	s.Add(Diagnostic{Message: "e"})
	var as *Set
	require.True(t, errors.As(fmt.Errorf("validate: %w", s.Err()), &as))
	require.Same(t, &s, as)
}

func TestSetConcurrentAddAndMerge(t *testing.T) {
	var s, other Set
	other.Add(Diagnostic{File: "merged", Message: "m"})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 50 {
				s.Add(Diagnostic{File: fmt.Sprintf("f%d", (i+j)%10), Line: j + 1, Message: "m"})
				if s.Len() == 0 {
					t.Error("an added diagnostic is not there")
				}
			}
			s.Merge(&other)
			s.Merge(nil)
		})
	}
	wg.Wait()
	s.Merge(&s)
	var want Set
	want.Merge(&other)
	for i := range 8 {
		for j := range 50 {
			want.Add(Diagnostic{File: fmt.Sprintf("f%d", (i+j)%10), Line: j + 1, Message: "m"})
		}
	}
	require.Equal(t, want.All(), s.All())
}

func TestCountsString(t *testing.T) {
	require.Equal(t, "3 errors, 1 warning in 2 files", Counts{Errors: 3, Warnings: 1, Files: 2}.String())
	require.Equal(t, "1 error in 1 file", Counts{Errors: 1, Files: 1}.String())
	require.Equal(t, "2 warnings, 1 note", Counts{Warnings: 2, Notes: 1}.String())
	require.Equal(t, "severity(9)", Severity(9).String())
}

func TestTextWindowsLongLines(t *testing.T) {
	for name, pad := range map[string]int{"long": 300, "very long": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			src := strings.Repeat("x", pad) + "BAD" + strings.Repeat("y", pad)
			var s Set
			s.Add(Diagnostic{File: "f", Line: 1, Col: pad + 1, EndLine: 1, EndCol: pad + 4, Message: "m"})
			var b strings.Builder
			require.NoError(t, Text(&b, &s, TextOptions{Width: 30, Source: func(string) []byte { return []byte(src) }}))
			require.Equal(t, fmt.Sprintf("f:1:%d: error: m\n", pad+1)+
				" 1 | …xxxxxxxxxxBADyyyyyyyyyyyyyyy…\n"+
				"   |            ^~~\n", b.String())
		})
	}
}

func TestTextCaretAtEndOfLine(t *testing.T) {
	var s Set
	s.Add(Diagnostic{File: "f", Line: 1, Col: 3, Message: "here"}, Diagnostic{File: "f", Line: 1, Col: 99, Message: "beyond"},
		Diagnostic{File: "f", Line: 9, Col: 1, Message: "no such line"})
	var b strings.Builder
	require.NoError(t, Text(&b, &s, TextOptions{Source: func(string) []byte { return []byte("ab") }}))
	require.Equal(t, "f:1:3: error: here\n 1 | ab\n   |   ^\nf:1:99: error: beyond\n 1 | ab\n   |   ^\nf:9:1: error: no such line\n", b.String())
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestPrintersReturnTheWritersError(t *testing.T) {
	w := failingWriter{errors.New("disk full")}
	for _, err := range []error{
		Text(w, sample(), TextOptions{}), JSON(w, sample()), SARIF(w, sample(), SARIFOptions{}), GitHub(w, sample()),
	} {
		require.ErrorIs(t, err, w.err)
	}
}

func TestSuggest(t *testing.T) {
	candidates := []string{"verified", "unknown", "native", "node", "none", "日本語"}
	for word, want := range map[string]string{
		"verifed": "verified", "Verified": "verified", "unkonwn": "unknown", "natve": "native",
		"nodee": "node", "nnoe": "none", "日本": "日本語", "verified": "", "": "", "zzz": "", "x": "", "a": "",
		"completely-else": "", strings.Repeat("v", 1000): "",
	} {
		require.Equal(t, want, Suggest(word, candidates), word)
	}
	require.Empty(t, Suggest("word", nil))
	require.Equal(t, "cat", Suggest("cax", []string{"cat", "car"}), "the first of equals")
}

func FuzzText(f *testing.F) {
	f.Add("a: \tb\x00", 1, 2, 3)
	f.Fuzz(func(t *testing.T, src string, line, col, end int) {
		var s Set
		s.Add(Diagnostic{File: "f", Line: line, Col: col, EndLine: line, EndCol: end, Message: src})
		var b bytes.Buffer
		require.NoError(t, Text(&b, &s, TextOptions{Source: func(string) []byte { return []byte(src) }}))
		for _, r := range b.String() {
			require.False(t, r != '\n' && isHostile(r), "%q", b.String())
		}
		b.Reset()
		require.NoError(t, GitHub(&b, &s))
		require.Equal(t, 1, strings.Count(b.String(), "\n"), "one annotation is one line")
		require.NoError(t, JSON(io.Discard, &s))
		require.NoError(t, SARIF(io.Discard, &s, SARIFOptions{}))
	})
}

// A suggestion that is put in place with its quotes has one pair of them.
func TestSuggestionIsQuotedOnce(t *testing.T) {
	for suggestion, want := range map[string]string{`"true"`: `did you mean "true"?`, "verified": `did you mean "verified"?`, `"`: `did you mean """?`} {
		d := Diagnostic{File: "a.yaml", Rule: "SBX123", Message: "m", Suggestion: suggestion}
		s := &Set{}
		s.Add(d)
		var out strings.Builder
		require.NoError(t, Text(&out, s, TextOptions{}))
		require.Contains(t, out.String(), want)
		require.Contains(t, advice(d), want)
	}
}
