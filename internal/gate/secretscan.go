package gate

import (
	"bytes"
	"unicode/utf8"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/secretscan"
)

// secretRule is the rule that a part of a text breaks by looking like this.
func secretRule(k secretscan.Kind) string {
	switch k {
	case secretscan.Random:
		return ruleEntropy
	case secretscan.Address:
		return ruleURLSecret
	case secretscan.PrivateKey:
		return rulePrivateKey
	}
	return ruleVendorKey
}

// secretDiagnostics places secrets in a file.
func secretDiagnostics(file string, src []byte, secrets []secretscan.Finding) []diag.Diagnostic {
	out := make([]diag.Diagnostic, 0, len(secrets))
	for _, s := range secrets {
		d := diag.Diagnostic{File: file, Rule: secretRule(s.Kind), Message: s.What,
			Help: "revoke it if it is real, and write the name of a variable here"}
		if s.Kind == secretscan.Random {
			d.Help = "write the name of a variable here; where a digest is meant, write it as sha256 in hex"
		}
		out = append(out, d.At(byteSpan(src, s.Start, s.End)))
	}
	return out
}

// byteSpan turns byte offsets into lines and columns.
func byteSpan(src []byte, start, end int) diag.Span {
	line := 1 + bytes.Count(src[:start], []byte{'\n'})
	lineStart := 1 + bytes.LastIndexByte(src[:start], '\n')
	col := 1 + utf8.RuneCount(src[lineStart:start])
	return diag.Span{Line: line, Col: col, EndLine: line, EndCol: col + utf8.RuneCount(src[start:end])}
}
