package main

import (
	"io"

	"github.com/agentworkforce/sbx/internal/diag"
)

// plainWriter writes text that is not the program's own: what a terminal would
// act on instead of showing it is written as an escape. Each Write is whole
// characters, as those of fmt are.
type plainWriter struct{ to io.Writer }

// Write writes p without what a terminal would act on, and reports all of p as
// written unless that fails.
func (w plainWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.to, diag.PrintableLines(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
