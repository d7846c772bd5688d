package gate

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/internal/diag"
)

// fakeScanner is a program that is called like gitleaks 8.19 and reports every
// word that begins with "hush", as gitleaks would: with the value, and with a
// column that is wrong. "broken" in a file makes it fail.
const fakeScanner = `package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

type finding struct {
	RuleID, File, Secret, Match      string
	StartLine, EndLine, StartColumn int
}

func main() {
	if os.Getenv("GITLEAKS_CONFIG") != "" || len(os.Args) != 10 || os.Args[1] != "dir" || os.Args[3] != "--report-format" ||
		os.Args[4] != "json" || os.Args[5] != "--report-path" || os.Args[8] != "--exit-code" || os.Args[9] != "0" {
		os.Exit(126)
	}
	found := []finding{}
	filepath.WalkDir(os.Args[2], func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if bytes.Contains(src, []byte("broken")) {
			os.Exit(1)
		}
		for _, at := range regexp.MustCompile("hush[a-z]+").FindAllIndex(src, -1) {
			secret := string(src[at[0]:at[1]])
			line := 1 + bytes.Count(src[:at[0]], []byte{10})
			if secret == "hushdecoded" {
				secret = "what it says when it is decoded"
			}
			found = append(found, finding{RuleID: "generic-api-key", File: name, Secret: secret, Match: secret, StartLine: line, EndLine: line, StartColumn: 400})
		}
		return nil
	})
	os.Stderr.WriteString("leaks: ")
	out, _ := json.Marshal(found)
	os.Stderr.Write(out)
	os.WriteFile(os.Args[6], out, 0o600)
}
`

func buildFakeScanner(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "gitleaks")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(fakeScanner), 0o600))
	out, err := exec.Command("go", "build", "-o", program, filepath.Join(dir, "main.go")).CombinedOutput()
	require.NoError(t, err, string(out))
	return program
}

func TestDeepScan(t *testing.T) {
	program := buildFakeScanner(t)
	t.Setenv("GITLEAKS_CONFIG", "lets-everything-pass.toml")
	root := write(t, map[string]string{
		"providers/acme/provider.yaml": goodManifest(t, "acme") + "hushproperty: x\n",
		"providers/acme/README.md":     "# Acme\n\né hushvalue and hushdecoded\n",
		"notes.md":                     "hushnotours\n",
		"catalog/acme.yaml":            "provider: acme\nstatus: unknown\nreason: No live run has been made.\n",
	})
	set, _ := check(t, Options{Root: root, NoCache: true, Deep: program}, newCheckers())
	var places []string
	for _, d := range set.All() {
		if d.Rule == ruleDeepSecret {
			places = append(places, diag.Diagnostic{File: d.File, Line: d.Line, Col: d.Col, EndCol: d.EndCol, Message: d.Message}.String())
			require.Equal(t, diag.Error, d.Severity)
		}
	}
	require.Len(t, places, 3)
	require.Contains(t, places[0]+places[1], "providers/acme/README.md:3:3: error: gitleaks takes this for a secret: generic-api-key")
	require.Contains(t, places[0]+places[1], "providers/acme/README.md:3:1: error: gitleaks takes this for a secret: generic-api-key")
	require.Regexp(t, `^providers/acme/provider.yaml:\d+:1: `, places[2])
	var out bytes.Buffer
	require.NoError(t, diag.Text(&out, set, diag.TextOptions{Source: Mask(set, readBelow(root))}))
	require.NoError(t, diag.JSON(&out, set))
	require.NotContains(t, out.String(), "hush", "no value is printed")
	require.NotContains(t, out.String(), "decoded")
	require.Contains(t, out.String(), "SBX120", "the finding whose words had the value in them")

	quiet, _ := check(t, Options{Root: root, NoCache: true}, newCheckers())
	require.NotContains(t, strings.Join(rules(quiet), " "), ruleDeepSecret)

	require.NoError(t, os.WriteFile(filepath.Join(root, "providers", "acme", "README.md"), []byte("broken\n"), 0o600))
	_, _, err := Validate(context.Background(), Options{Root: root, NoCache: true, Deep: program})
	var failed *DeepError
	require.ErrorAs(t, err, &failed)
	require.NotContains(t, err.Error(), "hush")
}
