package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agentworkforce/sbx/internal/gen"
	"github.com/agentworkforce/sbx/internal/gen/tree"
)

func printDryRun(w io.Writer, sc *gen.Scaffold, r tree.Result) error {
	var b strings.Builder
	printTree(&b, sc, r.Created)
	for _, f := range r.Findings {
		b.WriteString(f.Diff)
	}
	b.WriteString("nothing was written\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func printMade(w io.Writer, sc *gen.Scaffold, r tree.Result, folder string) error {
	var b strings.Builder
	printTree(&b, sc, r.Created)
	for _, path := range r.Written {
		fmt.Fprintf(&b, "rewritten: %s\n", path)
	}
	m := sc.Project.Manifests[slices.IndexFunc(sc.Project.Manifests, func(m *gen.Manifest) bool { return m.Dir == sc.Dir })]
	id, pkg := m.ID(), "./"+sc.Dir
	if sc.Dir == "." {
		pkg = "."
	}
	file := func(name string) string { return strings.TrimPrefix(sc.Dir+"/"+name, "./") }
	adapter := slices.Contains(r.Created, file("adapter.go"))
	if adapter {
		fmt.Fprintf(&b, "\nTwo files are yours to write:\n  %-32s what the vendor is and can do; what you do not know stays unknown\n"+
			"  %-32s the methods; each answers not_implemented until you write it\n", file("provider.yaml"), file("adapter.go"))
	} else {
		fmt.Fprintf(&b, "\nOne file is yours to write:\n  %-32s what the vendor is and can do; what you do not know stays unknown\n", file("provider.yaml"))
	}
	b.WriteString("\nNext:\n")
	if root := sc.Project.Root; root != folder {
		fmt.Fprintf(&b, "  cd %s\n", root)
	}
	if sc.NeedsModule {
		b.WriteString("  go get github.com/agentworkforce/sbx@latest\n  go mod tidy\n")
	}
	if adapter {
		fmt.Fprintf(&b, "  go test %s\n", pkg)
	}
	fmt.Fprintf(&b, "  sbxgen generate %s\n  sbxgen checklist %s\n", id, id)
	_, err := io.WriteString(w, b.String())
	return err
}

// printTree prints the provider's folder and what was made elsewhere. Fixtures
// are counted, not listed.
func printTree(b *strings.Builder, sc *gen.Scaffold, created []string) {
	fmt.Fprintln(b, sc.Dir)
	var elsewhere []string
	for _, path := range created {
		name, inside := strings.CutPrefix(path, sc.Dir+"/")
		switch {
		case sc.Dir != "." && !inside:
			elsewhere = append(elsewhere, path)
		default:
			fmt.Fprintf(b, "  %s\n", name)
		}
	}
	for _, path := range elsewhere {
		fmt.Fprintln(b, path)
	}
}
