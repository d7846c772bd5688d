package invariants

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/schema"
)

// machinePaths are the shapes of absolute paths that exist on one machine only.
// Each is put together here so that this file does not hold one.
func machinePaths() []*regexp.Regexp {
	var out []*regexp.Regexp
	for _, dir := range []string{"work", "root", "workspace", "builds"} {
		// Not a part of a longer path or of a URL, and something follows.
		out = append(out, regexp.MustCompile(`(^|[\s"'=(\x60:])/`+dir+`/[A-Za-z0-9_.-]`))
	}
	return append(out, regexp.MustCompile(`(^|[\s"'=(\x60:])/(home|Users)/[a-z][a-z0-9_-]*/(go|src|work|repos|projects)/`))
}

// registryHosts are the hosts that this machine's Go command downloads from. A
// file that names one works only where it is reached.
func registryHosts(proxies string) []*regexp.Regexp {
	var out []*regexp.Regexp
	for part := range strings.FieldsFuncSeq(proxies, func(r rune) bool { return strings.ContainsRune(",| \n", r) }) {
		if u, err := url.Parse(part); err == nil && u.Host != "" {
			out = append(out, regexp.MustCompile(`(?i)`+regexp.QuoteMeta(u.Host)))
		}
	}
	return out
}

func lineHits(f textFile, shapes []*regexp.Regexp, why string) []string {
	var out []string
	n := 0
	for line := range strings.Lines(string(f.body)) {
		n++
		for _, shape := range shapes {
			if hit := shape.FindString(line); hit != "" {
				out = append(out, fmt.Sprintf("%s:%d: %q: %s", f.path, n, strings.TrimSpace(hit), why))
			}
		}
	}
	return out
}

func TestTextNamesNoMachine(t *testing.T) {
	out, err := exec.Command("go", "env", "GOPROXY").Output()
	require.NoError(t, err)
	hosts := registryHosts(string(out))
	var found []string
	for _, f := range files(t) {
		found = append(found, lineHits(f, machinePaths(), "a path of one machine")...)
		found = append(found, lineHits(f, hosts, "a host that packages come from here")...)
	}
	require.Empty(t, strings.Join(found, "\n"))
}

func TestTextRules(t *testing.T) {
	for text, want := range map[string]int{
		"cd /" + "work/main": 1, `"/` + "root/go/pkg\"": 1, "see /home/ann/" + "go/src": 1,
		"docs/work/x": 0, "https://example.com/" + "work/x": 0, "/root": 0, "/home/user": 0, "HOME is /" + "root.": 0,
	} {
		require.Len(t, lineHits(textFile{"a", []byte(text)}, machinePaths(), "x"), want, text)
	}
	hosts := registryHosts("https://proxy.example.org,http://10.1.2.3:3141/go|direct,off\n")
	require.Len(t, hosts, 2)
	require.Len(t, lineHits(textFile{"a", []byte("x\nGOPROXY=http://10.1.2.3:3141/go/\n")}, hosts, "x"), 1)
	require.Empty(t, lineHits(textFile{"a", []byte("http://10.1.2.30:3141/ direct off")}, hosts, "x"))
}

func TestLicense(t *testing.T) {
	i := slices.IndexFunc(files(t), func(f textFile) bool { return f.path == "LICENSE" })
	require.GreaterOrEqual(t, i, 0, "LICENSE is missing")
	require.Contains(t, string(files(t)[i].body), "Apache License")
}

// ids is everything that documents may name by ID.
type ids struct{ rules, checks, groups, hazards, metrics, capabilities, targets []string }

// list reads one member of every row of a list in schema/.
func list(t testing.TB, file, key, member string) []string {
	t.Helper()
	body, err := schema.Files().ReadFile(file)
	require.NoError(t, err)
	var doc map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(body, &doc))
	var rows []map[string]any
	require.NoError(t, json.Unmarshal(doc[key], &rows))
	var out []string
	for _, r := range rows {
		value, ok := r[member].(string)
		require.True(t, ok, "%s: %s", file, member)
		out = append(out, value)
	}
	require.NotEmpty(t, out, file)
	return out
}

var (
	ruleID    = regexp.MustCompile(`\bSBX\d{3}\b`)
	dotted    = regexp.MustCompile("`([a-z][a-z-]*)\\.[a-z0-9-]+`")
	hazardRef = regexp.MustCompile("[Hh]azards? `([a-z0-9-]+)`")
	explained = regexp.MustCompile(`sbxgen explain ([A-Za-z0-9.-]*[A-Za-z0-9])`)
	makeRef   = regexp.MustCompile("(?m)(?:^\\s*(?:\\$ )?|`)make ([a-z][a-z-]*)")
	target    = regexp.MustCompile(`(?m)^([a-z][a-z-]*):`)
)

// unknownIDs names what a document mentions and nothing defines.
func unknownIDs(f textFile, known ids) []string {
	var out []string
	say := func(kind, id string) { out = append(out, fmt.Sprintf("%s: no %s %s", f.path, kind, id)) }
	text := string(f.body)
	for _, id := range ruleID.FindAllString(text, -1) {
		if !slices.Contains(known.rules, id) {
			say("rule", id)
		}
	}
	for _, m := range dotted.FindAllStringSubmatch(text, -1) {
		id := strings.Trim(m[0], "`")
		if slices.Contains(known.groups, m[1]) && !slices.Contains(known.checks, id) && !slices.Contains(known.capabilities, id) &&
			filepath.Ext(id) != ".md" && filepath.Ext(id) != ".go" {
			say("check", id)
		}
	}
	for _, m := range hazardRef.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(known.hazards, m[1]) {
			say("hazard", m[1])
		}
	}
	for _, m := range explained.FindAllStringSubmatch(text, -1) {
		words := slices.Concat(known.rules, known.checks, known.hazards, known.metrics, known.capabilities, []string{"RULE"})
		if !slices.Contains(words, m[1]) {
			say("entry for sbxgen explain", m[1])
		}
	}
	for _, m := range makeRef.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(known.targets, m[1]) {
			say("make target", m[1])
		}
	}
	return out
}

func knownIDs(t testing.TB, all []textFile) ids {
	t.Helper()
	k := ids{rules: list(t, "rules.json", "rules", "id"), checks: list(t, "checks.json", "checks", "id"),
		hazards: list(t, "hazards.json", "hazards", "id"), metrics: list(t, "metrics.json", "metrics", "id")}
	for _, c := range k.checks {
		group, _, _ := strings.Cut(c, ".")
		k.groups = append(k.groups, group)
	}
	var doc struct {
		Defs map[string]struct {
			Properties map[string]json.RawMessage `json:"properties"`
		} `json:"$defs"`
	}
	body, err := schema.Files().ReadFile("provider.schema.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(body, &doc))
	for c := range doc.Defs["capabilities"].Properties {
		k.capabilities = append(k.capabilities, c)
	}
	require.Contains(t, k.capabilities, "snapshot")
	for _, f := range all {
		if f.path == "Makefile" {
			for _, m := range target.FindAllStringSubmatch(string(f.body), -1) {
				k.targets = append(k.targets, m[1])
			}
		}
	}
	require.Contains(t, k.targets, "test")
	return k
}

func TestDocumentsNameWhatExists(t *testing.T) {
	all := files(t)
	known := knownIDs(t, all)
	var found []string
	documents := 0
	for _, f := range all {
		if strings.HasSuffix(f.path, ".md") && !inTestdata(f.path) {
			documents++
			found = append(found, unknownIDs(f, known)...)
		}
	}
	require.Greater(t, documents, 5)
	require.True(t, slices.ContainsFunc(all, func(f textFile) bool { return f.path == "README.md" }), "README.md is missing")
	require.Empty(t, strings.Join(found, "\n"))
}

// Each reference page holds every ID of its list and, by the rule above, no other.
func TestReferenceIsWhole(t *testing.T) {
	all := files(t)
	known := knownIDs(t, all)
	for page, want := range map[string][]string{"reference/rules": known.rules, "conformance": known.checks, "reference/hazards": known.hazards, "reference/metrics": known.metrics} {
		i := slices.IndexFunc(all, func(f textFile) bool { return f.path == "docs/"+page+".md" })
		require.GreaterOrEqual(t, i, 0, page)
		for _, id := range want {
			require.Contains(t, string(all[i].body), id, page)
		}
	}
}

func TestDocumentRules(t *testing.T) {
	known := knownIDs(t, files(t))
	for text, why := range map[string]string{
		"see SBX" + "999":                         "no rule SBX" + "999",
		"`cleanup.never-heard-of`":                "no check cleanup.never-heard-of",
		"the hazard `never-heard-of`":             "no hazard never-heard-of",
		"run `make nothing-such`":                 "no make target nothing-such",
		"\n    $ make nothing-such\n":             "no make target nothing-such",
		"Then `sbxgen explain never-heard-of.`.":  "no entry for sbxgen explain never-heard-of",
		"fine: `cleanup.verified-gone`, SBX100":   "",
		"fine: `create.detached` is a capability": "",
		"we make sure, `make test`, `x.go`":       "",
		"fine: hazard `delete-async`":             "",
	} {
		got := unknownIDs(textFile{"docs/a.md", []byte(text)}, known)
		if why == "" {
			require.Empty(t, got, text)
			continue
		}
		require.Equal(t, []string{"docs/a.md: " + why}, got, text)
	}
}
