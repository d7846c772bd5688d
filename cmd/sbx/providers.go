package main

import (
	"context"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/spf13/cobra"
)

// providerView is a provider in JSON. Values of settings are in none of it.
type providerView struct {
	ID         string             `json:"id"`
	Name       string             `json:"name"`
	Isolation  contract.Isolation `json:"isolation"` // of every sandbox; one may have more
	Configured bool               `json:"configured"`
	Problem    string             `json:"problem,omitempty"`
	Missing    [][]string         `json:"missing"`   // variables that are missing, per credential set; any one set suffices
	Settings   []settingView      `json:"settings"`  // names only
	Reachable  *bool              `json:"reachable"` // null: not asked, see --check
	Verified   verifiedView       `json:"verified"`  // as of this build

	choice contract.SettingRule // what chooses the isolation, where something does
}

type settingView struct {
	Env    string `json:"env"`
	Secret bool   `json:"secret"`
	Set    bool   `json:"set"`
}

func newProvidersCmd(a *app) *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use:   "providers",
		Short: "List providers: configured, or what is missing",
		Long: "providers says which providers are configured and which variables the others miss:\n" +
			"names, never values. With --check each one that is configured is asked whether it\n" +
			"answers. VERIFIED is what the catalog stated when this program was built, held against\n" +
			"today's date: the program cannot look at the evidence again, sbxgen validate can.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.within(cmd)
			defer cancel()
			views := []providerView{}
			ids, err := a.chosen()
			if err != nil {
				return err
			}
			entries, err := a.entries()
			if err != nil {
				return err
			}
			for _, d := range a.all() {
				if a.provider == "" || slices.Contains(ids, d.ID) {
					v := a.providerViewOf(ctx, d, check)
					v.Verified = verifiedOf(entries[d.ID], a.clock())
					views = append(views, v)
				}
			}
			if a.json {
				return printJSON(a.out, views)
			}
			return a.printProviders(views)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "ask each one whether it answers")
	return cmd
}

// isolationKey is the setting with which a provider lets people choose.
const isolationKey = "isolation"

// isolation is what every sandbox has at least; where a setting chooses, one may
// have more.
func (v providerView) isolation() string {
	least := or(string(v.Isolation), "unknown")
	if v.choice.Key != "" {
		return least + " or more"
	}
	return least
}

func (a *app) providerViewOf(ctx context.Context, d sandbox.Driver, check bool) providerView {
	v := providerView{ID: d.ID, Name: d.Manifest.Name, Isolation: d.Manifest.Isolation, Missing: a.missing(d.Manifest), Settings: []settingView{}}
	for _, s := range d.Manifest.Settings {
		if s.Key == isolationKey && len(s.Allowed) > 0 {
			v.choice = s
		}
		v.Settings = append(v.Settings, settingView{Env: s.Env, Secret: s.Secret, Set: a.isSet(s)})
	}
	p, err := a.open(ctx, d.ID)
	if err != nil {
		v.Problem = reasonOf(err)
		return v
	}
	v.Configured = true
	err = closing(p, func() error {
		if !check {
			return nil
		}
		_, err := p.Scope(ctx)
		answers := err == nil
		v.Reachable = &answers
		return err
	})
	if err != nil {
		v.Problem = reasonOf(err)
	}
	return v
}

// reasonOf is an error in the fewest words.
func reasonOf(err error) string {
	if usage, ok := err.(usageError); ok {
		err = usage.err
	}
	if e, ok := err.(*port.Error); ok && e.Reason != "" {
		return e.Reason
	}
	return err.Error()
}

func (a *app) isSet(s contract.SettingRule) bool {
	for _, name := range append([]string{s.Env}, s.Aliases...) {
		if name != "" && strings.TrimSpace(a.getenv(name)) != "" {
			return true
		}
	}
	return false
}

// missing are the variables each credential set lacks; nothing when one is whole.
func (a *app) missing(m contract.Manifest) [][]string {
	out := [][]string{}
	for _, set := range m.CredentialSets {
		lacks := []string{}
		for _, s := range m.Settings {
			if slices.Contains(set, s.Key) && !a.isSet(s) {
				lacks = append(lacks, s.Env)
			}
		}
		if len(lacks) == 0 {
			return [][]string{}
		}
		out = append(out, lacks)
	}
	return out
}

func (a *app) printProviders(views []providerView) error {
	tw := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	p := &printer{w: tw}
	p.line("PROVIDER\tCONFIGURED\tISOLATION\tVERIFIED")
	for _, v := range views {
		configured := "yes"
		switch {
		case !v.Configured:
			configured = "no"
		case v.Reachable != nil && *v.Reachable:
			configured = "yes, answers"
		case v.Reachable != nil:
			configured = "yes, no answer"
		}
		p.line("%s\t%s\t%s\t%s", v.ID, configured, v.isolation(), v.Verified.word())
	}
	if err := join(p.err, tw.Flush()); err != nil {
		return err
	}
	p = &printer{w: a.out}
	for _, v := range views {
		if v.choice.Key != "" {
			text := v.ID + ": " + v.choice.Env + " chooses the isolation (" + strings.Join(v.choice.Allowed, ", ") + "); sbx info says what a sandbox has"
			for _, line := range wrapped(text, 80) {
				p.line("%s", line)
			}
		}
		for i, set := range v.Missing {
			p.line("%s: %s %s", v.ID, map[bool]string{true: "set", false: "or set"}[i == 0], strings.Join(set, ", "))
		}
		if v.Problem != "" && len(v.Missing) == 0 {
			p.line("%s: %s", v.ID, v.Problem)
		}
		if v.Verified.Verdict == verified {
			p.line("%s: verified by run %s until %s", v.ID, v.Verified.Run, v.Verified.Until.UTC().Format(time.DateOnly))
		} else {
			for _, line := range wrapped(v.ID+": unknown whether it does what it says: "+v.Verified.Reason, 80) {
				p.line("%s", line)
			}
		}
	}
	p.line("verified is what the catalog stated when this program was built")
	return p.err
}
