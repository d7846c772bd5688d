package main

import (
	"strings"
	"text/tabwriter"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/spf13/cobra"
)

// capabilityView is one capability of one provider in JSON.
type capabilityView struct {
	Capability contract.Capability `json:"capability"`
	Support    contract.Support    `json:"support"`
	Via        contract.Via        `json:"via,omitempty"`
	Reason     string              `json:"reason,omitempty"`
}

func newCapabilitiesCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "capabilities [PROVIDER]",
		Short: "Show what providers can do, and why not",
		Long: "capabilities shows what manifests say. Nobody is asked. With PROVIDER it shows how each\n" +
			"one is done, or why it is not.",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeProviders,
		RunE: func(_ *cobra.Command, args []string) error {
			drivers := a.all()
			ids := args
			if len(ids) == 0 && a.provider != "" {
				var err error
				if ids, err = a.chosen(); err != nil {
					return err
				}
			}
			if len(ids) > 0 {
				drivers = nil
			}
			for _, id := range ids {
				d, ok := a.find(id)
				if !ok {
					return usagef("%s", a.unbuilt(id))
				}
				drivers = append(drivers, d)
			}
			return a.showCapabilities(drivers)
		},
	}
}

func (a *app) showCapabilities(drivers []sandbox.Driver) error {
	if a.json {
		out := map[string][]capabilityView{}
		for _, d := range drivers {
			out[d.ID] = capabilitiesOf(d.Manifest)
		}
		return printJSON(a.out, out)
	}
	if len(drivers) == 1 {
		return a.printCapabilities(drivers[0])
	}
	return a.printMatrix(drivers)
}

func capabilitiesOf(m contract.Manifest) []capabilityView {
	var out []capabilityView
	for _, c := range contract.Capabilities() {
		claim := m.Claims[string(c)]
		if claim.Support == "" {
			claim = contract.Claim{Support: contract.SupportUnknown, Reason: "the manifest does not state it"}
		}
		out = append(out, capabilityView{Capability: c, Support: claim.Support, Via: claim.Via, Reason: claim.Reason})
	}
	return out
}

// printCapabilities shows one provider: how, or why not, within 80 columns.
func (a *app) printCapabilities(d sandbox.Driver) error {
	p := &printer{w: a.out}
	for _, v := range capabilitiesOf(d.Manifest) {
		text := v.Reason
		if v.Support == contract.SupportSupported {
			text = string(v.Via)
		}
		const head = 30
		for i, line := range wrapped(text, 80-head) {
			if i == 0 {
				p.line("%s", strings.TrimRight(pad(string(v.Capability), 16)+pad(string(v.Support), head-16)+line, " "))
				continue
			}
			p.line("%s%s", strings.Repeat(" ", head), line)
		}
	}
	return p.err
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(width-len(s), 1))
}

// wrapped breaks text at spaces; an empty text is one empty line.
func wrapped(text string, width int) []string {
	out := []string{""}
	for word := range strings.FieldsSeq(text) {
		last := &out[len(out)-1]
		switch {
		case *last == "":
			*last = word
		case len(*last)+1+len(word) > width:
			out = append(out, word)
		default:
			*last += " " + word
		}
	}
	return out
}

// perTable is how many providers fit beside each other in 80 columns.
const perTable = 5

// printMatrix shows capabilities by provider.
func (a *app) printMatrix(drivers []sandbox.Driver) error {
	for len(drivers) > 0 {
		some := drivers[:min(perTable, len(drivers))]
		drivers = drivers[len(some):]
		tw := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
		p := &printer{w: tw}
		row := "%s" + strings.Repeat("\t%s", len(some))
		head := []any{"CAPABILITY"}
		for _, d := range some {
			head = append(head, d.ID)
		}
		p.line(row, head...)
		for _, c := range contract.Capabilities() {
			cells := []any{c}
			for _, d := range some {
				cells = append(cells, word(d.Manifest.Claims[string(c)].Support))
			}
			p.line(row, cells...)
		}
		if err := join(p.err, tw.Flush()); err != nil {
			return err
		}
	}
	p := &printer{w: a.out}
	p.line("\nyes: supported, no: the vendor cannot, hidden: sbx has no operation for it here,\n?: not established. sbx capabilities PROVIDER says why.")
	return p.err
}

// word is a support value in a table.
func word(s contract.Support) string {
	switch s {
	case contract.SupportSupported:
		return "yes"
	case contract.SupportUnsupported:
		return "no"
	case contract.SupportNotExposed:
		return "hidden"
	}
	return "?"
}
