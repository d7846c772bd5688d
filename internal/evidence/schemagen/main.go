// Command schemagen writes the JSON Schemas of what runs write, reflected from
// the Go types that write it, into schema/evidence:
//
//	go run ./internal/evidence/schemagen
//
// It is run at the root of the module. A test compares the files with the types.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := write("schema"); err != nil {
		fmt.Fprintln(os.Stderr, "schemagen:", err)
		os.Exit(1)
	}
}

// write writes every schema below dir.
func write(dir string) error {
	all, err := schemas()
	if err != nil {
		return err
	}
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
