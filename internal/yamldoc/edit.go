package yamldoc

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ErrEdit is what every refused edit wraps: the pointer leads to nothing that
// can be edited so, or the text given would change more than the one value.
var ErrEdit = errors.New("edit refused")

// Quote returns text for the string s that YAML and JSON both read as s, to
// hand to SetScalar or AppendMapEntry: always in double quotes. Bytes that are
// not UTF-8 become U+FFFD.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t', r == '\r', isForbidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// SetScalar returns the file with the scalar at pointer replaced by text,
// which is written as it is given. Every other byte stays, comments and order
// with them. The result is parsed again, and the edit refused when any other
// value would change. The Doc itself does not change.
func (d *Doc) SetScalar(pointer, text string) ([]byte, error) {
	_, n, parents := d.find(pointer)
	if n == nil || n.Kind != yaml.ScalarNode {
		return nil, fmt.Errorf("%w: %q is not a scalar of %s", ErrEdit, pointer, d.name)
	}
	from, to := d.extent(n, parents)
	if from == to && from > 0 && !isSpace(d.text.src[from-1]) {
		text = " " + text // a value left out starts right after the colon
	}
	return d.splice(from, to, text, pointer)
}

// AppendMapEntry returns the file with one more entry at the end of the
// mapping at pointer. The key is quoted when it needs to be, text is written
// as it is given. Everything SetScalar says holds here too; a key that is
// there already is refused.
func (d *Doc) AppendMapEntry(pointer, key, text string) ([]byte, error) {
	_, n, parents := d.find(pointer)
	if n == nil || n.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%w: %q is not a mapping of %s", ErrEdit, pointer, d.name)
	}
	if k, _ := child(n, key); k != nil {
		return nil, fmt.Errorf("%w: %q already has the key %q", ErrEdit, pointer, key)
	}
	from, to := d.extent(n, parents)
	src := d.text.src
	entry := d.keyText(key) + ": " + text
	if src[from] == '{' {
		last := from + 1
		if k := len(n.Content); k > 0 {
			_, last = d.extent(n.Content[k-1], append(parents, n))
			entry = ", " + entry
		}
		return d.splice(last, last, entry, Join(pointer, key))
	}
	at := lineEnd(src, to)
	if at > 0 && src[at-1] == '\r' {
		at--
	}
	indent := strings.Repeat(" ", n.Column-1)
	return d.splice(at, at, "\n"+indent+entry, Join(pointer, key))
}

// keyText writes a key plainly when it is a word no reader takes for anything
// else, and quoted otherwise.
func (d *Doc) keyText(key string) string {
	word := len(leadingWord([]byte(key))) == len(key) && key != "" && (key[0] >= 'a' && key[0] <= 'z' || key[0] >= 'A' && key[0] <= 'Z')
	reserved := isYesNo(key) || slices.Contains([]string{"true", "false", "null", "y", "n"}, strings.ToLower(key))
	if strings.HasSuffix(d.name, ".json") || !word || reserved {
		return Quote(key)
	}
	return key
}

// splice puts text in place of a range of bytes and makes sure that of all
// values only the one at pointer differs.
func (d *Doc) splice(from, to int, text, pointer string) ([]byte, error) {
	out := slices.Concat(d.text.src[:from], []byte(text), d.text.src[to:])
	if d.text.bom {
		out = slices.Concat([]byte("\ufeff"), out)
	}
	edited, _ := Parse(d.name, out)
	if edited == nil || edited.Kind(pointer) != Scalar || edited.found > d.found {
		return nil, fmt.Errorf("%w: %q does not read as one value at %q", ErrEdit, text, pointer)
	}
	keys, _ := Split(pointer)
	if !reflect.DeepEqual(without(d.value, keys), without(edited.value, keys)) {
		return nil, fmt.Errorf("%w: %q at %q would change other values", ErrEdit, text, pointer)
	}
	return out, nil
}

// without returns a copy of v that lacks what keys lead to; an element of a
// sequence becomes null.
func without(v any, keys []string) any {
	if len(keys) == 0 {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			if k != keys[0] {
				out[k] = e
			} else if len(keys) > 1 {
				out[k] = without(e, keys[1:])
			}
		}
		return out
	case []any:
		out := slices.Clone(v)
		if i, ok := index(keys[0]); ok && i < len(out) {
			out[i] = without(out[i], keys[1:])
		}
		return out
	}
	return v
}
