package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What changes from one run to the next is replaced by a word.
func scrubbed(d *desk, text string) string {
	text = strings.ReplaceAll(text, d.vars["SBX_STATE_DIR"], "STATE")
	text = strings.ReplaceAll(text, d.vars["HOME"], "HOME")
	for pattern, word := range map[string]string{
		`\d{8}T\d{6}Z-[0-9a-f]{12}`:                      "RUN",
		`"[0-9a-f]{32}"`:                                 `"INTENT"`,
		`sbx-[0-9a-f]{32}`:                               "sbx-INTENT",
		`"20(2[7-9]|26-(0[2-9]|1|01-0[3-9]))[^"]*Z"`:     `"NOW"`,
		`"20\d\d-\d\d-\d\dT[^"]*\.\d+(Z|[+-]\d\d:\d\d)"`: `"NOW"`,
		`"ms": \d+`:                `"ms": 0`,
		`"go": "[^"]+"`:            `"go": "GO"`,
		`"platform": "[^"]+"`:      `"platform": "PLATFORM"`,
		`"version": "[^"]+"`:       `"version": "VERSION"`,
		`"revision": "[^"]+",\n  `: "",
	} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, word)
	}
	return text
}

// Every verb prints JSON that programs read: one document, always the same shape.
// SBX_TEST_UPDATE=1 writes the files anew.
func TestJSONOfEveryVerb(t *testing.T) {
	d := newDesk(t)
	file := filepath.Join(d.vars["HOME"], "file")
	require.NoError(t, os.WriteFile(file, []byte("content"), 0o600))
	seen := map[string]bool{}
	for _, step := range []struct {
		name string
		exit int
		args []string
	}{
		{"new", 0, []string{"new", "--name", "first", "--label", "a=b", "--ttl", "1h", "--image", "big"}},
		{"new-for", 0, []string{"new", "--for", "key"}},
		{"new-usage", 2, []string{"new", "--image", "a", "--from-snapshot", "b"}},
		{"list", 0, []string{"list", "--label", "a=b"}},
		{"info", 0, []string{"info", "cloud:box-1"}},
		{"info-missing", 5, []string{"info", "cloud:none"}},
		{"exec", 7, []string{"exec", "cloud:box-1", "--", "fail"}},
		{"exec-lost", 125, []string{"exec", "cloud:box-1", "--", "lose"}},
		{"exec-detach", 4, []string{"exec", "--detach", "cloud:box-1", "--", "say"}},
		{"run", 0, []string{"run", "--", "say", "hello"}},
		{"run-lost", 125, []string{"run", "--", "lose"}},
		{"ssh", 125, []string{"ssh", "cloud:box-1"}},
		{"scp", 0, []string{"scp", file, "cloud:box-1:/there"}},
		{"stop", 0, []string{"stop", "cloud:box-1"}},
		{"start", 0, []string{"start", "cloud:box-1"}},
		{"suspend", 4, []string{"suspend", "cloud:box-1"}},
		{"resume", 4, []string{"resume", "cloud:box-1"}},
		{"restart", 4, []string{"restart", "cloud:box-1"}},
		{"snapshot", 0, []string{"snapshot", "cloud:box-1", "--name", "snap"}},
		{"snapshots", 0, []string{"snapshots"}},
		{"fork", 0, []string{"fork", "cloud:box-1"}},
		{"ports", 0, []string{"ports", "cloud:box-1", "80"}},
		{"logs", 0, []string{"logs", "cloud:box-1"}},
		{"prompt", 4, []string{"prompt", "cloud:box-1", "hello"}},
		{"extend", 4, []string{"extend", "cloud:box-1", "--ttl", "1h"}},
		{"adopt", 0, []string{"adopt", "cloud:box-1"}},
		{"snapshots-rm", 0, []string{"snapshots", "rm", "cloud:snap-5"}},
		{"rm", 5, []string{"rm", "cloud:box-1", "cloud:none"}},
		{"providers", 0, []string{"providers", "--check"}},
		{"capabilities", 0, []string{"capabilities", "cloud"}},
		{"egress-check", 4, []string{"egress-check", "--policy", "10.0.0.0/8"}},
		{"version", 0, []string{"version"}},
	} {
		seen[step.args[0]] = true
		golden(d, step.name, step.exit, step.args...)
	}
	one := newDesk(t) // runs of the same second have no order
	require.Equal(t, 0, one.sbx("new"))
	golden(one, "reap", 0, "reap")
	golden(one, "ledger-verify", 0, "ledger", "verify")
	golden(one, "ledger-show", 0, "ledger", "show")
	seen["reap"], seen["ledger"] = true, true
	for _, c := range newRootCmd(&app{}).Commands() {
		require.True(t, seen[c.Name()] || c.Hidden, "%s has no golden JSON", c.Name())
	}
}

// golden compares what one command prints with what it has always printed.
func golden(d *desk, name string, exit int, args ...string) {
	t := d.t
	t.Helper()
	require.Equal(t, exit, d.sbx(append([]string{"--json"}, args...)...), "%s: %s", name, d.err.String())
	require.True(t, json.Valid(d.out.Bytes()), "%s: %s", name, d.out.String())
	file := filepath.Join("testdata", "json", name+".json")
	got := scrubbed(d, d.out.String())
	if os.Getenv("SBX_TEST_UPDATE") != "" {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got, name)
}
