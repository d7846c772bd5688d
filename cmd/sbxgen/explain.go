package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentworkforce/sbx/internal/diag"
)

func newExplainCmd(s streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "explain [RULE|CAPABILITY|HAZARD|CHECK|METRIC|KEY]",
		Short: "Explain a rule, capability, hazard, check, metric or manifest key; without one, list them",
		Long: "explain says what an ID means that sbxgen prints: a rule of the validator (SBX203), a\n" +
			"capability of the vocabulary (files), a hazard, a conformance check or a benchmark\n" +
			"metric; or what a key of provider.yaml says and can be (lifecycle.goneProof, or only\n" +
			"goneProof). Without an ID it lists all of them.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			topics, err := loadTopics()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				if topics, err = findTopics(topics, args[0]); err != nil {
					return err
				}
			}
			switch {
			case asJSON:
				return printTopicsJSON(s.out, topics)
			case len(args) == 0:
				return printTopicList(s.out, topics)
			}
			return printTopics(s.out, topics)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// findTopics returns every topic of this ID: a capability and a metric may have
// the same one. Where there is none, the end of a key's path is enough. Case does
// not matter.
func findTopics(topics []topic, id string) ([]topic, error) {
	var out []topic
	var ids []string
	for _, t := range topics {
		if strings.EqualFold(t.ID, id) {
			out = append(out, t)
		}
		ids = append(ids, t.ID)
	}
	if len(out) > 0 {
		return out, nil
	}
	for _, t := range topics {
		if endsIn(t, id) {
			out = append(out, t)
		}
		if t.Kind == kindKey {
			ids = append(ids, t.ID[strings.LastIndexByte(t.ID, '.')+1:])
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	if near := diag.Suggest(id, ids); near != "" {
		return nil, usagef("nothing is called %q; did you mean %s?", id, near)
	}
	return nil, usagef("nothing is called %q; sbxgen explain lists what there is", id)
}

func printTopicsJSON(w io.Writer, topics []topic) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"topics": topics})
}

func printTopicList(w io.Writer, topics []topic) error {
	var b strings.Builder
	kind := ""
	for _, t := range topics {
		if t.Kind != kind {
			if kind != "" {
				b.WriteString("\n")
			}
			kind = t.Kind
			b.WriteString(heading(kind) + ":\n")
		}
		fmt.Fprintf(&b, "  %-36s %s\n", t.ID, t.Title)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func heading(kind string) string {
	if kind == "capability" {
		return "Capabilities"
	}
	return strings.ToUpper(kind[:1]) + kind[1:] + "s"
}

func printTopics(w io.Writer, topics []topic) error {
	var b strings.Builder
	for i, t := range topics {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s (%s)\n", t.ID, t.Kind)
		if t.Title != "" {
			fmt.Fprintf(&b, "%s\n", fold(t.Title, ""))
		}
		for _, p := range t.Parts {
			if p.Text != "" {
				fmt.Fprintf(&b, "\n%s:\n%s\n", p.Name, fold(p.Text, "  "))
			}
			if len(p.List) > 0 {
				fmt.Fprintf(&b, "\n%s:\n", p.Name)
				for _, item := range p.List {
					fmt.Fprintf(&b, "  %s\n", item.ID)
					b.WriteString(fold(item.Text, "      ") + "\n")
				}
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// fold breaks each line of text at spaces before column 90. Lines of an example
// stay apart.
func fold(text, indent string) string {
	var out []string
	for raw := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		lead := raw[:len(raw)-len(strings.TrimLeft(raw, " "))]
		line := indent + lead
		empty := true
		for word := range strings.FieldsSeq(raw) {
			if !empty && len(line)+1+len(word) > 90 {
				out, line, empty = append(out, line), indent+lead, true
			}
			if !empty {
				line += " "
			}
			line, empty = line+word, false
		}
		out = append(out, strings.TrimRight(line, " "))
	}
	return strings.Join(slices.Clip(out), "\n")
}
