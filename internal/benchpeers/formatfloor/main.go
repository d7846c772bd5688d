// Command formatfloor formats every Go file below a folder with go/format, one
// after the other, and writes nothing: the time that no generator of formatted
// Go can go below.
package main

import (
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path/filepath"
)

func main() {
	if err := formatAll(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "formatfloor: %v\n", err)
		os.Exit(1)
	}
}

func formatAll(roots []string) error {
	files := 0
	for _, root := range roots {
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(name) != ".go" {
				return err
			}
			src, err := os.ReadFile(name)
			if err == nil {
				files++
				_, err = format.Source(src)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if files == 0 {
		return fmt.Errorf("no Go files in %q", roots)
	}
	return nil
}
