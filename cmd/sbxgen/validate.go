package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/gate"
	"github.com/agentworkforce/sbx/internal/gen"
	"github.com/agentworkforce/sbx/internal/gen/tree"
)

// validateFlags are what the command line of validate says.
type validateFlags struct {
	asOf, format    string
	strict, noCache bool
	fix, deep       bool
	types           bool
}

func newValidateCmd(s streams) *cobra.Command {
	var flags validateFlags
	c := &cobra.Command{
		Use:   "validate [PATH...]",
		Short: "Refuse manifests that are wrong and claims that nothing proves",
		Long: "validate checks manifests, catalog entries, evidence, generated files, adapter code and\n" +
			"secrets, and names every mistake at its line and column in one run. With paths it\n" +
			"reports about these only; without, about the whole module, generated files included.\n\n" +
			"Findings go to standard output, a summary to standard error. The exit code is 0 when\n" +
			"there is no error, 1 when there is one, 2 when the command was called wrongly and 3\n" +
			"when validate itself failed. Warnings do not count unless --strict is given.\n\n" +
			"With --fix an entry that says verified and is refused for what its evidence shows is\n" +
			"set to unknown, with the reason; comments, links and everything else stay. Nothing\n" +
			"ever sets an entry to verified but a person.\n\n" +
			"With --deep the rules of gitleaks look for secrets in the same files, besides the scan\n" +
			"that always runs. They look through base64, and take a second for a tree like sbx.\n\n" +
			"With --types adapters are also compiled against what their manifests claim, and what\n" +
			"they export is searched for the vendor's own types. That builds what they import.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, paths []string) error { return runValidate(cmd, s, flags, paths) },
	}
	c.Flags().StringVar(&flags.asOf, "as-of", "", "check as if it were this `day` (2026-08-21, or with a time as in RFC 3339); default now")
	c.Flags().BoolVar(&flags.strict, "strict", false, "take warnings for errors")
	c.Flags().BoolVar(&flags.fix, "fix", false, "write status unknown, with the reason, into entries whose evidence is refused")
	c.Flags().BoolVar(&flags.deep, "deep", false, "look for secrets with the rules of gitleaks, too")
	c.Flags().BoolVar(&flags.types, "types", false, "compile adapters against their claims, and look at the types they export")
	c.Flags().StringVar(&flags.format, "format", "text", "text, json, sarif or github")
	c.Flags().BoolVar(&flags.noCache, "no-cache", false, "neither read nor write what earlier runs found")
	return c
}

func runValidate(cmd *cobra.Command, s streams, flags validateFlags, paths []string) error {
	printer, ok := printers()[flags.format]
	if !ok {
		return usagef("--format %q: one of text, json, sarif, github%s", flags.format, meant(flags.format, "text", "json", "sarif", "github"))
	}
	asOf, err := parseAsOf(flags.asOf)
	if err != nil {
		return err
	}
	folder, err := startFolder(cmd)
	if err != nil {
		return err
	}
	opt := gate.Options{AsOf: asOf, Strict: flags.strict, NoCache: flags.noCache, Deep: flags.deep}
	module := ""
	if opt.Root, module, err = moduleRoot(folder); err != nil {
		return err
	}
	if len(paths) == 0 && module == "" && !holdsProviders(folder) {
		return usagef("%s is no project: there is no go.mod here or above, and no provider.yaml, providers or catalog here; "+
			"give the paths to check, or --chdir with a project's folder", folder)
	}
	if opt.Types = flags.types; opt.Types {
		if _, err := exec.LookPath("go"); err != nil || module == "" {
			return usagef("--types needs a go.mod here or above, and the go command in PATH")
		}
	}
	for _, p := range paths {
		if p == "" {
			return usagef("a PATH is empty; give it a value, or leave it out")
		}
		if !filepath.IsAbs(p) {
			p = filepath.Join(folder, p)
		}
		opt.Paths = append(opt.Paths, p)
	}
	if len(paths) == 0 && module != "" {
		opt.Sources = []gate.Source{generatedFiles(module)}
	}
	set, stats, err := gate.Validate(cmd.Context(), opt)
	if err != nil {
		return badPath(err)
	}
	if flags.fix {
		if err := demote(s, opt.Root, set); err != nil {
			return err
		}
		if set, stats, err = gate.Validate(cmd.Context(), opt); err != nil {
			return err
		}
	}
	if stats.Files == 0 && len(paths) == 0 && set.Len() == 0 {
		return usagef("%s: there is no provider.yaml and no catalog below this folder", opt.Root)
	}
	if err := printer(s, set, opt.Root); err != nil {
		return err
	}
	return summary(s, set, stats)
}

// holdsProviders reports whether a folder without a go.mod is a project all the
// same, so that a whole disk is never looked through for one.
func holdsProviders(folder string) bool {
	for _, name := range []string{gate.ManifestName, "providers", "catalog"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
			return true
		}
	}
	return false
}

// moduleRoot is the folder that names in findings are relative to: that of
// go.mod, else the folder itself.
func moduleRoot(folder string) (root, module string, err error) {
	root, module, err = gen.FindModule(folder)
	var none *gen.ModuleError
	if errors.As(err, &none) {
		if !none.Absent {
			return "", "", usageError{err}
		}
		return folder, "", nil
	}
	return root, module, err
}

func parseAsOf(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.Add(24*time.Hour - time.Nanosecond), nil // all of that day has been
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	return time.Time{}, usagef("--as-of %q: neither a day such as 2026-08-21 nor a time such as 2026-08-21T14:03:00Z", text)
}

func meant(word string, words ...string) string {
	if near := diag.Suggest(word, words); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// generatedFiles finds what is not current among the generated files. What is
// wrong with the manifests themselves is found without it; providers whose
// manifest is wrong are left out.
func generatedFiles(module string) gate.Source {
	return gate.SourceFunc(func(ctx context.Context, root string, _ []string) ([]diag.Diagnostic, error) {
		p, wrong, err := gen.Load(ctx, root, module)
		if err != nil || len(p.Manifests) == 0 {
			return wrong, err
		}
		var ids []string
		if len(wrong) > 0 {
			for _, m := range p.Manifests {
				ids = append(ids, m.ID())
			}
		}
		plan, err := p.Plan(ids...)
		if err != nil || len(plan.Units) == 0 {
			return wrong, err
		}
		report, err := tree.Check(ctx, root, plan, tree.CheckOptions{NoDiff: true})
		if err != nil {
			return nil, err
		}
		return append(wrong, generatedFindings(report.Findings)...), nil
	})
}

// generatedFindings phrases findings of the generated files. Of a provider that
// was never generated there is one, at its manifest.
func generatedFindings(all []tree.Finding) []diag.Diagnostic {
	never := map[string]bool{}
	for _, f := range all {
		if f.Cause == tree.NeverGenerated && f.Unit != "catalog" && f.Path == path.Join(f.Unit, tree.LockName) {
			never[f.Unit] = true
		}
	}
	var found []diag.Diagnostic
	for _, f := range all {
		g := gate.GeneratedFile{Path: f.Path, Line: f.Line, Word: string(f.Word), Cause: string(f.Cause), Name: f.Name, Detail: f.Detail}
		switch {
		case !never[f.Unit]:
			found = append(found, gate.Generated(g))
		case f.Cause == tree.NeverGenerated:
			g.Path = path.Join(f.Unit, gen.ManifestName)
			found = append(found, gate.Generated(g))
		}
		if f.Also != "" {
			g.Word, g.Cause = string(f.Also), ""
			found = append(found, gate.Generated(g))
		}
	}
	return found
}

// badPath marks an error about a path that was given as the caller's.
func badPath(err error) error {
	var bad *gate.PathError
	if errors.As(err, &bad) {
		return usageError{err}
	}
	return err
}

// summary prints the numbers of a run and answers findingsError when there is
// an error among the findings.
func summary(s streams, set *diag.Set, stats gate.Stats) error {
	line := fmt.Sprintf("%s; %d files checked", set.Counts(), stats.Files)
	if stats.Cached > 0 {
		line += fmt.Sprintf(", %d of them unchanged since the last run", stats.Cached)
	}
	if stats.Ignored > 0 {
		line += fmt.Sprintf("; %d paths hold nothing to check", stats.Ignored)
	}
	if _, err := fmt.Fprintln(s.err, line); err != nil {
		return err
	}
	if stats.CacheError != nil {
		if _, err := fmt.Fprintf(s.err, "no cache: %v\n", stats.CacheError); err != nil {
			return err
		}
	}
	if set.Err() != nil {
		return findingsError{}
	}
	return nil
}

// printer writes findings in one format.
type printer func(s streams, set *diag.Set, root string) error

func printers() map[string]printer {
	return map[string]printer{
		"text": func(s streams, set *diag.Set, root string) error {
			return diag.Text(s.out, set, diag.TextOptions{Color: inColor(s), Source: gate.Mask(set, sourceReader(root))})
		},
		"json":   func(s streams, set *diag.Set, _ string) error { return diag.JSON(s.out, set) },
		"github": func(s streams, set *diag.Set, _ string) error { return diag.GitHub(s.out, set) },
		"sarif": func(s streams, set *diag.Set, _ string) error {
			return diag.SARIF(s.out, set, diag.SARIFOptions{Rule: describeRule})
		},
	}
}

func describeRule(id string) (title, page string) {
	r, err := gate.Explain(id)
	if err != nil {
		return "", ""
	}
	anchor := strings.ToLower(strings.ReplaceAll(id+"-"+r.Title, " ", "-"))
	return r.Title, "https://github.com/agentworkforce/sbx/blob/main/docs/reference/rules.md#" + anchor
}

func inColor(s streams) bool {
	f, ok := s.out.(*os.File)
	return ok && s.getenv("NO_COLOR") == "" && s.getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}
