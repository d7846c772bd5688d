package yamldoc

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxExact is the largest integer up to which every JSON reader holds each one
// exactly: RFC 8785 and JavaScript read numbers as IEEE 754 doubles. Beyond it
// some still have a double of their own, such as 1e17; those are accepted as
// floats, in either spelling.
const maxExact = 1<<53 - 1

// isPlain reports whether a scalar is written without quotes, block or tag, so
// that its text decides its type.
func isPlain(n *yaml.Node) bool {
	const marked = yaml.TaggedStyle | yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	return n.Kind == yaml.ScalarNode && n.Style&marked == 0
}

func (b *builder) scalar(n *yaml.Node) any {
	if !isPlain(n) {
		b.escapes(n)
		return n.Value
	}
	switch n.Tag {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int", "!!float":
		return b.number(n)
	}
	switch {
	case isJSONNumber(n.Value): // too large for the parser to take for a number
		return b.number(n)
	case isYesNo(n.Value):
		t := b.doc.text
		if b.report.full() {
			b.report.dropped++
		} else {
			b.report.add(RuleYesNo, t.span(b.doc.extent(n, nil)), "unquoted "+n.Value+" is a string here and a boolean to other tools",
				"write true or false for a boolean, or put quotes around a string")
		}
	}
	return n.Value
}

func (b *builder) number(n *yaml.Node) any {
	text := n.Value
	if !isJSONNumber(text) {
		switch strings.ToLower(strings.TrimLeft(text, "+-.")) {
		case "inf", "infinity", "nan":
			b.refuse(n, RuleNotANumber, text+" is not a number JSON can hold", "leave the value out, or write null")
		default:
			b.refuse(n, RuleNumberForm, text+" is read differently by different tools",
				"write a decimal number as JSON does, or put quotes around a string")
		}
		return nil
	}
	if !strings.ContainsAny(text, ".eE") {
		i, err := strconv.ParseInt(text, 10, 64)
		if err == nil && i <= maxExact && i >= -maxExact {
			return i
		}
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && digits(text) == digits(strconv.FormatFloat(f, 'e', -1, 64)) {
		return f
	}
	b.refuse(n, RulePrecision, text+" does not fit a JSON number exactly", "put quotes around it, or write a shorter number")
	return nil
}

// isJSONNumber reports whether s is a number by the grammar of RFC 8259.
func isJSONNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole := leadingDigits(s)
	if whole == 0 || whole > 1 && s[0] == '0' {
		return false
	}
	s = s[whole:]
	if fraction, found := strings.CutPrefix(s, "."); found {
		n := leadingDigits(fraction)
		if n == 0 {
			return false
		}
		s = fraction[n:]
	}
	if s == "" {
		return true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && leadingDigits(s) == len(s)
}

func leadingDigits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// digits returns the significant digits of a number. Where they agree, a
// number and the shortest text of the double next to it are the same.
func digits(s string) string {
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		s = s[:i]
	}
	s = strings.TrimLeft(strings.ReplaceAll(s, ".", ""), "-0")
	return strings.TrimRight(s, "0")
}

// isYesNo reports whether YAML 1.1 reads s as a boolean and YAML 1.2 does not.
func isYesNo(s string) bool {
	switch s {
	case "yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF":
		return true
	}
	return false
}
