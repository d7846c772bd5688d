package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newChecklistCmd(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "checklist PROVIDER",
		Short: "Show what is left to do for a provider, and what a reviewer looks at",
		Long: "checklist prints CHECKLIST.md of a provider as it stands now: what the machine sees\n" +
			"in its folder, and what only a person can judge with the ticks made so far.\n" +
			"It writes nothing; sbxgen generate updates the file.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := loadProject(cmd, s, args)
			if err != nil {
				return err
			}
			text, err := p.Checklist(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(plainWriter{s.out}, text)
			return err
		},
	}
}
