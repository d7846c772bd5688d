package evidence

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// errCanonical is in every error of Canonical.
var errCanonical = errors.New("no canonical form")

// Canonical returns the form of a JSON value that RFC 8785 prescribes. The value
// is made of map[string]any, []any, string, bool, nil and numbers: float64, int,
// int64 and json.Number. A number that a double cannot hold exactly, and a
// text that is not UTF-8, have no canonical form and are an error.
func Canonical(v any) ([]byte, error) { return appendCanonical(nil, v) }

func appendCanonical(b []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case string:
		return appendString(b, v)
	case float64:
		return appendNumber(b, v)
	case int:
		return appendInteger(b, int64(v))
	case int64:
		return appendInteger(b, v)
	case json.Number:
		return appendLiteral(b, v)
	case []any:
		return appendArray(b, v)
	case map[string]any:
		return appendObject(b, v)
	default:
		return nil, fmt.Errorf("%w: a %T is no JSON value", errCanonical, v)
	}
}

func appendArray(b []byte, items []any) ([]byte, error) {
	b = append(b, '[')
	var err error
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendCanonical(b, item); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

// appendObject sorts keys by their UTF-16 code units, as the RFC says: a
// character outside the basic plane comes before U+E000.
func appendObject(b []byte, object map[string]any) ([]byte, error) {
	type pair struct {
		key  string
		unit []uint16
	}
	pairs := make([]pair, 0, len(object))
	for key := range object {
		pairs = append(pairs, pair{key, utf16.Encode([]rune(key))})
	}
	slices.SortFunc(pairs, func(a, b pair) int { return slices.Compare(a.unit, b.unit) })
	b = append(b, '{')
	var err error
	for i, p := range pairs {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendString(b, p.key); err != nil {
			return nil, err
		}
		if b, err = appendCanonical(append(b, ':'), object[p.key]); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func appendString(b []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return nil, fmt.Errorf("%w: a text is not UTF-8", errCanonical)
	}
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\b':
			b = append(b, `\b`...)
		case '\t':
			b = append(b, `\t`...)
		case '\n':
			b = append(b, `\n`...)
		case '\f':
			b = append(b, `\f`...)
		case '\r':
			b = append(b, `\r`...)
		default:
			if c < 0x20 {
				b = fmt.Appendf(b, `\u%04x`, c)
			} else {
				b = append(b, c)
			}
		}
	}
	return append(b, '"'), nil
}

// maxInteger is the largest whole number up to which a double holds every one.
const maxInteger = 1 << 53

func appendInteger(b []byte, n int64) ([]byte, error) {
	if n > maxInteger || n < -maxInteger {
		return nil, fmt.Errorf("%w: %d is not exact as a double", errCanonical, n)
	}
	return strconv.AppendInt(b, n, 10), nil
}

func appendLiteral(b []byte, n json.Number) ([]byte, error) {
	if i, err := n.Int64(); err == nil {
		return appendInteger(b, i)
	}
	f, err := n.Float64()
	if err != nil {
		return nil, fmt.Errorf("%w: number %s: %w", errCanonical, n, err)
	}
	return appendNumber(b, f)
}

// appendNumber writes a number as ECMAScript does: the shortest digits that read
// back as the same double, with an exponent from 1e21 on and below 1e-6.
func appendNumber(b []byte, f float64) ([]byte, error) {
	abs := math.Abs(f)
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return nil, fmt.Errorf("%w: %v is no number of JSON", errCanonical, f)
	case f == 0:
		return append(b, '0'), nil // -0 too
	case abs >= 1e-6 && abs < 1e21:
		return strconv.AppendFloat(b, f, 'f', -1, 64), nil
	}
	b = strconv.AppendFloat(b, f, 'e', -1, 64)
	if n := len(b); b[n-2] == '0' && (b[n-3] == '-' || b[n-3] == '+') { // Go writes e-07 where ECMAScript writes e-7
		b = append(b[:n-2], b[n-1])
	}
	return b, nil
}
