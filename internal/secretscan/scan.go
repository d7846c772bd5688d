package secretscan

import (
	"bytes"
	"fmt"
	"slices"
)

// Kind is the sort of thing that was found.
type Kind string

// The kinds.
const (
	VendorKey  Kind = "vendor-key"  // in the form of a vendor's credential
	Random     Kind = "random"      // without structure; reported only with Options.Entropy
	Address    Kind = "address"     // user and password inside an address
	PrivateKey Kind = "private-key" // the beginning of a private key
)

// Options change what Scan looks for. The zero value looks for everything but
// randomness, of which code and digests are full.
type Options struct {
	Entropy bool
}

// Finding is a part of a text that looks like a credential. It never holds the
// value.
type Finding struct {
	Kind       Kind
	Start, End int    // bytes
	What       string // a sentence without the value
}

// minToken is the fewest bytes of anything taken for a credential.
const minToken = 16

// Scan returns what looks like a credential in src, in the order of the text.
func Scan(src []byte, o Options) []Finding {
	var out []Finding
	for i := 0; i < len(src); {
		if !isTokenByte(src[i]) {
			i++
			continue
		}
		start := i
		for i < len(src) && isTokenByte(src[i]) {
			i++
		}
		if i-start < minToken {
			continue
		}
		if f, ok := judge(src, start, i, o); ok {
			out = append(out, f)
		}
	}
	out = append(append(out, addresses(src)...), privateKeys(src)...)
	slices.SortStableFunc(out, func(a, b Finding) int { return a.Start - b.Start })
	return out
}

// isTokenByte reports the bytes credentials are made of. A dot is one of them
// for the sake of JSON web tokens.
func isTokenByte(b byte) bool {
	return isAlnum(b) || b == '_' || b == '-' || b == '.' || b == '+'
}

// judge looks at every place of a token where a word could begin: a key is found
// behind a prefix such as "token-" too.
func judge(src []byte, start, end int, o Options) (Finding, bool) {
	token := src[start:end]
	for at := range token {
		if at > 0 && isAlnum(token[at-1]) {
			continue
		}
		if len(token)-at < minToken {
			break
		}
		if name, length := vendorShape(token[at:]); name != "" {
			return Finding{VendorKey, start + at, start + at + length, "this looks like " + name}, true
		}
	}
	if o.Entropy && looksRandom(token) && !isDigestContext(src, start, end) {
		return Finding{Random, start, end, fmt.Sprintf("these %d characters look random, like a credential", len(token))}, true
	}
	return Finding{}, false
}

// addresses finds addresses that carry a user with a password.
func addresses(src []byte) []Finding {
	var out []Finding
	for from := 0; ; {
		i := bytes.Index(src[from:], []byte("://"))
		if i < 0 {
			return out
		}
		start := from + i + len("://")
		end := start
		for end < len(src) && bytes.IndexByte([]byte(" \t\r\n\"'`<>/?#{}$\\"), src[end]) < 0 {
			end++
		}
		from = start
		at := bytes.LastIndexByte(src[start:end], '@')
		colon := bytes.IndexByte(src[start:end], ':')
		if colon > 0 && at > colon+1 {
			out = append(out, Finding{Address, start, start + at, "a user and a password are part of this address"})
		}
	}
}

func privateKeys(src []byte) []Finding {
	var out []Finding
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
			out = append(out, Finding{PrivateKey, start, start + n + len(key), "this is the beginning of a private key"})
		}
	}
}
