package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/spf13/cobra"
)

// complete registers what a flag may hold. A flag that is not there is a mistake
// of this program, which the help would show.
func complete(cmd *cobra.Command, flag string, fn cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, fn); err != nil {
		cmd.Long += "\n" + err.Error()
	}
}

func (a *app) completeProviders(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	before := typed[:strings.LastIndex(typed, ",")+1]
	var out []cobra.Completion
	for _, id := range a.ids() {
		if !slices.Contains(strings.Split(before, ","), id) {
			out = append(out, before+id)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeRefs offers the sandboxes that the ledgers know of; no vendor is asked.
func (a *app) completeRefs(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	entries, err := a.recorded(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var out []cobra.Completion
	for _, e := range entries {
		ref := sandbox.NewRef(e.Provider, e.ID).String()
		if e.Kind == ledger.KindSandbox && !slices.Contains(args, ref) {
			out = append(out, cobra.CompletionWithDesc(ref, diag.Printable(or(e.Name, moment(e.Opened)))))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeRef is completeRefs for verbs that take one.
func (a *app) completeRef(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completeRefs(cmd, args, typed)
}

// completeSnapshots offers the snapshots that the ledgers know of; no vendor is
// asked.
func (a *app) completeSnapshots(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	entries, err := a.recorded(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var out []cobra.Completion
	for _, e := range entries {
		ref := sandbox.NewRef(e.Provider, e.ID).String()
		leftover := e.Labels[sandbox.LabelLeftover] != "" // of a fork: gone with it
		if e.Kind == ledger.KindSnapshot && !leftover && !slices.Contains(args, ref) {
			out = append(out, cobra.CompletionWithDesc(ref, diag.Printable(or(e.Name, moment(e.Opened)))))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// labelTime is how long a vendor has to answer while somebody presses Tab.
const labelTime = 2 * time.Second

// completeLabels offers the labels that sandboxes have.
func (a *app) completeLabels(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	ids, err := a.chosen()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	if len(ids) == 0 {
		ids = a.ids()
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), labelTime)
	defer cancel()
	var out []cobra.Completion
	for _, id := range ids {
		p, err := a.open(ctx, id)
		if err != nil {
			continue
		}
		err = closing(p, func() error {
			list, err := p.List(ctx, contract.ListRequest{})
			for _, i := range list {
				for k, v := range i.Labels {
					out = append(out, k+"="+v)
				}
			}
			return err
		})
		if err != nil {
			continue // one that does not answer has nothing to offer
		}
	}
	slices.Sort(out)
	return slices.Compact(out), cobra.ShellCompDirectiveNoFileComp
}
