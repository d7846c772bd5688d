package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/gate"
)

// demote writes status unknown into the entries whose evidence was refused. Each
// file is replaced as a whole.
func demote(s streams, root string, set *diag.Set) error {
	for _, d := range gate.Demotions(set) {
		file := filepath.Join(root, filepath.FromSlash(d.File))
		src, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		out, err := gate.Demote(d.File, src, d.Reason)
		if err != nil {
			return err
		}
		if err := replaceWhole(file, out); err != nil {
			return err
		}
		fmt.Fprintf(s.err, "%s: status is unknown now: %s\n", d.File, d.Reason)
	}
	return nil
}

func replaceWhole(file string, content []byte) error {
	temp := file + ".tmp"
	if err := os.WriteFile(temp, content, 0o644); err != nil {
		return err
	}
	return os.Rename(temp, file)
}
