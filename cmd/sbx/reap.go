package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/spf13/cobra"
)

func newReapCmd(a *app) *cobra.Command {
	var apply bool
	cmd := &cobra.Command{
		Use:   "reap",
		Short: "Destroy what dead runs left behind",
		Long: "reap reads the cleanup ledgers of this owner and says what is owed a destroy:\n" +
			"what belonged to a run that is dead, and what is past its reap time. Things that are\n" +
			"kept, belong to a living run, or live in another account are left alone. Without\n" +
			"--apply nothing is changed.\n\n" +
			"Exit codes: 0 nothing is left open, 1 a destroy failed, 3 a destroy was acknowledged\n" +
			"and absence could not be proven, 7 something leaked or may have.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.within(cmd)
			defer cancel()
			report, err := sandbox.Reap(ctx, sandbox.ReapOptions{Drivers: a.find, Provider: a.provider, Apply: apply,
				Open: []sandbox.Option{sandbox.WithEnviron(a.lookup)}})
			if err != nil {
				return err
			}
			if a.json {
				err = printJSON(a.out, report)
			} else {
				err = printReap(a.out, report)
			}
			if err != nil {
				return err
			}
			if code := reapExit(report); code != exitDone {
				return exitError{code}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&apply, "apply", false, "destroy what may be destroyed; without it nothing is changed")
	return cmd
}

// reapExit: what nobody knows weighs more than what failed, and that more than
// what was not proven.
func reapExit(r sandbox.ReapReport) int {
	unknown, failed, unproven := len(r.Problems) > 0, false, false
	for _, i := range r.Items {
		switch {
		case i.Verdict == sandbox.VerdictUnknown:
			unknown = true
		case i.Err != "" && i.Destroy != nil && i.Destroy.Acknowledged:
			unproven = true
		case i.Err != "":
			failed = true
		}
	}
	switch {
	case unknown:
		return exitUnknown
	case failed:
		return exitFailed
	case unproven:
		return exitUnverified
	}
	return exitDone
}

func printReap(w io.Writer, r sandbox.ReapReport) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	p := &printer{w: tw}
	if len(r.Items) > 0 {
		p.line("VERDICT\tPROVIDER\tKIND\tID\tRUN\tREAP AFTER\tRESULT\tREASON")
	}
	for _, i := range r.Items {
		p.line("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", i.Verdict, i.Provider, i.Kind, or(i.ID, "-"), i.Run, moment(i.ReapAfter), result(i), or(i.Err, i.Reason))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	p.w = w
	for _, problem := range r.Problems {
		p.line("unreadable ledger: %s", problem)
	}
	switch {
	case len(r.Items) == 0 && len(r.Problems) == 0:
		p.line("nothing is owed")
	case !r.Applied:
		p.line("dry run: nothing was changed; --apply destroys what says reap")
	}
	return p.err
}

func result(i sandbox.ReapItem) string {
	switch {
	case !i.Acted:
		return "-"
	case i.Verdict == sandbox.VerdictAbsent && i.Err == "":
		return "closed"
	case i.Destroy != nil && i.Destroy.VerifiedGone:
		return "verified-gone"
	case i.Destroy != nil && i.Destroy.Outcome == port.DestroyAlreadyAbsent:
		return "already-absent, unverified"
	case i.Destroy != nil && i.Destroy.Acknowledged:
		return "acknowledged, unverified"
	}
	return "failed"
}

// printer keeps the first error of a run of prints.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}
