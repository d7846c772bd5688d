package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/evidence"
	"github.com/agentworkforce/sbx/internal/gate"
	"github.com/agentworkforce/sbx/internal/gen"
	"github.com/agentworkforce/sbx/internal/secretscan"
	"github.com/agentworkforce/sbx/internal/yamldoc"
)

func newStatusCmd(s streams) *cobra.Command {
	var asOf string
	var asJSON bool
	c := &cobra.Command{
		Use:   "status [PROVIDER...]",
		Short: "Say what is verified, by which run, until when, and what to run next",
		Long: "status reads the catalog and judges what it links, as of now or of another day. An entry\n" +
			"that says verified and is refused, or whose run is too old, is unknown here. Capability\n" +
			"by capability it says what the linked run shows.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, ids []string) error {
			day, err := parseAsOf(asOf)
			if err != nil {
				return err
			}
			if day.IsZero() {
				day = time.Now()
			}
			p, err := loadProject(cmd, s, ids)
			if err != nil {
				return err
			}
			var all []providerStatus
			for _, m := range p.Manifests {
				if len(ids) > 0 && !slices.Contains(ids, m.ID()) {
					continue
				}
				st, err := statusOf(cmd, p, m, day)
				if err != nil {
					return err
				}
				st.hide()
				all = append(all, st)
			}
			return printStatus(s.out, all, asJSON)
		},
	}
	c.Flags().StringVar(&asOf, "as-of", "", "judge as if it were this `day`; default now")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// providerStatus is what holds of a provider on a day.
type providerStatus struct {
	Provider string `json:"provider"`
	Status   string `json:"status"`
	// Why it is unknown.
	Reason string `json:"reason,omitempty"`
	Run    string `json:"run,omitempty"`
	Until  string `json:"until,omitempty"`
	// Proven and Lacking are capabilities, the core as "core".
	Proven  []string `json:"proven"`
	Lacking []string `json:"lacking"`
	Next    string   `json:"next"`
}

// hide takes what looks like a credential out of what an entry says.
func (st *providerStatus) hide() {
	for _, text := range []*string{&st.Reason, &st.Run, &st.Until, &st.Next} {
		*text = secretscan.Hide(*text, secretscan.Options{})
	}
}

func statusOf(cmd *cobra.Command, p *gen.Project, m *gen.Manifest, day time.Time) (providerStatus, error) {
	st := providerStatus{Provider: m.ID(), Status: "unknown", Proven: []string{}, Lacking: []string{}}
	entry, found, err := readEntry(p.Root, m.ID())
	if err != nil {
		return st, err
	}
	st.Reason, _ = entry["reason"].(string)
	if !found {
		st.Reason = "there is no catalog/" + m.ID() + ".yaml"
	}
	link, until := linkedRun(entry)
	if entry["status"] == "verified" {
		set, _, err := gate.Validate(cmd.Context(), gate.Options{Root: p.Root, Paths: []string{path.Join("catalog", m.ID()+".yaml")}, AsOf: day})
		if err != nil {
			return st, err
		}
		st.Status, st.Reason = judged(set)
		st.Run, st.Until = link, until
	}
	if err := st.proofs(p, m, link); err != nil {
		return st, err
	}
	st.Next, err = next(p, m, st, link)
	return st, err
}

// judged is what findings about an entry leave of the word "verified".
func judged(set *diag.Set) (status, reason string) {
	var rules []string
	for _, d := range set.All() {
		if d.Severity == diag.Error && !slices.Contains(rules, d.Rule) {
			rules = append(rules, d.Rule)
		}
	}
	switch {
	case len(rules) == 0:
		return "verified", ""
	case len(rules) == 1 && rules[0] == gate.RuleExpired:
		return "unknown", "expired"
	}
	return "unknown", "refused: " + strings.Join(rules, ", ")
}

// readEntry reads a catalog entry; what cannot be read says nothing.
func readEntry(root, id string) (map[string]any, bool, error) {
	name := path.Join("catalog", id+".yaml")
	src, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	doc, _ := yamldoc.Parse(name, src)
	if doc == nil {
		return nil, true, nil
	}
	v, _ := doc.Value().(map[string]any)
	return v, true, nil
}

func linkedRun(entry map[string]any) (dir, until string) {
	until, _ = entry["expiresAt"].(string)
	links, _ := entry["evidence"].([]any)
	if len(links) == 0 {
		return "", until
	}
	first, _ := links[0].(map[string]any)
	name, _ := first["path"].(string)
	return path.Dir(name), until
}

// proofs says what the linked run shows of what is claimed now. Of an entry that
// is not verified nothing is proven, whatever its run says.
func (st *providerStatus) proofs(p *gen.Project, m *gen.Manifest, dir string) error {
	now, err := currentOf(p, m)
	if err != nil {
		return fmt.Errorf("%s: %w", m.ID(), err)
	}
	report := &conformance.Report{}
	if st.Status == "verified" && dir != "" {
		if report, err = reportOf(p.Root, dir); err != nil {
			return err
		}
	}
	for _, proof := range evidence.Proofs(report, now) {
		switch {
		case proof.Proven:
			st.Proven = append(st.Proven, proof.Capability)
		case proof.Supported:
			st.Lacking = append(st.Lacking, proof.Capability)
		}
	}
	return nil
}

// next is the command to run next.
func next(p *gen.Project, m *gen.Manifest, st providerStatus, link string) (string, error) {
	id := m.ID()
	if st.Status == "verified" {
		return "sbxgen evidence reproduce " + link, nil
	}
	if strings.HasPrefix(st.Reason, "refused") {
		return "sbxgen validate catalog/" + id + ".yaml", nil
	}
	if _, err := findSuite(p, id); err != nil {
		return "write an adapter: docs/CONTRIBUTING-provider.md", nil
	}
	runs, err := runsOf(p.Root, id)
	if err != nil || len(runs) == 0 || st.Reason == "expired" {
		return "sbxgen evidence collect " + id, err
	}
	dir := path.Join("evidence", id, runs[len(runs)-1])
	b, err := readBundle(p.Root, dir)
	if err != nil {
		return "", err
	}
	statement, err := b.Statement()
	switch {
	case err != nil:
		return "sbxgen evidence verify --record " + dir, nil
	case statement.Predicate.Verdict != evidence.Passed:
		return "sbxgen evidence show " + dir, nil
	case b.Files[evidence.EnvelopeName] == nil:
		return "sbxgen evidence sign " + dir + " --key FILE", nil
	}
	return "review " + dir + " (docs/REVIEWING.md), then link it in catalog/" + id + ".yaml", nil
}

func printStatus(w io.Writer, all []providerStatus, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(all)
	}
	for _, st := range all {
		line := fmt.Sprintf("%-12s %s", st.Provider, st.Status)
		if st.Status == "verified" {
			line += " until " + st.Until + " by " + st.Run
		} else if st.Reason != "" {
			line += " (" + st.Reason + ")"
		}
		if _, err := fmt.Fprintln(w, diag.Printable(line)); err != nil {
			return err
		}
		for _, row := range []struct {
			word  string
			names []string
		}{{"proven", st.Proven}, {"not proven", st.Lacking}} {
			if len(row.names) > 0 {
				fmt.Fprintf(w, "  %-11s %s\n", row.word, strings.Join(row.names, ", "))
			}
		}
		fmt.Fprintf(w, "  %-11s %s\n", "next", diag.Printable(st.Next))
	}
	return nil
}
