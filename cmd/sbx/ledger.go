package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
	"github.com/spf13/cobra"
)

func newLedgerCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "Show and verify the cleanup ledger",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLedgerShowCmd(a), newLedgerVerifyCmd(a))
	return cmd
}

func newLedgerShowCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show [RUN...]",
		Short: "Show what runs made and what became of it",
		Long:  "show folds ledger files. RUN is a run ID or a file; without one, every run is shown.",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			runs, err := findRuns(cmd.Context(), a.outside, args)
			if err != nil {
				return err
			}
			views := make([]runView, 0, len(runs))
			for _, r := range runs {
				views = append(views, showRun(r))
			}
			if a.json {
				err = printJSON(a.out, views)
			} else {
				err = a.printRuns(views)
			}
			if err == nil && slices.ContainsFunc(views, func(v runView) bool { return v.Problem != "" }) {
				err = exitError{exitFailed}
			}
			return err
		},
	}
	return cmd
}

// runView is one ledger file, folded.
type runView struct {
	Owner    string          `json:"owner"`
	Run      string          `json:"run"`
	Path     string          `json:"path"`
	Liveness ledger.Liveness `json:"liveness"`
	Started  time.Time       `json:"started,omitzero"`
	Ended    bool            `json:"ended"`
	Problem  string          `json:"problem,omitempty"`
	Entries  []entryView     `json:"entries"`
}

type entryView struct {
	Intent      string             `json:"intent"`
	Kind        ledger.Kind        `json:"kind"`
	Provider    string             `json:"provider"`
	Scope       string             `json:"scope"`
	ID          string             `json:"id,omitempty"`
	Name        string             `json:"name,omitempty"`
	Parent      string             `json:"parent,omitempty"`
	Status      ledger.Status      `json:"status"`
	Disposition ledger.Disposition `json:"disposition"`
	ReapAfter   time.Time          `json:"reapAfter,omitzero"`
	Opened      time.Time          `json:"opened"`
	Updated     time.Time          `json:"updated"`
	LastReason  string             `json:"lastReason,omitempty"`
}

func showRun(r ledger.RunInfo) runView {
	v := runView{Owner: r.Owner, Run: r.Run, Path: r.Path, Liveness: r.Liveness, Started: r.Started, Entries: []entryView{}}
	if r.Err != nil {
		v.Problem = r.Err.Error()
	}
	if r.Liveness == ledger.Empty {
		return v
	}
	log, err := ledger.Read(r.Path)
	if err != nil {
		v.Problem = err.Error()
	}
	if log == nil {
		return v
	}
	v.Ended = log.Ended()
	for _, e := range ledger.Fold(log.Records).Entries {
		v.Entries = append(v.Entries, entryView{Intent: e.Intent, Kind: e.Kind, Provider: e.Provider, Scope: e.Scope, ID: e.ID,
			Name: e.Name, Parent: e.Parent, Status: e.Status, Disposition: e.Disposition, ReapAfter: e.ReapAfter,
			Opened: e.Opened, Updated: e.Updated, LastReason: e.LastReason})
	}
	return v
}

func (a *app) printRuns(views []runView) error {
	p := &printer{w: a.out}
	if len(views) == 0 {
		p.line("no runs are recorded")
	}
	for _, v := range views {
		state := string(v.Liveness)
		if v.Ended {
			state += ", ended in order"
		}
		p.line("run %s of %s", v.Run, or(v.Owner, "-"))
		p.line("  %s, started %s", state, moment(v.Started))
		for _, e := range v.Entries {
			a.block(p, "  ", e.Provider+":"+or(e.ID, "(no ID)"), a.facts(string(e.Status), string(e.Kind), string(e.Disposition),
				"reap after "+moment(e.ReapAfter)), e.LastReason)
		}
		if v.Problem != "" {
			p.line("  unreadable: %s", v.Problem)
		}
	}
	return p.err
}

func newLedgerVerifyCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify [RUN...]",
		Short: "Check that ledger files are whole and in order",
		Long: "verify checks the chain of each file, the order of its events, and its balance. A file\n" +
			"that is damaged or out of order is exit code 1. One without records is exit code 7: it\n" +
			"proves nothing. Something that is still owed is told and is no fault of the file: sbx\n" +
			"reap acts on it. What a later run, such as that of sbx rm, has proven gone is settled there.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			runs, err := findRuns(cmd.Context(), a.outside, args)
			if err != nil {
				return err
			}
			gone, err := a.gone(cmd.Context())
			if err != nil {
				return err
			}
			views := make([]verifyView, 0, len(runs))
			for _, r := range runs {
				v, err := verifyRun(r, gone)
				if err != nil {
					return err
				}
				views = append(views, v)
			}
			if a.json {
				err = printJSON(a.out, views)
			} else {
				err = printVerify(a.out, views)
			}
			if err != nil {
				return err
			}
			return verifyExit(views)
		},
	}
	return cmd
}

// verifyView is what verify says about one file.
type verifyView struct {
	Run      string        `json:"run"`
	Path     string        `json:"path"`
	OK       *bool         `json:"ok"`       // null: there are no records to tell by
	Balanced *bool         `json:"balanced"` // null: as above
	Ended    bool          `json:"ended"`
	Records  int           `json:"records"`
	Counts   countsView    `json:"counts"`
	Findings []findingView `json:"findings"`

	owes bool // something that no run has settled
}

// countsView is ledger.Counts as JSON.
type countsView struct {
	Intended     int `json:"intended"`
	Created      int `json:"created"`
	CreateFailed int `json:"createFailed"`
	Adopted      int `json:"adopted"`
	Destroyed    int `json:"destroyed"`
	VerifiedGone int `json:"verifiedGone"`
	Leaked       int `json:"leaked"`
	Transferred  int `json:"transferred"`
	Unresolved   int `json:"unresolved"`
}

// findingView is ledger.Finding as JSON.
type findingView struct {
	Line      int         `json:"line"`
	Rule      ledger.Rule `json:"rule"`
	Intent    string      `json:"intent,omitempty"`
	Message   string      `json:"message"`
	Note      bool        `json:"note"`
	SettledIn string      `json:"settledIn,omitempty"` // the run that has proven it gone
}

func verifyRun(r ledger.RunInfo, gone map[whole]string) (verifyView, error) {
	v := verifyView{Run: r.Run, Path: r.Path, Findings: []findingView{}}
	if _, err := ledger.Read(r.Path); errors.Is(err, ledger.ErrNoRun) { // nothing to tell by
		return v, nil
	}
	rep, err := ledger.Verify(r.Path)
	if err != nil {
		return v, err
	}
	ok := rep.OK()
	v.OK, v.Balanced = &ok, &rep.Balanced
	v.Ended, v.Records, v.Counts = rep.Ended, len(rep.Log.Records), countsView(rep.Counts)
	for _, f := range rep.Findings {
		v.Findings = append(v.Findings, findingView{Line: f.Line, Rule: f.Rule, Intent: f.Intent, Message: f.Message, Note: f.Note})
	}
	v.settle(rep, gone)
	return v, nil
}

// emptyHint is about a ledger without records.
const emptyHint = "it is being started,\n  died before it made anything, or was emptied"

// verifyExit: damage weighs more than what nobody can tell.
func verifyExit(views []verifyView) error {
	unknown := false
	for _, v := range views {
		if v.OK != nil && !*v.OK {
			return exitError{exitFailed}
		}
		unknown = unknown || v.OK == nil
	}
	if unknown {
		return exitError{exitUnknown}
	}
	return nil
}

func printVerify(w io.Writer, views []verifyView) error {
	p := &printer{w: w}
	if len(views) == 0 {
		p.line("no runs are recorded")
	}
	for _, v := range views {
		if v.OK == nil {
			p.line("%s: no records, so nothing is known of this run; "+emptyHint, v.Run)
			continue
		}
		verdict := "intact"
		if !*v.OK {
			verdict = "DAMAGED"
		}
		p.line("%s: %s, %d records, %s", v.Run, verdict, v.Records, v.balance())
		for _, f := range v.Findings {
			p.line("  line %d: %s: %s%s", f.Line, f.Rule, f.Message, map[bool]string{true: "; settled in run " + f.SettledIn}[f.SettledIn != ""])
		}
	}
	return p.err
}

// findRuns resolves arguments to ledger files; no argument is every run.
func findRuns(ctx context.Context, o outside, args []string) ([]ledger.RunInfo, error) {
	dirs, err := o.dirs()
	if err != nil {
		return nil, err
	}
	all, err := ledger.Scan(ctx, dirs)
	if err != nil || len(args) == 0 {
		return all, err
	}
	var out []ledger.RunInfo
	for _, arg := range args {
		i := slices.IndexFunc(all, func(r ledger.RunInfo) bool { return r.Run == arg || r.Path == arg })
		switch {
		case i >= 0:
			out = append(out, all[i])
		case ledger.ValidRun(arg):
			return nil, &port.Error{Code: port.CodeNotFound, Op: "ledger", ID: arg, Outcome: port.OutcomeUnchanged, Reason: "no such run"}
		case filepath.Ext(arg) != ".jsonl":
			return nil, usageError{fmt.Errorf("%q is neither a run ID nor a ledger file", arg)}
		default: // a file from elsewhere: its life cannot be judged
			out = append(out, ledger.RunInfo{Run: filepath.Base(arg), Path: arg, Liveness: ledger.LivenessUnknown})
		}
	}
	return out, nil
}
