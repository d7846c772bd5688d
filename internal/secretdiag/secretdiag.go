package secretdiag

import (
	"bytes"
	"unicode/utf8"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/secretscan"
)

// The rules that a part of a text breaks by looking like a credential. What
// each means is in schema/rules.json.
const (
	RuleVendorKey  = "SBX501"
	RuleRandom     = "SBX502"
	RuleAddress    = "SBX503"
	RulePrivateKey = "SBX504"
)

// Rule is the rule that a part of a text breaks by looking like this.
func Rule(k secretscan.Kind) string {
	switch k {
	case secretscan.Random:
		return RuleRandom
	case secretscan.Address:
		return RuleAddress
	case secretscan.PrivateKey:
		return RulePrivateKey
	}
	return RuleVendorKey
}

// Diagnostics places what was found in the text of a file. They do not hold the
// values.
func Diagnostics(file string, src []byte, secrets []secretscan.Finding) []diag.Diagnostic {
	out := make([]diag.Diagnostic, 0, len(secrets))
	for _, s := range secrets {
		rule := Rule(s.Kind)
		d := diag.Diagnostic{File: file, Rule: rule, Message: s.What, Next: "sbxgen explain " + rule,
			Help: "revoke it if it is real, and write the name of a variable here"}
		if s.Kind == secretscan.Random {
			d.Help = "write the name of a variable here; where a digest is meant, write it as sha256 in hex"
		}
		out = append(out, d.At(Span(src, s.Start, s.End)))
	}
	return out
}

// Document finds what looks like a credential in a manifest or a catalog entry.
// It returns what was said of it already without the values, and the findings
// about them after that.
func Document(file string, src []byte, said []diag.Diagnostic) []diag.Diagnostic {
	secrets := secretscan.Scan(src, secretscan.Options{Entropy: true})
	if len(secrets) == 0 {
		return said
	}
	Hide(said, Hider(Values(src, secrets)))
	return append(said, Diagnostics(file, src, secrets)...)
}

// Span turns byte offsets of a text into lines and columns.
func Span(src []byte, start, end int) diag.Span {
	line := 1 + bytes.Count(src[:start], []byte{'\n'})
	lineStart := 1 + bytes.LastIndexByte(src[:start], '\n')
	col := 1 + utf8.RuneCount(src[lineStart:start])
	return diag.Span{Line: line, Col: col, EndLine: line, EndCol: col + utf8.RuneCount(src[start:end])}
}
