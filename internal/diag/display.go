package diag

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tabStop is how far apart tab stops are in a printed source line.
const tabStop = 4

// cell is what one code point of a source line looks like on a terminal.
type cell struct {
	text  string
	width int
}

// cells lays a source line out: tabs become spaces, and characters that a
// terminal would obey or that would reorder the text become U+FFFD, so a
// hostile file cannot disguise what is printed about it.
func cells(line string) []cell {
	out := make([]cell, 0, len(line))
	at := 0
	for i := 0; i < len(line); {
		r, n := utf8.DecodeRuneInString(line[i:])
		c := cell{text: line[i : i+n], width: runeWidth(r)}
		switch {
		case r == '\t':
			c.width = tabStop - at%tabStop
			c.text = strings.Repeat(" ", c.width)
		case r == utf8.RuneError && n == 1, isHostile(r):
			c = cell{text: string(utf8.RuneError), width: 1}
		}
		at += c.width
		out = append(out, c)
		i += n
	}
	return out
}

// isHostile reports whether a terminal would act on r instead of showing it.
func isHostile(r rune) bool {
	if r == '\u200d' {
		return false // joins emoji; shows nothing by itself
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// runeWidth returns the columns a terminal gives r: 0 for marks that combine
// with the character before, 2 for East Asian wide characters and emoji.
func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case r == '\u200d', unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r >= 0x1100 && isWide(r):
		return 2
	}
	return 1
}

func isWide(r rune) bool {
	switch {
	case r <= 0x115f, // Hangul Jamo
		r == 0x2329, r == 0x232a,
		r >= 0x2e80 && r <= 0x303e, // CJK radicals and punctuation
		r >= 0x3041 && r <= 0x4dbf, // kana to CJK extension A
		r >= 0x4e00 && r <= 0xa4cf, // CJK ideographs, Yi
		r >= 0xa960 && r <= 0xa97f,
		r >= 0xac00 && r <= 0xd7a3, // Hangul syllables
		r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe10 && r <= 0xfe19,
		r >= 0xfe30 && r <= 0xfe6f,
		r >= 0xff00 && r <= 0xff60, // fullwidth forms
		r >= 0xffe0 && r <= 0xffe6,
		r >= 0x1f300 && r <= 0x1f64f, // emoji
		r >= 0x1f680 && r <= 0x1f6ff,
		r >= 0x1f900 && r <= 0x1f9ff,
		r >= 0x1fa70 && r <= 0x1faff,
		r >= 0x20000 && r <= 0x3fffd:
		return true
	}
	return false
}

// PrintableLines returns text as Printable does, but keeps its line breaks: for
// what a command prints of words that are not its own.
func PrintableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = printable(line)
	}
	return strings.Join(lines, "\n")
}

// Printable returns s on one line with every character escaped that a terminal
// would act on instead of showing it.
func Printable(s string) string { return printable(s) }

// printable returns s on one line with everything hostile escaped the way Go
// writes it, for messages that quote a file's own words.
func printable(s string) string {
	clean := utf8.ValidString(s)
	for _, r := range s {
		clean = clean && !isHostile(r)
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case isHostile(r) && r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case isHostile(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}
