package gen

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// markdown makes text stand for itself inside a line of Markdown, also in a
// cell of a table: nothing in it is a link, an emphasis, code, HTML or a rule.
func markdown(s string) string {
	runes := []rune(oneLine(s))
	var b strings.Builder
	for i, r := range runes {
		special := strings.ContainsRune("\\`*[]<>|&~$", r)
		switch r {
		case '_': // inside a word it is no emphasis
			special = i == 0 || i == len(runes)-1 || !wordRune(runes[i-1]) || !wordRune(runes[i+1])
		case '#', '-', '+', '=', ':': // a heading, a list, a rule or a table's second line
			special = i == 0
		case '.', ')': // a numbered list
			special = i > 0 && strings.Trim(string(runes[:i]), "0123456789") == ""
		}
		if special {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// oneLine makes every space a single one and drops what cannot be seen: control
// characters, and marks that change the direction of text.
func oneLine(s string) string {
	seen := strings.Map(func(r rune) rune {
		if !unicode.IsSpace(r) && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(seen), " ")
}

func wordRune(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// code shows text as code, whatever is in it.
func code(s string) string {
	s = strings.ReplaceAll(oneLine(s), "|", "\\|")
	if s == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// link is a link to an address; what would end the link early is percent-encoded.
func link(text, address string) string {
	if address == "" {
		return text
	}
	escaped := strings.NewReplacer("(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "|", "%7C", "\\", "%5C", "`", "%60",
		"*", "%2A", "[", "%5B", "]", "%5D", " ", "%20", "\"", "%22").Replace(address)
	return "[" + text + "](" + escaped + ")"
}

// row is one line of a table.
func row(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// table is a table with its heading; nothing without rows.
func table(rows []string, heading ...string) string {
	if len(rows) == 0 {
		return ""
	}
	return row(heading...) + strings.Repeat("|---", len(heading)) + "|\n" + strings.Join(rows, "")
}

// inWords is a value of a manifest in words: yes and no, numbers without an
// exponent, lists with commas. An empty list is a settled none.
func inWords(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case json.Number:
		if f, err := v.Float64(); err == nil && strings.ContainsAny(v.String(), "eE") {
			return strconv.FormatFloat(f, 'f', -1, 64)
		}
		return v.String()
	case []any:
		return listInWords(v)
	case map[string]any:
		return mapInWords(v)
	}
	return markdown(fmt.Sprint(v))
}

func listInWords(list []any) string {
	if len(list) == 0 {
		return "none"
	}
	var out []string
	for _, v := range list {
		out = append(out, inWords(v))
	}
	return strings.Join(out, ", ")
}

// mapInWords is a price, or words and what they mean, in the order of the words.
func mapInWords(m map[string]any) string {
	if usd, ok := m["usd"]; ok {
		return inWords(usd) + " USD per " + inWords(m["per"])
	}
	var out []string
	for word, meaning := range m {
		out = append(out, code(word)+" is "+inWords(meaning))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
