package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersionCmd(o outside) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version this program was built from",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(o.out, version())
			return err
		},
	}
}

// version is the module version, and the revision where the build knows it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "sbx unknown"
	}
	v := "sbx " + info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v += " " + s.Value
		}
	}
	return v
}
