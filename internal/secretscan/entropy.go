package secretscan

import (
	"bytes"
	"math"
)

// minRandom is the shortest token whose entropy is judged, minBits the entropy
// in bits of each character, minTurns how often the kind of character changes.
const (
	minRandom = 24
	minBits   = 4.0
	minTurns  = 6
)

// looksRandom reports a token without structure: upper and lower case and digits
// in no order. Words, versions, digests in hex and UUIDs are none.
func looksRandom(token []byte) bool {
	if len(token) < minRandom || bytes.IndexByte(token, '.') >= 0 {
		return false
	}
	var count [256]int
	var lower, upper, digits, turns, last int
	for _, b := range token {
		count[b]++
		kind := 0
		switch {
		case b >= 'a' && b <= 'z':
			lower, kind = lower+1, 1
		case b >= 'A' && b <= 'Z':
			upper, kind = upper+1, 2
		case b >= '0' && b <= '9':
			digits, kind = digits+1, 3
		}
		if kind != last {
			turns, last = turns+1, kind
		}
	}
	if lower < 2 || upper < 2 || digits < 3 || turns < minTurns {
		return false
	}
	bits := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(token))
			bits -= p * math.Log2(p)
		}
	}
	return bits >= minBits
}

// isDigestContext reports a token that says what it is: an integrity string such
// as sha512-..., or a part of a path or an address.
func isDigestContext(src []byte, start, end int) bool {
	token := src[start:end]
	for _, p := range []string{"sha256-", "sha384-", "sha512-", "h1-"} {
		if bytes.HasPrefix(token, []byte(p)) {
			return true
		}
	}
	if start > 0 && (src[start-1] == '/' || src[start-1] == ':' && bytes.HasSuffix(src[:start], []byte("h1:"))) {
		return inIntegrity(src, start)
	}
	return false
}

// inIntegrity reports a token inside a longer integrity string, whose base64 has
// slashes in it, or inside an address.
func inIntegrity(src []byte, start int) bool {
	i := start
	for i > 0 && !bytes.ContainsRune([]byte(" \t\r\n\"'"), rune(src[i-1])) {
		i--
	}
	head := src[i:start]
	return bytes.HasPrefix(head, []byte("sha")) || bytes.HasPrefix(head, []byte("h1:")) || bytes.Contains(head, []byte("://"))
}
