package main

import (
	"strings"

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
			dirs, err := a.dirs()
			if err != nil {
				return err
			}
			if _, err := a.owner(dirs); err != nil {
				return err
			}
			report, err := sandbox.Reap(ctx, sandbox.ReapOptions{Drivers: a.find, Provider: a.provider, Apply: apply,
				Open: []sandbox.Option{sandbox.WithEnviron(a.lookup)}})
			if err != nil {
				return err
			}
			if a.json {
				err = printJSON(a.out, report)
			} else {
				err = a.printReap(report)
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

func (a *app) printReap(r sandbox.ReapReport) error {
	p := &printer{w: a.out}
	for _, i := range r.Items {
		a.block(p, "", i.Provider+":"+or(i.ID, "(no ID)"), a.facts(i.Kind, "run "+i.Run, "reap after "+moment(i.ReapAfter)),
			strings.TrimSuffix(string(i.Verdict)+", "+result(i), ", -")+": "+or(i.Err, i.Reason), again(i))
	}
	for _, problem := range r.Problems {
		p.line("unreadable ledger: %s", problem)
	}
	switch {
	case len(r.Items) == 0 && len(r.Problems) == 0:
		p.line("nothing is owed")
	case !r.Applied:
		p.line("dry run: nothing changed; --apply destroys what says reap")
	}
	return p.err
}

func again(i sandbox.ReapItem) string {
	if i.Again == "" {
		return ""
	}
	return "look again: " + i.Again
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
