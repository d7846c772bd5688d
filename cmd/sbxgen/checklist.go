package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentworkforce/sbx/internal/gen"
)

func newChecklistCmd(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "checklist [PROVIDER]",
		Short: "Show what is left to do for a provider, and what a reviewer looks at",
		Long: "checklist prints CHECKLIST.md of a provider as it stands now: what the machine sees\n" +
			"in its folder, and what only a person can judge with the ticks made so far.\n" +
			"It writes nothing; sbxgen generate updates the file. The provider may be left out\n" +
			"where there is only one.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := loadProject(cmd, s, args)
			if err != nil {
				return err
			}
			id, err := onlyProvider(p, args)
			if err != nil {
				return err
			}
			text, err := p.Checklist(id)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(plainWriter{s.out}, text)
			return err
		},
	}
}

// onlyProvider is the provider that was named, or the only one there is.
func onlyProvider(p *gen.Project, args []string) (string, error) {
	if len(args) == 1 {
		return args[0], nil
	}
	var ids []string
	for _, m := range p.Manifests {
		ids = append(ids, m.ID())
	}
	switch len(ids) {
	case 0:
		return "", usagef("%s: there is no provider here; make one with: sbxgen new provider", p.Root)
	case 1:
		return ids[0], nil
	}
	slices.Sort(ids)
	return "", usagef("there are several providers here; name one of: %s", strings.Join(ids, ", "))
}
