package gate

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/agentworkforce/sbx/internal/diag"
)

// secret is a part of a text that looks like a credential. The value itself is
// never part of a message.
type secret struct {
	start, end int // bytes
	rule       string
	what       string
}

// scanSecrets finds what looks like a credential in one pass over the text.
// Entropy is judged only when asked for: code is full of words that look random.
func scanSecrets(src []byte, entropy bool) []secret {
	var out []secret
	for i := 0; i < len(src); {
		if !isTokenByte(src[i]) {
			i++
			continue
		}
		start := i
		for i < len(src) && isTokenByte(src[i]) {
			i++
		}
		if i-start < minSecret {
			continue
		}
		if s, ok := judgeToken(src, start, i, entropy); ok {
			out = append(out, s)
		}
	}
	out = append(out, scanAddresses(src)...)
	return append(out, scanPrivateKeys(src)...)
}

// minSecret is the fewest bytes of anything taken for a credential.
const minSecret = 16

// isTokenByte reports the bytes credentials are made of. A dot is one of them
// for the sake of JSON web tokens.
func isTokenByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-' || b == '.' || b == '+'
}

func judgeToken(src []byte, start, end int, entropy bool) (secret, bool) {
	token := src[start:end]
	if name, at, length := vendorShape(token); name != "" {
		return secret{start + at, start + at + length, ruleVendorKey, "this looks like " + name}, true
	}
	if entropy && looksRandom(token) && !isDigestContext(src, start, end) {
		return secret{start, end, ruleEntropy, fmt.Sprintf("these %d characters look random, like a credential", len(token))}, true
	}
	return secret{}, false
}

// scanAddresses finds addresses that carry a user with a password.
func scanAddresses(src []byte) []secret {
	var out []secret
	for from := 0; ; {
		i := bytes.Index(src[from:], []byte("://"))
		if i < 0 {
			return out
		}
		start := from + i + len("://")
		end := start
		for end < len(src) && !bytes.ContainsRune([]byte(" \t\r\n\"'`<>/?#{}$"), rune(src[end])) {
			end++
		}
		from = start
		at := bytes.LastIndexByte(src[start:end], '@')
		colon := bytes.IndexByte(src[start:end], ':')
		if colon > 0 && at > colon+1 {
			out = append(out, secret{start, start + at, ruleURLSecret, "a user and a password are part of this address"})
		}
	}
}

func scanPrivateKeys(src []byte) []secret {
	var out []secret
	begin, key := []byte("-----BEGIN "), []byte("PRIVATE KEY-----")
	for from := 0; ; {
		i := bytes.Index(src[from:], begin)
		if i < 0 {
			return out
		}
		start := from + i
		from = start + len(begin)
		line := src[start:]
		if n := bytes.IndexByte(line, '\n'); n >= 0 {
			line = line[:n]
		}
		if n := bytes.Index(line, key); n > 0 {
			out = append(out, secret{start, start + n + len(key), rulePrivateKey, "this is the beginning of a private key"})
		}
	}
}

// secretDiagnostics places secrets in a file.
func secretDiagnostics(file string, src []byte, secrets []secret) []diag.Diagnostic {
	out := make([]diag.Diagnostic, 0, len(secrets))
	for _, s := range secrets {
		d := diag.Diagnostic{File: file, Rule: s.rule, Message: s.what,
			Help: "revoke it if it is real, and write the name of a variable here"}
		if s.rule == ruleEntropy {
			d.Help = "write the name of a variable here; where a digest is meant, write it as sha256 in hex"
		}
		out = append(out, d.At(byteSpan(src, s.start, s.end)))
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
