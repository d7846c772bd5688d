package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/schema"
)

// schemaFile is one embedded document and the word it is asked for by.
type schemaFile struct{ word, file, about string }

func schemaFiles() []schemaFile {
	return []schemaFile{
		{"provider", schema.ProviderFile, "JSON Schema of provider.yaml, with the capability vocabulary"},
		{"contract", schema.ContractFile, "JSON Schema of what operations take and give"},
		{"catalog", schema.CatalogFile, "JSON Schema of catalog entries"},
		{"index", "catalog-index.schema.json", "catalog/catalog.json"},
		{"errors", "errors.json", "error codes and exit codes"},
		{"checks", "checks.json", "conformance checks"},
		{"metrics", "metrics.json", "benchmark metrics"},
		{"rules", "rules.json", "rules of the validator"},
		{"hazards", "hazards.json", "known ways in which vendors mislead their callers"},
	}
}

func newSchemaCmd(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "schema",
		Short: "Print the schemas that everything else is made from",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var words []string
	long := "print writes one of these documents to standard output, as it is built in; without a\nname it writes that of provider.yaml.\n"
	for _, f := range schemaFiles() {
		words = append(words, f.word)
		long += "\n  " + f.word + strings.Repeat(" ", 10-len(f.word)) + f.about
	}
	c.AddCommand(&cobra.Command{
		Use:       "print [" + strings.Join(words, "|") + "]",
		Short:     "Print a schema or a list",
		Long:      long,
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: words,
		RunE: func(_ *cobra.Command, args []string) error {
			word := words[0]
			if len(args) == 1 {
				word = args[0]
			}
			for _, f := range schemaFiles() {
				if f.word == word {
					b, err := schema.Files().ReadFile(f.file)
					if err != nil {
						return err
					}
					_, err = s.out.Write(b)
					return err
				}
			}
			if near := diag.Suggest(word, words); near != "" {
				return usagef("there is no schema %q; did you mean %s?", word, near)
			}
			return usagef("there is no schema %q; one of %s", word, strings.Join(words, ", "))
		},
	})
	return c
}
