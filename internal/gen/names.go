package gen

import (
	"strings"
	"unicode"
)

// initialisms are the words Go writes in capitals. The map is small on
// purpose: only words that occur in schema/ are in it.
func initialism(word string) (string, bool) {
	switch strings.ToLower(word) {
	case "id", "url", "cpu", "pty", "ttl", "api", "ssh", "usd", "json", "http", "os", "sdk", "vm", "tls", "ip", "dns":
		return strings.ToUpper(word), true
	case "ids", "urls", "cpus":
		return strings.ToUpper(word[:len(word)-1]) + "s", true
	case "mib":
		return "MiB", true
	case "cidrs":
		return "CIDRs", true
	case "gib":
		return "GiB", true
	}
	return "", false
}

// goName turns a schema name (camelCase, snake_case, kebab-case or dotted)
// into an exported Go name: "memoryMiB" -> MemoryMiB, "exec.stream" -> ExecStream.
func goName(name string) string {
	var out strings.Builder
	for _, w := range words(name) {
		if s, ok := initialism(w); ok {
			out.WriteString(s)
			continue
		}
		r := []rune(w)
		out.WriteString(string(unicode.ToUpper(r[0])) + string(r[1:]))
	}
	return out.String()
}

// goParam turns a schema name into an unexported Go name.
func goParam(name string) string {
	g := goName(name)
	if up, ok := initialism(words(name)[0]); ok {
		return strings.ToLower(up) + strings.TrimPrefix(g, up)
	}
	r := []rune(g)
	return string(unicode.ToLower(r[0])) + string(r[1:])
}

// words splits at separators and at lower-to-upper borders, keeping MiB and
// GiB whole.
func words(name string) []string {
	var out []string
	start := 0
	rs := []rune(name)
	cut := func(i int) {
		if i > start {
			out = append(out, string(rs[start:i]))
		}
		start = i
	}
	for i, r := range rs {
		switch {
		case strings.ContainsRune("._- /", r):
			cut(i)
			start = i + 1
		case i > start && unicode.IsUpper(r) && unicode.IsLower(rs[i-1]):
			if tail := string(rs[max(start, i-2) : i+1]); tail == "MiB" || tail == "GiB" {
				continue
			}
			cut(i)
		}
	}
	cut(len(rs))
	return out
}
