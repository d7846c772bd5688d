package main

import (
	"context"
	"errors"
	"sync"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/spf13/cobra"
)

// stateView is a sandbox after a change of its state, in JSON.
type stateView struct {
	Ref      string            `json:"ref"`
	State    contract.State    `json:"state"`
	Instance contract.Instance `json:"instance"`
}

// newStateCmd is stop, start, suspend, resume or restart.
func newStateCmd(a *app, verb string) *cobra.Command {
	short := map[string]string{
		"stop":    "Stop a sandbox, keeping its disk",
		"start":   "Start a stopped sandbox",
		"suspend": "Freeze a sandbox with its memory",
		"resume":  "Go on with a suspended sandbox",
		"restart": "Restart a running sandbox",
	}
	return &cobra.Command{
		Use:               verb + " REF",
		Short:             short[verb],
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeRef,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := a.within(cmd)
			defer cancel()
			return a.withSandbox(ctx, args[0], func(sb *sandbox.Sandbox) error {
				i, err := changeState(ctx, sb, verb)
				quietLine(ctx)
				if err != nil {
					return err
				}
				if a.json {
					return printJSON(a.out, stateView{Ref: sb.Ref().String(), State: i.State, Instance: i})
				}
				return a.say(i.State)
			})
		},
	}
}

func changeState(ctx context.Context, sb *sandbox.Sandbox, verb string) (contract.Instance, error) {
	switch verb {
	case "stop":
		return sb.Stop(ctx)
	case "start":
		return sb.Start(ctx)
	case "suspend":
		return sb.Suspend(ctx)
	case "resume":
		return sb.Resume(ctx)
	}
	return sb.Restart(ctx)
}

// atOnce is how many sandboxes are worked on at the same time.
const atOnce = 8

// each runs fn for every index, some at a time, and waits for all.
func each(n int, fn func(i int)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			fn(i)
		})
	}
	wg.Wait()
}

// rmView is what became of one sandbox, in JSON.
type rmView struct {
	Ref     string                 `json:"ref"`
	Missing bool                   `json:"missing,omitempty"` // it was not there any more before
	Destroy *sandbox.DestroyReport `json:"destroy,omitempty"`
	Error   *failureView           `json:"error,omitempty"`
}

func newRmCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "rm REF...",
		Aliases: []string{"destroy"},
		Short:   "Destroy sandboxes and verify that they are gone",
		Long: "rm destroys sandboxes of this owner and waits until it is proven that they are gone.\n" +
			"One that somebody else has removed is proven and recorded gone as well. Exit code 3: a\n" +
			"destroy was acknowledged and nothing proves the absence.",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeRefs,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := a.within(cmd)
			defer cancel()
			if err := a.references(args); err != nil {
				return err
			}
			views, errs := make([]rmView, len(args)), make([]error, len(args))
			each(len(args), func(i int) {
				views[i] = rmView{Ref: args[i]}
				errs[i] = a.withSandbox(ctx, args[i], func(sb *sandbox.Sandbox) error {
					report, err := sb.Destroy(ctx)
					views[i].Ref, views[i].Missing, views[i].Destroy = sb.Ref().String(), sb.Missing(), &report
					return err
				}, sandbox.AbsentToo())
				errs[i] = a.unreached(errs[i], "sbx rm", args[i])
				if errs[i] != nil {
					failure := a.failure(ctx, errs[i])
					views[i].Error = &failure
				}
			})
			return a.showRemoved(views, errs)
		},
	}
}

func (a *app) showRemoved(views []rmView, errs []error) error {
	if a.json {
		if err := printJSON(a.out, views); err != nil {
			return err
		}
		if err := worst(errs); err != nil {
			return shownError{err}
		}
		return nil
	}
	for i, v := range views {
		if errs[i] == nil {
			err := a.say(v.Ref)
			if v.Missing {
				err = join(err, a.note("%s was already gone; that is proven and recorded now", v.Ref))
			}
			if err != nil {
				return err
			}
		}
	}
	return worst(errs)
}

// worst joins failures, the one that leaves the most unknown first: the exit code
// is made of it.
func worst(errs []error) error {
	var unknown, unproven, others []error
	for _, err := range errs {
		_, unverified := errors.AsType[*sandbox.UnverifiedError](err)
		switch {
		case err == nil:
		case unverified:
			unproven = append(unproven, err)
		case exitCode(err) == exitUnknown:
			unknown = append(unknown, err)
		default:
			others = append(others, err)
		}
	}
	if len(unknown) > 0 && len(unproven) > 0 {
		return unknownError{join(append(append(unknown, unproven...), others...)...)}
	}
	return join(append(append(unknown, others...), unproven...)...)
}

// unknownError makes unknown outcomes weigh more than unproven ones.
type unknownError struct{ err error }

func (e unknownError) Error() string { return e.err.Error() }
func (e unknownError) Unwrap() error { return e.err }

// entryOf is what the ledgers say of a sandbox, nil when they do not know it.
func (a *app) entryOf(ctx context.Context, provider, id string) (*ledger.Entry, error) {
	entries, err := a.recorded(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Kind == ledger.KindSandbox && e.Provider == provider && e.ID == id {
			return e, nil
		}
	}
	return nil, nil
}
