package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/spf13/cobra"
)

func newNewCmd(a *app) *cobra.Command {
	f := &createFlags{}
	var key string
	cmd := &cobra.Command{
		Use:     "new [FLAGS]",
		Aliases: []string{"create"},
		Short:   "Create a sandbox and print its reference",
		Long: "new creates a sandbox, runs a first command in it, and prints its reference. It is\n" +
			"kept until sbx rm: no reaper touches it before its --ttl, if it has one.",
		Example: "  id=$(sbx new --provider docker --image alpine)",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.runNew(cmd, f, key) },
	}
	f.register(cmd, a)
	cmd.Flags().StringVar(&key, "for", "", "the sandbox of this `KEY`, created if there is none")
	return cmd
}

// newView is what new says in JSON.
type newView struct {
	Ref       string            `json:"ref"`
	Provider  string            `json:"provider"`
	Key       string            `json:"key,omitempty"`
	Instance  contract.Instance `json:"instance"`
	ReapAfter string            `json:"reapAfter,omitempty"` // a reaper may destroy it then; the vendor enforces nothing
	Note      string            `json:"note,omitempty"`      // what was asked for and is not so
	Phases    []phase           `json:"phases"`
}

func (a *app) runNew(cmd *cobra.Command, f *createFlags, key string) error {
	ctx, cancel := a.within(cmd)
	defer cancel()
	p, sb, err := a.create(ctx, f, key, sandbox.Kept())
	if err != nil {
		return err
	}
	return closing(p, func() error {
		v := newView{Ref: sb.Ref().String(), Provider: sb.Provider(), Key: key, Instance: sb.Instance(),
			Phases: a.watch.of("create", "ready")}
		d, _ := a.find(sb.Provider())
		var notes error
		if f.ttl > 0 && !hasLifetime(d) {
			v.ReapAfter = f.ttl.String()
			notes = a.note("%s ends nothing by time: sbx reap --apply may destroy it in %s, nobody else will", sb.Provider(), f.ttl)
		}
		notes = join(notes, a.warnings(), a.timings("create", "ready"))
		if key != "" && len(a.watch.of("create")) == 0 { // it was there
			v.Note = otherImage(f, v.Instance)
		}
		if v.Note != "" {
			notes = join(notes, a.note("%s", v.Note))
		}
		printed := a.printRef(v)
		if printed != nil { // nobody knows of it, and it would be kept for ever
			_, destroyErr := sb.Destroy(ctx)
			return mattersError{join(fmt.Errorf("the reference could not be printed, so the sandbox was destroyed: %w", printed), destroyErr)}
		}
		return notes
	})
}

// otherImage says that the sandbox of a key was there already, made of another
// image than what is asked for now. Where the vendor does not say of which, nobody
// knows.
func otherImage(f *createFlags, i contract.Instance) string {
	if f.image == "" || i.Image == "" || i.Image == f.image {
		return ""
	}
	return fmt.Sprintf("the sandbox of this key was made with image %s; --image %s was not used", i.Image, f.image)
}

func (a *app) printRef(v newView) error {
	if a.json {
		return printJSON(a.out, v)
	}
	return a.say(v.Ref)
}

// create makes a sandbox at the first provider that can. Close the provider.
func (a *app) create(ctx context.Context, f *createFlags, key string, more ...sandbox.CreateOption) (*sandbox.Provider, *sandbox.Sandbox, error) {
	defer quietLine(ctx)
	if err := f.check(); err != nil { // before anybody is asked anything
		return nil, nil, err
	}
	cfg, err := a.config()
	if err != nil {
		return nil, nil, err
	}
	if err := a.writable(); err != nil {
		return nil, nil, err
	}
	ids, err := a.providersOf(ctx, f)
	if err != nil {
		return nil, nil, err
	}
	var all []sandbox.Candidate
	for _, id := range ids {
		d, _ := a.find(id)
		c := sandbox.Candidate{Driver: d, Options: a.options()}
		if c.Create, err = f.at(a, d, cfg); err != nil {
			return nil, nil, err
		}
		c.Create = append(c.Create, more...)
		all = append(all, c)
	}
	if key != "" && len(all) > 1 {
		return nil, nil, usagef("--for needs one provider: at two of them there could be two sandboxes of the key")
	}
	if len(all) > 1 {
		p, sb, err := sandbox.CreateAmong(ctx, all, sandbox.Requirements{})
		return p, sb, a.createAdvice(err, f, cfg)
	}
	p, sb, err := createAt(ctx, all[0], key)
	return p, sb, a.createAdvice(err, f, cfg)
}

// providersOf are the providers to create at; a snapshot is at one of them only.
func (a *app) providersOf(ctx context.Context, f *createFlags) ([]string, error) {
	if id, _, ok := strings.Cut(f.snapshot, ":"); ok {
		if _, known := a.find(id); known {
			if a.provider != "" && a.provider != id {
				return nil, usagef("the snapshot is not of the provider --provider names")
			}
			return []string{id}, nil
		}
	}
	return a.candidates(ctx)
}

func createAt(ctx context.Context, c sandbox.Candidate, key string) (*sandbox.Provider, *sandbox.Sandbox, error) {
	p, err := sandbox.Open(ctx, c.Driver, c.Options...)
	if err != nil {
		return nil, nil, err
	}
	var sb *sandbox.Sandbox
	if key != "" {
		sb, err = p.Ensure(ctx, key, c.Create...)
	} else {
		sb, err = p.Create(ctx, c.Create...)
	}
	if err != nil {
		return nil, nil, join(err, p.Close())
	}
	return p, sb, nil
}

// createAdvice says which flag is missing where that is what a provider refused.
func (a *app) createAdvice(err error, f *createFlags, cfg config) error {
	e, ok := errors.AsType[*port.Error](err)
	if !ok {
		return err
	}
	d, ok := a.find(e.Provider)
	if !ok {
		return err
	}
	err = a.wrongSetting(d, err)
	named := or(or(f.image, f.snapshot), or(cfg.Images[d.ID], d.Manifest.Image))
	switch {
	case e.Op != "Open" && e.Code == port.CodeInvalidArgument && named == "":
		return fmt.Errorf("%w; --image names one, or images.%s in %s", err, d.ID, a.configPath())
	case e.Code == port.CodeUnsupported && e.Capability == "" && f.uncontainable(d):
		return adviceError{err, "--allow-uncontained starts it all the same, reaching whatever it likes"}
	}
	return err
}
