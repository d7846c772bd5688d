package wire

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// forms lists the texts in which a secret may show up, without repeats.
func forms(s NamedSecret) []form {
	v := s.Value.Reveal()
	var out []form
	seen := map[string]bool{}
	add := func(kind string, texts ...string) {
		for _, t := range texts {
			// Short remains of an encoding would match by chance.
			if len(t) >= MinSecret && !seen[t] {
				seen[t] = true
				out = append(out, form{text: t, kind: kind, name: s.Name})
			}
		}
	}
	add("plain", v)
	add("url", urlForms(v)...)
	add("json", jsonForms(v)...)
	h := hex.EncodeToString([]byte(v))
	add("hex", h, strings.ToUpper(h))
	for _, t := range base64Forms(v) {
		add("base64", t)
		add("base64", urlForms(t)...)
	}
	return out
}

// urlForms covers form and path escaping, the stricter and laxer habits of
// other languages, both hex cases, and escaping of every byte.
func urlForms(v string) []string {
	const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~"
	var out []string
	for _, t := range []string{
		url.QueryEscape(v),
		url.PathEscape(v),
		percent(v, unreserved),
		percent(v, unreserved+"/"),
		percent(v, unreserved+"!'()*"),
		percent(v, unreserved+"*"),
		percent(v, unreserved+";,/?:@&=+$!'()*#"),
		percent(v, ""),
	} {
		out = append(out, t, lowerEscapes(t), url.QueryEscape(t))
	}
	return out
}

func percent(v, keep string) string {
	var b strings.Builder
	for _, c := range []byte(v) {
		if strings.IndexByte(keep, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func lowerEscapes(t string) string {
	b := []byte(t)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(string(b[i+1:i+3])))
			i += 2
		}
	}
	return string(b)
}

// jsonForms covers escapes with and without HTML safety, pure ASCII, escaped
// slashes, and a JSON string inside another.
func jsonForms(v string) []string {
	var plain strings.Builder
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	var out []string
	if err := enc.Encode(v); err == nil {
		out = append(out, inside(strings.TrimSuffix(plain.String(), "\n")))
	}
	if html, err := json.Marshal(v); err == nil {
		out = append(out, inside(string(html)))
	}
	for _, t := range out {
		out = append(out, ascii(t, "%04x"), ascii(t, "%04X"))
	}
	for _, t := range out {
		out = append(out, strings.ReplaceAll(t, "/", `\/`))
	}
	for _, t := range out {
		if twice, err := json.Marshal(t); err == nil {
			out = append(out, inside(string(twice)))
		}
	}
	return out
}

func inside(quoted string) string { return quoted[1 : len(quoted)-1] }

func ascii(t, verb string) string {
	var b strings.Builder
	for _, c := range t {
		if c < utf8.RuneSelf {
			b.WriteRune(c)
			continue
		}
		units := utf16.AppendRune(nil, c)
		for _, u := range units {
			fmt.Fprintf(&b, `\u`+verb, u)
		}
	}
	return b.String()
}

// base64Forms returns, for each of the three alignments and both alphabets,
// the characters that depend on the secret alone.
func base64Forms(v string) []string {
	var out []string
	for shift := range 3 {
		padded := append(make([]byte, shift, shift+len(v)), v...)
		// Characters before this one also hold bits of the bytes in front.
		from := (shift*8 + 5) / 6
		// Characters from here on also hold bits of the bytes behind.
		to := len(padded) * 8 / 6
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			out = append(out, enc.EncodeToString(padded)[from:to])
		}
	}
	return out
}
