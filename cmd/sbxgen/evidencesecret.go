package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/internal/evidence"
	"github.com/agentworkforce/sbx/internal/gate"
	"github.com/agentworkforce/sbx/internal/gitleaks"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// newDummy makes a secret that opens nothing.
func newDummy() (string, error) {
	b := make([]byte, 16)
	if _, err := rand.Read(b); err != nil {
		return "", err
	}
	return gate.DummyPrefix + hex.EncodeToString(b), nil
}

// setting is a value of a manifest that comes from a variable.
type setting struct{ key, env string }

// credentialSets are the alternatives of a manifest's credentials.
func credentialSets(manifest any) [][]setting {
	m, _ := manifest.(map[string]any)
	sets, _ := m["credentialSets"].([]any)
	var out [][]setting
	for _, set := range sets {
		rows, _ := set.([]any)
		var one []setting
		for _, row := range rows {
			r, _ := row.(map[string]any)
			env, _ := r["env"].(string)
			key, _ := r["key"].(string)
			one = append(one, setting{key, env})
		}
		out = append(out, one)
	}
	return out
}

// missingCredentials names the variables of the set that lacks least; none when
// one is complete. A blank variable is absent.
func missingCredentials(manifest any, getenv func(string) string) []string {
	var best []string
	for i, set := range credentialSets(manifest) {
		var missing []string
		for _, c := range set {
			if strings.TrimSpace(getenv(c.env)) == "" {
				missing = append(missing, c.env)
			}
		}
		if len(missing) == 0 {
			return nil
		}
		if i == 0 || len(missing) < len(best) {
			best = missing
		}
	}
	return best
}

// overrides are the addresses that variables put in place of the manifest's.
func overrides(manifest any, getenv func(string) string) map[string]string {
	m, _ := manifest.(map[string]any)
	rows, _ := m["endpoints"].([]any)
	out := map[string]string{}
	for _, row := range rows {
		r, _ := row.(map[string]any)
		name, _ := r["name"].(string)
		env, _ := r["env"].(string)
		if v := strings.TrimSpace(getenv(env)); env != "" && v != "" {
			out[name] = v
		}
	}
	return out
}

// redactor knows the dummy secret and every credential that is set here.
func (c *collection) redactor() (*wire.Redactor, error) {
	secrets := []wire.NamedSecret{{Name: "dummy", Value: port.NewSecret(c.dummy)}}
	for _, set := range credentialSets(c.manifest.Value()) {
		for _, s := range set {
			if v := c.s.getenv(s.env); strings.TrimSpace(v) != "" {
				secrets = append(secrets, wire.NamedSecret{Name: s.env, Value: port.NewSecret(v)})
			}
		}
	}
	return wire.NewRedactor(secrets...)
}

// Controls of collect itself; that inside a sandbox is the suite's.
const (
	controlOutput    = "dummy-secret-not-in-output"
	controlProcesses = "dummy-secret-not-in-processes"
)

// control adds to the report whether the dummy secret was seen in what the runs
// printed and in the processes that they started.
func (c *collection) control(report *conformance.Report, output []byte, watch *processWatch) {
	if strings.Contains(string(output), c.dummy) {
		report.Problems = append(report.Problems, "the secret that was injected on purpose is in what the run printed")
	} else {
		report.Controls = append(report.Controls, controlOutput)
	}
	switch found, looked := watch.result(); {
	case len(found) > 0:
		for _, f := range found {
			report.Problems = append(report.Problems, "the secret that was injected on purpose is in "+f)
		}
	case looked > 0:
		report.Controls = append(report.Controls, controlProcesses)
	}
	if !slices.Contains(report.Controls, conformance.ControlDummy) && report.Counts.Executed > 0 && len(report.Problems) == 0 {
		report.Problems = append(report.Problems, "nobody looked for the injected secret inside a sandbox")
	}
}

// secrecy refuses a bundle that must not be published, and makes sure that the
// search finds a secret that is there.
func (c *collection) secrecy(b *evidence.Bundle) error {
	redactor, err := c.redactor()
	if err != nil {
		return err
	}
	planted := &evidence.Bundle{Provider: b.Provider, Run: b.Run, Files: maps.Clone(b.Files)}
	planted.Files[evidence.PlotName] = []byte("<svg>" + c.dummy + "</svg>\n")
	if !slices.ContainsFunc(planted.Secrets(evidence.Options{Secrets: redactor}), func(f evidence.Finding) bool { return f.Kind == evidence.KindKnownSecret }) {
		return fmt.Errorf("the search for secrets does not find a planted one, so it proves nothing")
	}
	deep, err := gitleaks.New()
	if err != nil {
		return err
	}
	found := b.Secrets(evidence.Options{Secrets: redactor, Deep: deep})
	if len(found) == 0 {
		return nil
	}
	printEvidenceFindings(c.s.out, "the run", found)
	fmt.Fprintln(c.s.err, "nothing was written: the records hold what must not be published")
	return findingsError{}
}

// toolVersion is the version of this program.
func toolVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// commitOf is the commit of a tree, as information; empty when it is not known.
func commitOf(ctx context.Context, root string) string {
	cmd := exec.CommandContext(ctx, "git", "rev-parse", "HEAD")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
