package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/spf13/cobra"
)

func newListCmd(a *app) *cobra.Command {
	var all bool
	var labels []string
	cmd := &cobra.Command{
		Use:     "list [FLAGS]",
		Aliases: []string{"ls"},
		Short:   "List sandboxes of this owner, or all of them",
		Long: "list asks the providers named, else every one that is built in. One that cannot be\n" +
			"listed is told on stderr and in the JSON. The exit code is 1 then, unless what is missing\n" +
			"cannot be yours: nobody named that provider and the ledgers have nothing there.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.within(cmd)
			defer cancel()
			return a.runList(ctx, all, labels)
		},
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "also those of other owners")
	cmd.Flags().StringArrayVar(&labels, "label", nil, "only those with label `K=V`")
	complete(cmd, "label", a.completeLabels)
	return cmd
}

// problemView is a provider that could not be listed.
type problemView struct {
	Provider string `json:"provider"`
	Message  string `json:"message"`
	// Owed: the ledgers say that something of this owner is there.
	Owed bool `json:"owed"`
}

// listView is a listing in JSON.
type listView struct {
	Sandboxes []rowView     `json:"sandboxes"`
	Problems  []problemView `json:"problems"`
}

type rowView struct {
	Ref      string            `json:"ref"`
	Provider string            `json:"provider"`
	Mine     bool              `json:"mine"`
	Instance contract.Instance `json:"instance"`
}

// survey asks the providers that are named, or every one that works here, and
// returns those that could not be asked. Somebody who named one wants its error.
func (a *app) survey(ctx context.Context, need contract.Capability, ask func(context.Context, *sandbox.Provider) error) ([]problemView, error) {
	ids, err := a.chosen()
	if err != nil {
		return nil, err
	}
	named := len(ids) > 0
	if !named {
		ids = a.ids()
	}
	entries, err := a.recorded(ctx)
	if err != nil {
		return nil, err
	}
	problems := []problemView{}
	for _, id := range ids {
		err := a.ask(ctx, id, need, named, ask)
		if err != nil && (named || ctx.Err() != nil) {
			return nil, err
		}
		if err != nil {
			problems = append(problems, problemView{Provider: id, Message: err.Error(),
				Owed: slices.ContainsFunc(entries, func(e *ledger.Entry) bool { return e.Provider == id })})
		}
	}
	return problems, nil
}

func (a *app) ask(ctx context.Context, id string, need contract.Capability, named bool, ask func(context.Context, *sandbox.Provider) error) error {
	p, err := a.open(ctx, id)
	if err != nil {
		if !named && port.CodeOf(err) == port.CodeUnauthenticated {
			return nil // not configured is not a problem
		}
		return err
	}
	return closing(p, func() error {
		if !named && !p.Supports(need) {
			return nil // it has none
		}
		return ask(ctx, p)
	})
}

// listed tells what is missing in a listing, also to those who want no notes. A
// listing in which something may be missing is a failure, whatever it holds; every
// says that it is about more than what the ledgers of this machine know of. A
// provider that is merely built in, such as docker where there is no engine, does
// not make the listing of what somebody has elsewhere fail.
func (a *app) listed(problems []problemView, every bool, err error) error {
	missing := false
	for _, p := range problems {
		text := "sbx: not listed: " + p.Message
		missing = missing || every || p.Owed
		if p.Owed {
			text += "; the ledgers say that something of yours is there"
		}
		to := &printer{w: a.err}
		to.line("%s", text)
		err = join(err, to.err)
	}
	if err == nil && missing {
		return exitError{exitFailed}
	}
	return err
}

// elsewhere reports whether a listing is about things that no ledger here has to
// know of: those of others, and those that an owner who is shared by name made on
// another machine.
func (a *app) elsewhere(all bool) bool {
	return all || a.getenv("SBX_OWNER") != ""
}

func (a *app) runList(ctx context.Context, all bool, labels []string) error {
	want, err := pairs("--label", labels, nil)
	if err != nil {
		return err
	}
	mine, err := a.mine(ctx)
	if err != nil {
		return err
	}
	v := listView{Sandboxes: []rowView{}}
	v.Problems, err = a.survey(ctx, contract.CapabilityList, func(ctx context.Context, p *sandbox.Provider) error {
		list, err := p.List(ctx, contract.ListRequest{Labels: want})
		for _, i := range list {
			row := rowView{Ref: sandbox.NewRef(p.ID(), i.ID).String(), Provider: p.ID(), Mine: mine(p.ID(), i), Instance: i}
			if row.Mine || all {
				v.Sandboxes = append(v.Sandboxes, row)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(v.Sandboxes, func(x, y rowView) int {
		return cmp.Or(cmp.Compare(x.Provider, y.Provider), timeOf(x.Instance.CreatedAt).Compare(timeOf(y.Instance.CreatedAt)), cmp.Compare(x.Ref, y.Ref))
	})
	if a.json {
		return a.listed(v.Problems, a.elsewhere(all), printJSON(a.out, v))
	}
	return a.listed(v.Problems, a.elsewhere(all), a.printList(v.Sandboxes, all))
}

// mine tells which sandboxes are of this owner: the vendor's tag says so, or a
// ledger.
func (a *app) mine(ctx context.Context) (func(provider string, i contract.Instance) bool, error) {
	dirs, err := a.dirs()
	if err != nil {
		return nil, err
	}
	owner, err := a.owner(dirs)
	if err != nil {
		return nil, err
	}
	entries, err := a.recorded(ctx)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, e := range entries {
		known[e.Provider+":"+e.ID] = true
	}
	return func(provider string, i contract.Instance) bool {
		return known[provider+":"+i.ID] || owner != "" && i.Tags != nil && i.Tags.Owner == owner
	}, nil
}

func (a *app) printList(rows []rowView, all bool) error {
	tw := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	p := &printer{w: tw}
	if len(rows) > 0 {
		p.line("REF\tSTATE\tNAME\tIMAGE\tCREATED" + map[bool]string{true: "\tMINE"}[all])
	}
	for _, r := range rows {
		i := r.Instance
		mine := ""
		if all {
			mine = map[bool]string{true: "\tyes", false: "\tno"}[r.Mine]
		}
		p.line("%s\t%s\t%s\t%s\t%s"+mine, a.short(r.Ref), i.State, a.cut(or(i.Name, "-"), 16), a.cut(or(i.Image, "-"), 16), a.when(i.CreatedAt))
	}
	return join(p.err, tw.Flush())
}

// shortID is how much of a long ID a person is shown.
const shortID = 12

// short is a reference as a person is shown it: at a terminal a long ID is cut to
// a beginning that every verb takes as well. Programs get all of it.
func (a *app) short(ref string) string {
	provider, native, _ := strings.Cut(ref, ":")
	native = strings.TrimPrefix(native, "sha256:")
	if a.width(a.out) == 0 || len(native) <= 2*shortID {
		return ref
	}
	return provider + ":" + native[:shortID]
}

// cut shortens text for a table at a terminal.
func (a *app) cut(s string, most int) string {
	runes := []rune(s)
	if a.width(a.out) == 0 || len(runes) <= most {
		return s
	}
	return string(runes[:most-1]) + "…"
}

// when is a moment for a table: at a terminal how long ago it was.
func (a *app) when(t *time.Time) string {
	if a.width(a.out) == 0 || t == nil {
		return momentOf(t)
	}
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if n := time.Since(*t) / unit.length; n > 0 {
			return fmt.Sprintf("%d%s ago", n, unit.name)
		}
	}
	return "now"
}

func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

func momentOf(t *time.Time) string { return moment(timeOf(t)) }

func newInfoCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "info REF",
		Short:             "Show what is known of a sandbox now",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeRef,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := a.within(cmd)
			defer cancel()
			return a.withSandbox(ctx, args[0], func(sb *sandbox.Sandbox) error { return a.printInfo(ctx, sb) })
		},
	}
}

// infoView is one sandbox in JSON.
type infoView struct {
	Ref         string             `json:"ref"`
	Provider    string             `json:"provider"`
	Owned       bool               `json:"owned"`
	Disposition ledger.Disposition `json:"disposition,omitempty"` // absent: no ledger here says
	ReapAfter   time.Time          `json:"reapAfter,omitzero"`
	Instance    contract.Instance  `json:"instance"`
}

func (a *app) printInfo(ctx context.Context, sb *sandbox.Sandbox) error {
	v := infoView{Ref: sb.Ref().String(), Provider: sb.Provider(), Owned: sb.Owned(), Instance: sb.Instance()}
	e, err := a.entryOf(ctx, sb.Provider(), sb.ID())
	if err != nil {
		return err
	}
	if e != nil {
		v.Disposition, v.ReapAfter = e.Disposition, e.ReapAfter
	}
	if a.json {
		return printJSON(a.out, v)
	}
	i := v.Instance
	p := &printer{w: a.out}
	line := func(key, value string) {
		if value != "" && value != "-" {
			p.line("%-12s %s", key, value)
		}
	}
	line("ref", v.Ref)
	line("state", strings.TrimSuffix(fmt.Sprintf("%s (%s)", i.State, i.NativeState), " ()"))
	line("why", i.StatusReason)
	line("name", i.Name)
	line("owned", map[bool]string{true: "yes", false: "no"}[v.Owned])
	line("life", strings.TrimSuffix(string(v.Disposition)+", reaped after "+moment(v.ReapAfter), ", reaped after -"))
	line("created", momentOf(i.CreatedAt))
	line("expires", momentOf(i.ExpiresAt))
	line("image", i.Image)
	line("region", i.Region)
	line("isolation", string(i.Isolation))
	line("resources", resourcesText(i.Resources))
	line("home", i.HomeDir)
	line("workdir", i.WorkDir)
	for _, k := range slices.Sorted(keys(i.Labels)) {
		line("label", k+"="+i.Labels[k])
	}
	return p.err
}
