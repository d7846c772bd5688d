package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A packed value reads
//
//	sbx1.<check>.<owner>.<run>.<intent>.<reap>[.<key>.<value>]...
//
// with letters, digits, '.', '_' and '-' only. Every field is escaped so that
// it holds no '.', keys are sorted, and <check> covers the rest, so that a
// value the vendor cut or folded is foreign instead of another owner's.
const packedHead = "sbx1"

func encodePacked(lim Limits, labels map[string]string, tags Tags) (string, error) {
	if lim.MaxLabels > 0 && len(labels) > lim.MaxLabels {
		return "", refuseTag("%d labels; the provider allows %d", len(labels), lim.MaxLabels)
	}
	reap := ""
	if tags.ReapAfter != nil {
		reap = strconv.FormatInt(tags.ReapAfter.UnixMilli(), 10)
	}
	fields := []string{tags.Owner, tags.Run, tags.Intent, reap}
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		fields = append(fields, k, labels[k])
	}
	for i, f := range fields {
		fields[i] = escapePacked(f)
	}
	body := strings.Join(fields, ".")
	out := packedHead + "." + checksum(body, 8) + "." + body
	if lim.MaxPacked > 0 && len(out) > lim.MaxPacked {
		return "", refuseTag("tags and labels need %d bytes, the provider allows %d", len(out), lim.MaxPacked)
	}
	return out, nil
}

func decodePacked(e Encoded) Decoded {
	foreign := Decoded{Marking: MarkingForeign, Name: e.Name, Labels: map[string]string{}}
	parts := strings.Split(e.Packed, ".")
	if len(parts) < 6 || len(parts)%2 != 0 || parts[0] != packedHead {
		return foreign
	}
	fields := parts[2:]
	for i, f := range fields {
		plain, ok := unescapePacked(f)
		if !ok {
			return foreign
		}
		fields[i] = plain
	}
	d := Decoded{Marking: MarkingTagged, Name: e.Name, Labels: map[string]string{},
		Tags: Tags{Owner: fields[0], Run: fields[1], Intent: fields[2], ReapAfter: parseMillis(fields[3])}}
	for i := 4; i < len(fields); i += 2 {
		d.Labels[fields[i]] = fields[i+1]
	}
	// Only what Encode would write is ours; this covers the check, the order,
	// repeated keys and every second way of writing the same.
	if checkTags(EncodingPacked, d.Labels, d.Tags) != nil {
		return foreign
	}
	if again, err := encodePacked(Limits{}, d.Labels, d.Tags); err != nil || again != e.Packed {
		return foreign
	}
	return d
}

func checksum(s string, n int) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])[:n]
}

const upperHex = "0123456789ABCDEF"

func escapePacked(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if alnum(c) || c == '-' {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('_')
		b.WriteByte(upperHex[c>>4])
		b.WriteByte(upperHex[c&15])
	}
	return b.String()
}

func unescapePacked(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case alnum(c) || c == '-':
			b.WriteByte(c)
		case c == '_' && i+2 < len(s):
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
	return b.String(), utf8.ValidString(b.String())
}

func alnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
