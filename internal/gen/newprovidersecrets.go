package gen

import (
	"bytes"
	"unicode/utf8"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/secretscan"
	"github.com/agentworkforce/sbx/internal/yamldoc"
)

// secretsIn finds what looks like a credential in answers, so that it is never
// written anywhere. The diagnostics do not hold the value.
func secretsIn(doc *yamldoc.Doc) []diag.Diagnostic {
	var out []diag.Diagnostic
	src := doc.Source()
	for _, f := range secretscan.Scan(src, secretscan.Options{Entropy: true}) {
		start, end := place(src, f.Start), place(src, f.End)
		out = append(out, diag.Diagnostic{File: doc.Name(), Line: start.Line, Col: start.Col, EndLine: end.Line, EndCol: end.Col,
			Rule: secretRule(f.Kind), Message: f.What + "; only names belong here, never values", Next: "sbxgen explain " + secretRule(f.Kind)})
	}
	return out
}

func secretRule(k secretscan.Kind) string {
	switch k {
	case secretscan.Random:
		return "SBX502"
	case secretscan.Address:
		return "SBX503"
	case secretscan.PrivateKey:
		return "SBX504"
	}
	return "SBX501"
}

// place is where a byte of a text stands.
func place(src []byte, offset int) diag.Span {
	before := src[:offset]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	return diag.Span{Line: 1 + bytes.Count(before, []byte("\n")), Col: 1 + utf8.RuneCount(line)}
}
