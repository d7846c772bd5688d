package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/gate"
	"github.com/agentworkforce/sbx/internal/gen"
	"github.com/agentworkforce/sbx/internal/gen/tree"
)

func newGenerateCmd(s streams) *cobra.Command {
	var check, diff bool
	c := &cobra.Command{
		Use:   "generate [PROVIDER...]",
		Short: "Write what follows from the schema and the manifests",
		Long: "generate writes every generated file of this module, or of the named providers.\n" +
			"It never touches what you wrote: adapter.go, adapter_test.go, provider.yaml and the\n" +
			"text outside the markers of README.md and CHECKLIST.md are yours. Hand edits of what\n" +
			"is generated are saved under .sbxgen/lost before they are overwritten.\n\n" +
			"With --check nothing is written; the exit code is 1 when something is not current:\n" +
			"  changed      an input changed, so this file would come out differently\n" +
			"  missing      the file is not there\n" +
			"  orphan       nothing produces this file any more\n" +
			"  hand-edited  somebody changed a generated file\n" +
			"  interrupted  a generate was killed; running it again completes it",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, ids []string) error {
			p, err := loadProject(cmd, s, ids)
			if err != nil {
				return err
			}
			if len(p.Manifests)+len(p.Retired) == 0 && !p.InTree {
				return usagef("%s: there is no provider.yaml in this module; make one with: sbxgen new provider", p.Root)
			}
			if check {
				err = checkTree(cmd.Context(), p, ids, diff, s)
			} else {
				err = writeTree(cmd.Context(), p, ids, diff, s)
			}
			var base *gen.BaseError
			if errors.As(err, &base) {
				return usageError{err}
			}
			return err
		},
	}
	c.Flags().BoolVar(&check, "check", false, "write nothing; exit 1 when something is not current")
	c.Flags().BoolVar(&diff, "diff", false, "print unified diffs; without --check, write nothing either")
	return c
}

// loadProject finds the module, loads its manifests and prints their findings:
// with ids those that stand in the way of these providers. An unknown provider ID is a usage error that names the known ones.
func loadProject(cmd *cobra.Command, s streams, ids []string) (*gen.Project, error) {
	dir, err := cmd.Flags().GetString("chdir")
	if err != nil {
		return nil, err
	}
	if dir == "" {
		dir = "."
	}
	root, module, err := gen.FindModule(dir)
	var noModule *gen.ModuleError
	if errors.As(err, &noModule) {
		return nil, usageError{err}
	}
	if err != nil {
		return nil, err
	}
	p, found, err := gen.Load(cmd.Context(), root, module)
	if err != nil {
		return nil, err
	}
	if len(ids) > 0 {
		found = p.InTheWay(found, ids...)
	}
	if err := printFindings(s.err, found, root); err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return p, nil
	}
	var known []string
	for _, m := range p.Manifests {
		known = append(known, m.ID())
	}
	for _, id := range ids {
		if !slices.Contains(known, id) {
			hint := "known here: " + strings.Join(known, ", ")
			if near := diag.Suggest(id, known); near != "" {
				hint = "did you mean " + near + "?"
			}
			return nil, usagef("no provider %q in %s (%s)", id, module, hint)
		}
	}
	return p, nil
}

// printFindings prints diagnostics and answers findingsError when there is an
// error among them.
func printFindings(w io.Writer, found []diag.Diagnostic, root string) error {
	return printFindingsIn(w, found, sourceReader(root))
}

// printFindingsIn is printFindings about files that source reads.
func printFindingsIn(w io.Writer, found []diag.Diagnostic, source func(file string) []byte) error {
	var set diag.Set
	set.Add(found...)
	if set.Len() == 0 {
		return nil
	}
	if err := diag.Text(w, &set, diag.TextOptions{Source: gate.Mask(&set, source)}); err != nil {
		return err
	}
	if set.Err() == nil {
		return nil
	}
	fmt.Fprintln(w, set.Counts())
	return findingsError{}
}

func checkTree(ctx context.Context, p *gen.Project, ids []string, diff bool, s streams) error {
	plan, err := p.Plan(ids...)
	if err != nil {
		return err
	}
	report, err := tree.Check(ctx, p.Root, plan, tree.CheckOptions{RenderAll: p.InTree, NoDiff: !diff})
	if err != nil {
		return err
	}
	for _, f := range report.Findings {
		fmt.Fprintln(s.out, f.String())
		if diff && f.Diff != "" {
			fmt.Fprint(s.out, f.Diff)
		}
	}
	if !report.Clean() {
		fmt.Fprintf(s.err, "%s; %s\n", count(len(report.Findings), "finding"), remedy(report.Findings))
		return findingsError{}
	}
	fmt.Fprintf(s.err, "generated files are current (%d compared)\n", report.Hashed)
	return nil
}

// remedy says what puts the findings right: the command, except for what only a
// person may decide about, such as a file that no lock lists.
func remedy(findings []tree.Finding) string {
	byHand := 0
	for _, f := range findings {
		if f.ByHand {
			byHand++
		}
	}
	switch {
	case byHand == 0:
		return "fix with: sbxgen generate"
	case byHand == len(findings):
		return "sbxgen generate leaves these alone: put them right, or delete them, by hand"
	}
	return fmt.Sprintf("fix with: sbxgen generate, which leaves %d of them to put right, or delete, by hand", byHand)
}

// count writes a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func writeTree(ctx context.Context, p *gen.Project, ids []string, dryRun bool, s streams) error {
	result, err := applyTree(ctx, p, ids, dryRun)
	var refused *tree.RefusedError
	if errors.As(err, &refused) {
		for _, f := range refused.Findings {
			fmt.Fprintln(s.out, f.String())
		}
		fmt.Fprintln(s.err, "nothing was written: the places above have to be put right by hand first")
		return findingsError{}
	}
	if err != nil {
		return err
	}
	printResult(s.out, result, dryRun)
	if len(result.Remaining()) > 0 {
		for _, f := range result.Remaining() {
			fmt.Fprintln(s.err, f.String())
		}
		return findingsError{}
	}
	return nil
}

// applyTree makes the files current. Stubs that were appended to an adapter are
// themselves something its checklist speaks of, so a second pass follows them.
func applyTree(ctx context.Context, p *gen.Project, ids []string, dryRun bool) (tree.Result, error) {
	opts := tree.Options{DryRun: dryRun, Force: true, RenderAll: p.InTree}
	plan, err := p.Plan(ids...)
	if err != nil {
		return tree.Result{}, err
	}
	result, err := tree.Apply(ctx, p.Root, plan, opts)
	appended := slices.ContainsFunc(result.Written, func(name string) bool { return path.Base(name) == "adapter.go" })
	if err != nil || dryRun || !appended {
		return result, err
	}
	if plan, err = p.Plan(ids...); err != nil {
		return result, err
	}
	second, err := tree.Apply(ctx, p.Root, plan, opts)
	for _, name := range second.Written {
		if !slices.Contains(result.Written, name) {
			result.Written = append(result.Written, name)
		}
	}
	slices.Sort(result.Written)
	return result, err
}

func printResult(w io.Writer, r tree.Result, dryRun bool) {
	if r.Recovered {
		fmt.Fprintln(w, "completed an interrupted generate first")
	}
	for _, list := range []struct {
		word  string
		paths []string
	}{{"created", r.Created}, {"written", r.Written}, {"removed", r.Removed}, {"repaired", r.Repaired}} {
		for _, path := range list.paths {
			fmt.Fprintf(w, "%-8s %s\n", list.word, path)
		}
	}
	for _, saved := range r.Saved {
		fmt.Fprintf(w, "%-8s %s (your edits are in %s)\n", "saved", saved.Path, saved.Copy)
	}
	if dryRun {
		for _, f := range r.Findings {
			fmt.Fprint(w, f.Diff)
		}
	}
	if len(r.Created)+len(r.Written)+len(r.Removed)+len(r.Repaired) == 0 {
		fmt.Fprintln(w, "everything is current")
	}
}
