package gen

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// thisProject is the module that this test belongs to.
func thisProject(t *testing.T) *Project {
	t.Helper()
	root, module, err := FindModule(".")
	require.NoError(t, err)
	p, found, err := Load(context.Background(), root, module)
	require.NoError(t, err)
	require.Empty(t, found)
	return p
}

// leaves calls fn with every text and number below v, and its path.
func leaves(v any, at string, fn func(at string, v any)) {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			leaves(member, at+"/"+key, fn)
		}
	case []any:
		for _, member := range v {
			leaves(member, at+"/-", fn)
		}
	case bool, nil: // yes and no are everywhere
	default:
		fn(at, v)
	}
}

// Nothing that a manifest says is lost on its page, whatever its schema adds.
func TestPagesHoldTheWholeManifest(t *testing.T) {
	p := thisProject(t)
	full, err := os.ReadFile(filepath.Join(p.Root, "schema", "testdata", "manifest-full.json"))
	require.NoError(t, err)
	p.Manifests = append(p.Manifests, newManifest("providers/full", full))
	pages, err := p.providerPages()
	require.NoError(t, err)
	require.Len(t, pages, len(p.Manifests)+1)
	for _, m := range p.Manifests {
		page := string(pages[pagesDir+"/"+m.ID()+".md"])
		seen := 0
		leaves(map[string]any(m.value()), "", func(at string, v any) {
			seen++
			require.True(t, shows(page, at, v), "%s: %s is not on the page: %v", m.ID(), at, v)
		})
		require.Greater(t, seen, 100)
		for _, c := range p.vocab().capabilities {
			require.Contains(t, page, "("+code(c.id)+")", m.ID())
		}
	}
}

// shows reports whether the value of a manifest is on its page, in any of the
// ways a page writes values.
func shows(page, at string, v any) bool {
	if at == "/apiVersion" || at == "/adapter/kind" || strings.HasPrefix(at, "/adapter/computesdkServes/") {
		return true // said in other words, or of no use to a user
	}
	shown := inWords(v)
	if strings.Contains(page, shown) || strings.Contains(page, strings.TrimSuffix(shown, ".")) {
		return true
	}
	text, isText := v.(string)
	return isText && (strings.Contains(page, code(text)) || strings.Contains(page, strings.TrimPrefix(link("", text), "[]")))
}

// They are planned here and in no other module, and those on disk are current.
func TestPagesArePlanned(t *testing.T) {
	p := thisProject(t)
	planned := func() map[string][]byte {
		plan, err := p.Plan()
		require.NoError(t, err)
		for _, u := range plan.Units {
			if u.Dir != "." {
				continue
			}
			require.Contains(t, u.OwnedPatterns, pagesDir+"/**", "a page of a provider that is gone would stay")
			out, err := u.Render(context.Background())
			require.NoError(t, err)
			return out.Owned
		}
		return nil
	}
	owned := planned()
	for _, m := range p.Manifests {
		name := pagesDir + "/" + m.ID() + ".md"
		onDisk, err := os.ReadFile(filepath.Join(p.Root, name))
		require.NoError(t, err)
		require.Equal(t, string(onDisk), string(owned[name]), "run sbxgen generate")
	}
	p.InTree = false
	require.Empty(t, planned())
}

func TestPagesLinkWhatExists(t *testing.T) {
	p := thisProject(t)
	pages, err := p.providerPages()
	require.NoError(t, err)
	links := 0
	for name, page := range pages {
		for _, m := range regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllStringSubmatch(string(page), -1) {
			links++
			to := filepath.Join(p.Root, filepath.Dir(name), m[1])
			if _, generated := pages[filepath.ToSlash(filepath.Join(filepath.Dir(name), m[1]))]; generated {
				continue
			}
			_, err := os.Stat(to)
			require.NoError(t, err, name)
		}
		require.Contains(t, string(page), "../../catalog/CATALOG.md")
	}
	require.Greater(t, links, 40)
}

const acmeManifest = `apiVersion: sbx/v1
id: acme
name: A|B *bold* <b>
summary: "# no heading, [no link](x) | no cell, <script> and ` + "`no code`" + `"
homepage: https://acme.example/a(b)|c
adapter: {kind: none}
provenance: [{id: docs, kind: docs, url: "https://acme.example/(x)", retrievedAt: "2026-01-02"}]
capabilities:
  snapshot:
    createsObject: {support: unknown, reason: Nobody _tried_ it.}
    sourceSurvives: {support: unknown, reason: nor this}
    listable: {support: unknown, reason: nor that}
    deletable: {support: unsupported, reason: never}
    restoreMakesNew: {support: unknown, reason: nor those}
exec: {streams: {unknown: "Not | said."}, timeoutEnforced: {value: none}}
lifecycle: {states: {value: {b: running, "a|": gone}}, delete: {mode: {unknown: x}, tombstones: {value: none}}, goneProof: {unknown: y}}
isolation: {unknown: z}
pricing: {unknown: The page needs a login.}
`

// Text of a manifest is text: it makes no links, cells, headings or HTML.
func TestPageOfAnUnknownVendor(t *testing.T) {
	p := thisProject(t)
	s, err := parseOrdered(p.src.provider)
	require.NoError(t, err)
	m := newManifest("providers/acme", []byte(acmeManifest))
	page := newProviderPage(s, p.vocab(), p.model(m), m)
	text := page.text()
	for _, want := range []string{
		"\n# A\\|B \\*bold\\* \\<b\\>\n",
		"\n\\# no heading, \\[no link\\](x) \\| no cell, \\<script\\> and \\`no code\\`\n",
		"[docs](https://acme.example/%28x%29)",
		"described only",
		"Which credentials it needs is not stated.",
		"| Fork (`fork`) | unknown | not stated | — |",
		"| Snapshot (`snapshot`) | unknown | see its five facts | — |",
		"| — creates an object | unknown | Nobody \\_tried\\_ it. | — |",
		"| Streams | **unknown**: Not \\| said. | — |",
		"| States | `a\\|` is gone, `b` is running | — |",
		"\n## Prices\n\n**unknown**: The page needs a login.\n",
		"None is stated, which does not say that there are none.",
		"| Snapshot: `createsObject` | Nobody \\_tried\\_ it. |",
		"| Prices | The page needs a login. |",
		"- Limits: Sandboxes, Running sandboxes, ",
	} {
		require.Contains(t, text, want)
	}
	for _, never := range []string{"<script>", "<b>", "[no link](", "\n# no heading", "0 USD", "| supported |"} {
		require.NotContains(t, text, never)
	}
	require.Equal(t, text, newProviderPage(s, p.vocab(), p.model(m), m).text(), "it says another thing the second time")
	cells, tables := 0, 0
	for line := range strings.Lines(text) { // a row has as many cells as its heading
		bars := strings.Count(strings.ReplaceAll(line, "\\|", ""), "|")
		if bars > 0 && cells > 0 {
			require.Equal(t, cells, bars, line)
		}
		if strings.HasPrefix(line, "|---") {
			tables++
		}
		cells = bars
	}
	require.Greater(t, tables, 5)
}

func TestMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                    "plain",
		"exit_unknown is a word":   "exit_unknown is a word",
		"_em_ and __strong__":      `\_em\_ and \_\_strong\_\_`,
		"a\n\n- b":                 "a - b",
		"- list":                   `\- list`,
		"1. list":                  `1\. list`,
		"1.41":                     `1\.41`,
		"v1.41":                    "v1.41",
		"| cell":                   `\| cell`,
		"&lt; ~~x~~ $x$ \\":        `\&lt; \~\~x\~\~ \$x\$ \\`,
		"<a href=x>":               `\<a href=x\>`,
		"![i](javascript:x)":       `!\[i\](javascript:x)`,
		"\u202eleft":               "left",
		"a\u0000b\u001b[31m\u007f": `ab\[31m`,
	} {
		require.Equal(t, want, markdown(in), "%q", in)
	}
	for in, want := range map[string]string{
		"x": "`x`", "a|b": "`a\\|b`", "a`b": "``a`b``", "`": "`` ` ``", "": "", "a\nb": "`a b`",
	} {
		require.Equal(t, want, code(in), "%q", in)
	}
	require.Equal(t, "[t](https://a/%28b%29%7C%22)", link("t", "https://a/(b)|\""))
	require.Equal(t, "t", link("t", ""))
	for in, want := range map[any]string{true: "yes", false: "no", 0.0000045: "0.0000045", 40: "40", 1e9: "1000000000", nil: ""} {
		require.Equal(t, want, inWords(in))
	}
	require.Equal(t, "none", inWords([]any{}))
	require.Equal(t, "0.5 USD per hour", inWords(map[string]any{"usd": 0.5, "per": "hour"}))
}
