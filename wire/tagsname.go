package wire

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// A name reads
//
//	[<prefix>-]sbx-<owner>-<run>-<intent>-<check>
//
// with [a-z0-9-] only. In a field every byte outside [a-y0-9] is written as
// 'z' and two hex digits, and an empty field is "zz", so no field holds a '-'.
const (
	nameHead       = "sbx"
	emptyField     = "zz"
	nameCheck      = 6
	defaultMaxName = 63
)

func encodeName(tags Tags, prefix string) (string, error) {
	if !validPrefix(prefix) {
		return "", refuseTag("a name prefix has only a-z, 0-9 and inner single '-', and begins with a letter")
	}
	core := nameHead + "-" + escapeName(tags.Owner) + "-" + escapeName(tags.Run) + "-" + escapeName(tags.Intent)
	if prefix != "" {
		core = prefix + "-" + core
	}
	return core + "-" + checksum(core, nameCheck), nil
}

func decodeName(e Encoded) Decoded {
	foreign := Decoded{Marking: MarkingForeign, Name: e.Name}
	parts := strings.Split(e.Name, "-")
	if len(parts) < 5 {
		return foreign
	}
	n := len(parts) - 5
	var fields [3]string
	for i := range fields {
		plain, ok := unescapeName(parts[n+1+i])
		if !ok {
			return foreign
		}
		fields[i] = plain
	}
	d := Decoded{Marking: MarkingTagged, Name: strings.Join(parts[:n], "-"),
		Tags: Tags{Owner: fields[0], Run: fields[1], Intent: fields[2]}}
	if checkTags(EncodingName, nil, d.Tags) != nil {
		return foreign
	}
	if again, err := encodeName(d.Tags, d.Name); err != nil || again != e.Name {
		return foreign
	}
	return d
}

func validPrefix(s string) bool {
	if s == "" {
		return true
	}
	if s[0] < 'a' || s[0] > 'z' || strings.HasSuffix(s, "-") || strings.Contains(s, "--") {
		return false
	}
	for _, c := range []byte(s) {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-') {
			return false
		}
	}
	return true
}

func escapeName(s string) string {
	if s == "" {
		return emptyField
	}
	var b strings.Builder
	for _, c := range []byte(s) {
		if c >= 'a' && c <= 'y' || c >= '0' && c <= '9' {
			b.WriteByte(c)
		} else {
			b.WriteString("z" + strconv.FormatUint(uint64(c)+256, 16)[1:])
		}
	}
	return b.String()
}

func unescapeName(s string) (string, bool) {
	if s == emptyField {
		return "", true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'a' && c <= 'y', c >= '0' && c <= '9':
			b.WriteByte(c)
		case c == 'z' && i+2 < len(s):
			v, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
			if err != nil {
				return "", false
			}
			b.WriteByte(byte(v))
			i += 2
		default:
			return "", false
		}
	}
	return b.String(), b.Len() > 0 && utf8.ValidString(b.String())
}
