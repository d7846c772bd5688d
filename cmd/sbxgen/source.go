package main

import (
	"os"
	"path/filepath"
)

// sourceReader gives the text printer the files that findings are about. A
// file that cannot be read is shown without its line.
func sourceReader(root string) func(file string) []byte {
	return func(file string) []byte {
		if !filepath.IsAbs(file) {
			file = filepath.Join(root, filepath.FromSlash(file))
		}
		b, err := os.ReadFile(file)
		if err != nil {
			return nil
		}
		return b
	}
}
