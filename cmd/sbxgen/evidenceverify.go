package main

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentworkforce/sbx/internal/evidence"
	"github.com/agentworkforce/sbx/internal/gen"
	"github.com/agentworkforce/sbx/internal/gitleaks"
)

func newEvidenceVerifyCmd(s streams) *cobra.Command {
	var asOf string
	var record bool
	c := &cobra.Command{
		Use:   "verify RUN...",
		Short: "Judge runs: do they prove what their provider claims now",
		Long: "verify computes everything again that a run says about itself: digests, signature, mode,\n" +
			"counts, statistics, balance, coverage, and whether it is about the provider as it stands.\n" +
			"With --record it asks only whether the folder is what its statement says, as for a failed\n" +
			"run that is kept. What a catalog entry says about a run is asked by sbxgen validate.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runVerify(cmd, s, args, asOf, record) },
	}
	c.Flags().StringVar(&asOf, "as-of", "", "judge as if it were this `day`; default now")
	c.Flags().BoolVar(&record, "record", false, "judge as a record, not as a proof")
	return c
}

func runVerify(cmd *cobra.Command, s streams, args []string, asOf string, record bool) error {
	now, err := parseAsOf(asOf)
	if err != nil {
		return err
	}
	if now.IsZero() {
		now = time.Now()
	}
	root, module, err := treeRoot(cmd)
	if err != nil {
		return err
	}
	keys, err := readKeys(s, root)
	if err != nil {
		return err
	}
	var p *gen.Project
	if !record && module != "" {
		if p, _, err = gen.Load(cmd.Context(), root, module); err != nil {
			return err
		}
	}
	deep, err := gitleaks.New()
	if err != nil {
		return err
	}
	bad := false
	for _, arg := range args {
		dir, err := findRun(root, arg)
		if err != nil {
			return err
		}
		o := evidence.Options{Now: now, Keys: keys, RequireSignature: true, Deep: deep}
		found, err := verifyRun(root, dir, p, o, record)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			bad = true
			printEvidenceFindings(s.out, dir, found)
			fmt.Fprintf(s.out, "%s: refused, %s\n", dir, count(len(found), "reason"))
			continue
		}
		word := "proves what its provider claims"
		if record {
			word = "is what its statement says"
		}
		fmt.Fprintf(s.out, "%s: %s\n", dir, word)
	}
	if bad {
		return findingsError{}
	}
	return nil
}

// verifyRun judges one run against its provider as it stands, or as a record.
func verifyRun(root, dir string, p *gen.Project, o evidence.Options, record bool) ([]evidence.Finding, error) {
	b, err := readBundle(root, dir)
	if err != nil {
		return nil, err
	}
	provider := path.Base(path.Dir(dir))
	if !record {
		if p == nil {
			return nil, usagef("there is no module here, so a run can be judged as a record only: --record")
		}
		m, ok := manifestOf(p, provider)
		if !ok {
			return nil, usagef("there is no provider %q here, so its run can be judged as a record only: --record", provider)
		}
		if o.Current, err = currentOf(p, m); err != nil {
			return nil, err
		}
	}
	found, err := evidence.Verify(b, o)
	if record {
		found = slices.DeleteFunc(found, func(f evidence.Finding) bool {
			return f.Kind.Class() == evidence.ClassProof || f.Kind.Class() == evidence.ClassCurrency
		})
	}
	return found, err
}

// printEvidenceFindings prints findings about the files of a folder.
func printEvidenceFindings(w io.Writer, dir string, found []evidence.Finding) {
	w = plainWriter{w}
	for _, f := range found {
		place := path.Join(dir, f.File)
		if f.Line > 0 {
			place += fmt.Sprintf(":%d", f.Line)
		}
		if f.Pointer != "" {
			place += "#" + f.Pointer
		}
		fmt.Fprintf(w, "%s: %s [%s]\n", place, f.Message, f.Kind)
	}
}

func newEvidenceShowCmd(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "show RUN",
		Short: "Say what a run is: verdict, mode, what it proves of each capability, and why not more",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			root, module, err := treeRoot(cmd)
			if err != nil {
				return err
			}
			dir, err := findRun(root, args[0])
			if err != nil {
				return err
			}
			b, err := readBundle(root, dir)
			if err != nil {
				return err
			}
			statement, err := b.Statement()
			if err != nil {
				return err
			}
			showStatement(s.out, dir, statement)
			if err := showReport(s.out, b); err != nil {
				return err
			}
			if module == "" {
				return nil
			}
			p, _, err := gen.Load(cmd.Context(), root, module)
			if err != nil {
				return err
			}
			return showProofs(s.out, p, b)
		},
	}
}

func showStatement(w io.Writer, dir string, st *evidence.Statement) {
	w = plainWriter{w}
	p := st.Predicate
	fmt.Fprintf(w, "run       %s\nprovider  %s\nverdict   %s\nmode      %s\nfrom      %s\nto        %s\nfresh to  %s\n", dir, p.Provider, p.Verdict, p.Mode,
		p.StartedAt.Format(time.RFC3339Nano), p.FinishedAt.Format(time.RFC3339Nano), p.ExpiresAt().UTC().Format(time.RFC3339Nano))
	fmt.Fprintf(w, "made by   sbxgen %s, suite %d, %s/%s, %s\n", p.Versions.Tool, p.Versions.Suite, p.Environment.OS, p.Environment.Arch, p.Environment.Go)
	if p.Producer != nil {
		fmt.Fprintf(w, "producer  %s\n", strings.Join(slices.DeleteFunc([]string{p.Producer.Person, p.Producer.Agent, p.Producer.Node, p.Producer.WorkUnit},
			func(s string) bool { return s == "" }), ", "))
	}
	fmt.Fprintf(w, "target    account %s\n", p.Target.Account)
	for _, e := range p.Target.Endpoints {
		fmt.Fprintf(w, "          %s %s key %s\n", e.Name, e.Origin, e.TLSKey)
	}
	for _, m := range p.Missing {
		fmt.Fprintf(w, "missing   %s\n", m)
	}
	for _, r := range p.Reasons {
		fmt.Fprintf(w, "why       %s\n", r)
	}
}

func newEvidenceReproduceCmd(s streams) *cobra.Command {
	var parallel int
	c := &cobra.Command{
		Use:   "reproduce RUN",
		Short: "Run the suite again and compare its verdicts with those of a run that was kept",
		Long: "reproduce runs the suite as it is now against the provider as it is now, writes nothing,\n" +
			"and names every check that ended differently. The exit code is 1 when a check that\n" +
			"passed then did not pass now, or when an owed one cannot be judged.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runReproduce(cmd, s, args[0], parallel) },
	}
	c.Flags().IntVar(&parallel, "parallel", 4, "checks that may run at once")
	return c
}
