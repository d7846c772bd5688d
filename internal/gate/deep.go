package gate

import (
	"bytes"
	"context"
	"strings"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/gitleaks"
	"github.com/agentworkforce/sbx/internal/secretdiag"
	"github.com/agentworkforce/sbx/internal/secretscan"
)

// ruleDeepSecret is what a hit of the deep scan breaks.
const ruleDeepSecret = "SBX506"

// deep looks at every target with the rules of gitleaks, besides the scan that
// always runs. A file that cannot be read has a finding already.
func (r *run) deep(ctx context.Context) error {
	scanner, err := gitleaks.New()
	if err != nil {
		return err
	}
	var buf bytes.Buffer
	for _, name := range r.targets {
		if err := ctx.Err(); err != nil {
			return err
		}
		src, err := r.read(target{name: name, kind: kindData}, &buf)
		if err != nil {
			continue
		}
		for _, f := range scanner.Scan(src) {
			r.deepFinding(name, src, f)
		}
	}
	return nil
}

// deepFinding reports a hit at its place and takes its value out of what is said
// about the file elsewhere.
func (r *run) deepFinding(name string, src []byte, f gitleaks.Finding) {
	value := string(src[f.Start:f.End])
	for i := range r.found {
		if d := &r.found[i]; d.File == name && value != "" {
			hide := func(s string) string { return strings.ReplaceAll(s, value, secretscan.Hidden) }
			d.Message, d.Help, d.Suggestion = hide(d.Message), hide(d.Help), hide(d.Suggestion)
		}
	}
	r.at(name, ruleDeepSecret, deepSpan(src, f), "gitleaks takes this for a secret: "+f.Rule).Help =
		"revoke it if it is real, and write the name of a variable here"
}

// deepSpan is where a hit is, or the part of it on its first line: a finding
// marks one line.
func deepSpan(src []byte, f gitleaks.Finding) diag.Span {
	end := f.End
	if i := bytes.IndexByte(src[f.Start:f.End], '\n'); i >= 0 {
		end = f.Start + i
	}
	return secretdiag.Span(src, f.Start, end)
}
