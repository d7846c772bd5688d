package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func readBoth(t *testing.T) (provider, contract []byte) {
	t.Helper()
	provider, err := files.ReadFile(ProviderFile)
	require.NoError(t, err)
	contract, err = files.ReadFile(ContractFile)
	require.NoError(t, err)
	return provider, contract
}

// TestRevisionsFollowTheirSource fails when the contract or a check is another
// than the one that revisions.json was written for. SBX_ACKNOWLEDGE=1 writes the
// digests of today and leaves the revisions as they are.
func TestRevisionsFollowTheirSource(t *testing.T) {
	provider, contract := readBoth(t)
	sources, err := contractSources(provider, contract)
	require.NoError(t, err)
	checks, err := Checks()
	require.NoError(t, err)
	proofs, err := checkSources(checks)
	require.NoError(t, err)
	data, err := Revisions()
	require.NoError(t, err)
	if os.Getenv("SBX_ACKNOWLEDGE") == "1" {
		acknowledge(t, data, sources, proofs, checks)
		return
	}
	var problems []string
	problems = append(problems, unacknowledged("contract", data.Contract, sources)...)
	problems = append(problems, unacknowledged("check", data.Checks, proofs)...)
	byID := map[string]int{}
	for _, r := range data.Checks {
		byID[r.ID] = r.Revision
	}
	for _, c := range checks {
		if rev, ok := byID[c.ID]; ok && rev != c.Revision {
			problems = append(problems, fmt.Sprintf("check %s has revision %d in checks.json and %d in revisions.json", c.ID, c.Revision, rev))
		}
	}
	require.Empty(t, strings.Join(problems, "\n"), "raise the revision where older evidence no longer shows this, "+
		"then write the digests with SBX_ACKNOWLEDGE=1 go test ./schema -run TestRevisionsFollowTheirSource")
}

// unacknowledged names what changed since somebody looked at it.
func unacknowledged(what string, recorded []Revision, sources map[string]string) []string {
	var out []string
	seen := map[string]bool{}
	for _, r := range recorded {
		seen[r.ID] = true
		switch source, ok := sources[r.ID]; {
		case !ok:
			out = append(out, fmt.Sprintf("%s %s is no longer there", what, r.ID))
		case source != r.Source:
			out = append(out, fmt.Sprintf("%s %s changed since its revision %d", what, r.ID, r.Revision))
		}
		if r.Revision < 1 {
			out = append(out, fmt.Sprintf("%s %s has no revision", what, r.ID))
		}
	}
	for id := range sources {
		if !seen[id] {
			out = append(out, fmt.Sprintf("%s %s has no entry", what, id))
		}
	}
	return out
}

func acknowledge(t *testing.T, data *RevisionData, sources, proofs map[string]string, checks []Check) {
	t.Helper()
	provider, contract := readBoth(t)
	v, err := LoadVocabulary(provider, contract)
	require.NoError(t, err)
	old := map[string]int{}
	for _, r := range data.Contract {
		old[r.ID] = r.Revision
	}
	var b bytes.Buffer
	b.WriteString("{\n  \"$comment\": \"Revisions that evidence is bound to. source is a digest of what the entry is made of: it shows that somebody looked at a change. Raise revision when what met the older one may not meet this one.\",\n  \"contract\": [\n")
	var rows []string
	for _, c := range append([]Capability{v.Core}, v.Capabilities...) {
		if source := sources[c.ID]; source != "" {
			rows = append(rows, row(t, Revision{c.ID, max(old[c.ID], 1), source}))
		}
	}
	b.WriteString(strings.Join(rows, ",\n") + "\n  ],\n  \"checks\": [\n")
	rows = nil
	for _, c := range checks {
		rows = append(rows, row(t, Revision{c.ID, c.Revision, proofs[c.ID]}))
	}
	b.WriteString(strings.Join(rows, ",\n") + "\n  ]\n}\n")
	require.NoError(t, os.WriteFile(revisionsFile, b.Bytes(), 0o644))
}

func row(t *testing.T, r Revision) string {
	t.Helper()
	b, err := json.Marshal(r)
	require.NoError(t, err)
	return "    " + strings.NewReplacer(`":`, `": `, `,"`, `, "`).Replace(string(b))
}

func TestWhatChangesASource(t *testing.T) {
	provider, contract := readBoth(t)
	before, err := contractSources(provider, contract)
	require.NoError(t, err)
	require.NotContains(t, before, "ssh", "nothing can implement a reserved capability")
	edit := func(src []byte, old, now string) []byte {
		t.Helper()
		require.Equal(t, 1, bytes.Count(src, []byte(old)), old)
		return bytes.Replace(src, []byte(old), []byte(now), 1)
	}
	changed := func(provider, contract []byte) []string {
		t.Helper()
		after, err := contractSources(provider, contract)
		require.NoError(t, err)
		var out []string
		for id := range after {
			if before[id] != after[id] {
				out = append(out, id)
			}
		}
		return out
	}
	require.Empty(t, changed(edit(provider, "List returns every sandbox that matches,", "List answers with every sandbox that matches,"),
		edit(contract, "What separates this sandbox from its host.", "What is between this sandbox and its host.")), "comments")
	require.Empty(t, changed(edit(provider, `"image.update": {`,
		`"teleport": {"title": "Teleport", "description": "Not yet.", "$ref": "#/$defs/claim", "x-sbx": {"question": "Can it?", "checks": []}}, "image.update": {`), contract), "a reserved capability")
	require.NotEmpty(t, changed(provider, edit(contract, `"user-kernel",`, `"userland-kernel",`)), "a word of a type")

	list := bytes.Index(provider, []byte(`"name": "List"`))
	require.Positive(t, list)
	head, rest := provider[:list], provider[list:]
	other := append(bytes.Clone(head), bytes.Replace(rest, []byte(`"retry": "safe"`), []byte(`"retry": "never"`), 1)...)
	require.Equal(t, []string{"list"}, changed(other, contract), "a retry class")

	checks, err := Checks()
	require.NoError(t, err)
	sources, err := checkSources(checks)
	require.NoError(t, err)
	checks[0].Implemented = !checks[0].Implemented
	checks[1].Sentence = "Something else holds."
	after, err := checkSources(checks)
	require.NoError(t, err)
	require.Equal(t, sources[checks[0].ID], after[checks[0].ID])
	recorded := []Revision{{checks[1].ID, 1, sources[checks[1].ID]}}
	require.Contains(t, strings.Join(unacknowledged("check", recorded, after), "\n"), checks[1].ID+" changed since its revision 1")
}
