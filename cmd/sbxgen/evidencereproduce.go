package main

import (
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/spf13/cobra"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/internal/evidence"
	"github.com/agentworkforce/sbx/internal/gen"
)

func runReproduce(cmd *cobra.Command, s streams, name string, parallel int) (err error) {
	root, _, err := treeRoot(cmd)
	if err != nil {
		return err
	}
	dir, err := findRun(root, name)
	if err != nil {
		return err
	}
	before, err := reportOf(root, dir)
	if err != nil {
		return err
	}
	id := path.Base(path.Dir(dir))
	p, err := loadProject(cmd, s, []string{id})
	if err != nil {
		return err
	}
	su, err := findSuite(p, id)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, su.close()) }()
	if err := su.build(cmd.Context(), s); err != nil {
		return err
	}
	after, output, err := su.conform(cmd.Context(), s, conformanceRun{parallel: parallel})
	if err != nil {
		return err
	}
	if after == nil {
		return fmt.Errorf("the suite wrote no report; it printed:\n%s", tail(output, 4<<10))
	}
	return printReproduction(s.out, dir, before, after)
}

// printReproduction names the differences. A check that passed then and is failed
// or unknown now was not reproduced.
func printReproduction(w io.Writer, dir string, before, after *conformance.Report) error {
	lost := 0
	for _, d := range evidence.Compare(before, after) {
		word := string(d.After)
		if d.After == conformance.Unknown {
			word = fmt.Sprintf("unknown(%s)", d.Reason)
		}
		if d.After == "" {
			word = "gone"
		}
		then := string(d.Before)
		if then == "" {
			then = "not there"
		}
		fmt.Fprintf(w, "%s: was %s, is %s", d.Check, then, word)
		if d.Message != "" {
			fmt.Fprintf(w, ": %s", firstLine(d.Message))
		}
		fmt.Fprintln(w)
		if d.Before == conformance.Passed && d.After != conformance.Passed {
			lost++
		}
	}
	fmt.Fprintln(w, after.Summary())
	for _, p := range after.Problems {
		fmt.Fprintf(w, "PROBLEM of the run: %s\n", p)
	}
	if lost > 0 || len(after.Problems) > 0 || after.Counts.Executed == 0 {
		fmt.Fprintf(w, "%s is not reproduced: %s that passed did not pass again\n", dir, count(lost, "check"))
		return findingsError{}
	}
	fmt.Fprintf(w, "%s is reproduced: every check that passed passed again\n", dir)
	return nil
}

func reportOf(root, dir string) (*conformance.Report, error) {
	b, err := readBundle(root, dir)
	if err != nil {
		return nil, err
	}
	return conformance.DecodeReport(b.Files[evidence.ReportName])
}

// showReport prints the summary and what did not pass.
func showReport(w io.Writer, b *evidence.Bundle) error {
	report, err := conformance.DecodeReport(b.Files[evidence.ReportName])
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "checks    %s\n", report.Summary())
	for _, c := range report.Controls {
		fmt.Fprintf(w, "control   %s\n", c)
	}
	for _, c := range report.Checks {
		if c.Verdict == conformance.Failed || c.Verdict == conformance.Unknown && c.Owed {
			fmt.Fprintf(w, "lacks     %s: %s %s\n", c.ID, c.Verdict, firstLine(c.Message))
		}
	}
	return nil
}

// showProofs prints what the run proves of each capability as claimed now.
func showProofs(w io.Writer, p *gen.Project, b *evidence.Bundle) error {
	m, ok := manifestOf(p, b.Provider)
	if !ok {
		return nil
	}
	now, err := currentOf(p, m)
	if err != nil {
		return err
	}
	report, err := conformance.DecodeReport(b.Files[evidence.ReportName])
	if err != nil {
		return err
	}
	for _, proof := range evidence.Proofs(report, now) {
		switch {
		case proof.Proven:
			fmt.Fprintf(w, "proves    %s: %d checks\n", proof.Capability, proof.Owed)
		case proof.Supported:
			fmt.Fprintf(w, "not yet   %s: %d of %d checks lack\n", proof.Capability, len(proof.Lacking), proof.Owed)
		}
	}
	return nil
}
