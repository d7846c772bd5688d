package main

import (
	"context"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/spf13/cobra"
)

// snapshotView is a snapshot in JSON.
type snapshotView struct {
	Ref      string            `json:"ref"`
	Provider string            `json:"provider"`
	Snapshot contract.Snapshot `json:"snapshot"`
}

func snapshotViewOf(provider string, s contract.Snapshot) snapshotView {
	return snapshotView{Ref: sandbox.NewRef(provider, s.ID).String(), Provider: provider, Snapshot: s}
}

func newSnapshotCmd(a *app) *cobra.Command {
	var request contract.SnapshotRequest
	var ttl time.Duration
	cmd := &cobra.Command{
		Use:   "snapshot REF",
		Short: "Capture a sandbox and print the snapshot's reference",
		Long: "snapshot captures a sandbox; sbx new --from-snapshot starts from it. It is kept until\n" +
			"sbx snapshots rm, or until a reaper finds it past its --ttl.",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeRef,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := a.within(cmd)
			defer cancel()
			return a.withProvider(ctx, args[0], func(p *sandbox.Provider, native string) error {
				sb, err := a.attach(ctx, p, native)
				if err != nil {
					return absent(err, "sbx list")
				}
				s, err := sb.CreateSnapshot(ctx, request)
				quietLine(ctx)
				if err != nil {
					return advised(sb, err)
				}
				err = p.KeepSnapshot(ctx, s.ID, ttl) // it is to outlive this program
				v := snapshotViewOf(p.ID(), s)
				if a.json {
					return join(err, printJSON(a.out, v))
				}
				printErr := a.say(v.Ref)
				return join(err, printErr)
			})
		},
	}
	cmd.Flags().StringVar(&request.Name, "name", "", "display name `N`")
	cmd.Flags().DurationVar(&ttl, "ttl", 0, "a reaper may delete it after `D`")
	return cmd
}

func newSnapshotsCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "snapshots",
		Short: "List snapshots, or delete them with snapshots rm",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.within(cmd)
			defer cancel()
			return a.listSnapshots(ctx)
		},
	}
	cmd.AddCommand(newSnapshotsRmCmd(a))
	return cmd
}

// snapshotsView is a listing of snapshots. Problems are providers that could not
// be listed: what they have is missing above.
type snapshotsView struct {
	Snapshots []snapshotView `json:"snapshots"`
	Problems  []problemView  `json:"problems"`
}

func (a *app) listSnapshots(ctx context.Context) error {
	v := snapshotsView{Snapshots: []snapshotView{}}
	problems, err := a.survey(ctx, contract.CapabilitySnapshot, func(ctx context.Context, p *sandbox.Provider) error {
		list, err := p.ListSnapshots(ctx)
		for _, s := range list {
			v.Snapshots = append(v.Snapshots, snapshotViewOf(p.ID(), s))
		}
		return err
	})
	if err != nil {
		return err
	}
	v.Problems = problems
	if a.json {
		return a.listed(problems, a.elsewhere(false), printJSON(a.out, v))
	}
	tw := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	p := &printer{w: tw}
	if len(v.Snapshots) > 0 {
		p.line("SNAPSHOT\tNAME\tSTATE\tSIZE\tCREATED")
	}
	for _, s := range v.Snapshots {
		bytes := "-"
		if s.Snapshot.SizeBytes != nil {
			bytes = size(*s.Snapshot.SizeBytes)
		}
		p.line("%s\t%s\t%s\t%s\t%s", a.short(s.Ref), a.cut(or(s.Snapshot.Name, "-"), 20), s.Snapshot.State, bytes, a.when(s.Snapshot.CreatedAt))
	}
	return a.listed(problems, a.elsewhere(false), join(p.err, tw.Flush()))
}

func newSnapshotsRmCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "rm SNAPSHOT...",
		Short:             "Delete snapshots and verify that they are gone",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeSnapshots,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := a.within(cmd)
			defer cancel()
			if err := a.references(args); err != nil {
				return err
			}
			views, errs := make([]rmView, len(args)), make([]error, len(args))
			for i, arg := range args { // one after the other: one may be built on another
				views[i] = rmView{Ref: arg}
				errs[i] = a.withProvider(ctx, arg, func(p *sandbox.Provider, native string) error {
					full, err := a.snapshotID(ctx, p, native)
					if err != nil {
						return absent(err, "sbx snapshots")
					}
					views[i].Ref = sandbox.NewRef(p.ID(), full).String()
					_, err = p.DeleteSnapshot(ctx, full)
					return err
				})
				errs[i] = a.unreached(errs[i], "sbx snapshots rm", arg)
				if errs[i] != nil {
					failure := a.failure(ctx, errs[i])
					views[i].Error = &failure
				}
			}
			return a.showRemoved(views, errs)
		},
	}
}

// snapshotID completes the beginning of a snapshot's ID, as attach does.
func (a *app) snapshotID(ctx context.Context, p *sandbox.Provider, start string) (string, error) {
	_, err := p.InspectSnapshot(ctx, start)
	if port.CodeOf(err) != port.CodeNotFound || len(start) < shortest {
		return start, err
	}
	list, listErr := p.ListSnapshots(ctx)
	if listErr != nil {
		return "", listErr
	}
	full := ""
	for _, s := range list {
		if strings.HasPrefix(s.ID, start) || strings.HasPrefix(strings.TrimPrefix(s.ID, "sha256:"), start) {
			if full != "" {
				return "", &port.Error{Code: port.CodeInvalidArgument, Op: "DeleteSnapshot", Provider: p.ID(), ID: start,
					Outcome: port.OutcomeUnchanged, Reason: "several snapshots have an ID that begins so"}
			}
			full = s.ID
		}
	}
	if full == "" {
		return "", err
	}
	return full, nil
}

func newForkCmd(a *app) *cobra.Command {
	var n int
	var name string
	var ttl time.Duration
	cmd := &cobra.Command{
		Use:               "fork REF",
		Short:             "Make sandboxes that start as this one is now",
		Long:              "fork prints the reference of each fork on a line. Forks are kept, as after sbx new.",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeRef,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := a.within(cmd)
			defer cancel()
			if n < 1 || name != "" && n > 1 {
				return usagef("-n is positive, and one --name is for one fork")
			}
			return a.withSandbox(ctx, args[0], func(sb *sandbox.Sandbox) error {
				err := a.fork(ctx, sb, n, name, ttl)
				quietLine(ctx)
				return err
			})
		},
	}
	cmd.Flags().IntVarP(&n, "number", "n", 1, "make `N` forks")
	cmd.Flags().StringVar(&name, "name", "", "display name `N`")
	cmd.Flags().DurationVar(&ttl, "ttl", 0, "a reaper may destroy them after `D`; else as their origin")
	return cmd
}

// forkView is one fork in JSON.
type forkView struct {
	Ref      string            `json:"ref,omitempty"`
	Instance contract.Instance `json:"instance"`
	Error    *failureView      `json:"error,omitempty"`
}

func (a *app) fork(ctx context.Context, sb *sandbox.Sandbox, n int, name string, ttl time.Duration) error {
	if !sb.Supports(contract.CapabilityFork) {
		n = 1 // one refusal says it
	}
	origin, err := a.entryOf(ctx, sb.Provider(), sb.ID())
	if err != nil {
		return err
	}
	views, errs := make([]forkView, n), make([]error, n)
	each(n, func(i int) {
		fork, err := sb.Fork(ctx, contract.ForkRequest{Name: name})
		if err == nil {
			views[i] = forkView{Ref: fork.Ref().String(), Instance: fork.Instance()}
			// A fork lives as long as its origin; one of a run that is over would be
			// reaped as soon as this program ends.
			if ttl > 0 || origin != nil && origin.Disposition == ledger.Scoped {
				err = fork.Keep(ctx, ttl)
			}
		}
		if errs[i] = err; err != nil {
			failure := a.failure(ctx, err)
			views[i].Error = &failure
		}
	})
	if a.json {
		if err := printJSON(a.out, views); err != nil {
			return err
		}
		if err := worst(errs); err != nil {
			return shownError{err}
		}
		return nil
	}
	for _, v := range views {
		if v.Ref != "" {
			if err := a.say(v.Ref); err != nil {
				return err
			}
		}
	}
	return worst(errs)
}
