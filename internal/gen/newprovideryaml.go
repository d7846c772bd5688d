package gen

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentworkforce/sbx/internal/yamldoc"
)

// yamlWidth is the widest line on which a whole mapping or list is kept.
const yamlWidth = 100

// yamlWriter writes a manifest in the order of its schema. The same value
// always gives the same bytes.
type yamlWriter struct {
	schema *object // the whole provider schema
	out    strings.Builder
}

// manifestYAML writes value, which has passed the schema, with a line for
// editors on top and each section under its title and description.
func manifestYAML(schema *object, value map[string]any, editorLine string) string {
	w := &yamlWriter{schema: schema}
	if editorLine != "" {
		w.out.WriteString("# yaml-language-server: $schema=" + editorLine + "\n")
	}
	properties := schema.object("properties")
	for _, key := range w.keys(schema, value) {
		section := w.resolve(properties.object(key))
		_, isMap := value[key].(map[string]any)
		_, isList := value[key].([]any)
		if isMap || isList {
			w.section(properties.object(key), section)
		}
		w.entry(key, value[key], section, 0, isMap && has(section, "properties"))
	}
	return w.out.String()
}

// section writes the comment above one section.
func (w *yamlWriter) section(property, resolved *object) {
	text := property.string("title")
	if text == "" {
		text = resolved.string("title")
	}
	description := property.string("description")
	if description == "" {
		description = resolved.string("description")
	}
	w.out.WriteString("\n")
	for _, line := range wrap(text+": "+description, yamlWidth-2) {
		w.out.WriteString("# " + line + "\n")
	}
}

// resolve follows a local $ref.
func (w *yamlWriter) resolve(n *object) *object {
	for n.string("$ref") != "" {
		name, _ := strings.CutPrefix(n.string("$ref"), "#/$defs/")
		n = w.schema.object("$defs").object(name)
	}
	return n
}

// keys are the keys of value in schema order; those the schema does not name
// follow by alphabet.
func (w *yamlWriter) keys(n *object, value map[string]any) []string {
	var named []string
	alternatives := []*object{n}
	for _, alt := range n.array("oneOf") {
		if o, ok := alt.(*object); ok {
			alternatives = append(alternatives, w.resolve(o))
		}
	}
	for _, alt := range alternatives {
		if properties := alt.object("properties"); properties != nil {
			for _, key := range properties.keys {
				if _, there := value[key]; there && !slices.Contains(named, key) {
					named = append(named, key)
				}
			}
		}
	}
	var others []string
	for key := range value {
		if !slices.Contains(named, key) {
			others = append(others, key)
		}
	}
	slices.Sort(others)
	return append(named, others...)
}

// child is the schema of the value under key.
func (w *yamlWriter) child(n *object, key string) *object {
	alternatives := []*object{n}
	for _, alt := range n.array("oneOf") {
		if o, ok := alt.(*object); ok {
			alternatives = append(alternatives, w.resolve(o))
		}
	}
	for _, alt := range alternatives {
		if c := alt.object("properties").object(key); c != nil {
			return w.resolve(c)
		}
	}
	return w.resolve(n.object("additionalProperties"))
}

func (w *yamlWriter) entry(key string, v any, n *object, depth int, spread bool) {
	head := strings.Repeat("  ", depth) + yamlKey(key) + ":"
	if flow := w.flow(v, n); !spread || isEmpty(v) {
		if len(head)+1+len(flow) <= yamlWidth || isScalar(v) || isEmpty(v) {
			w.out.WriteString(head + " " + flow + "\n")
			return
		}
	}
	w.out.WriteString(head + "\n")
	w.block(v, n, depth+1)
}

// block writes the inside of a mapping or list, one entry on a line.
func (w *yamlWriter) block(v any, n *object, depth int) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range w.keys(n, v) {
			w.entry(key, v[key], w.child(n, key), depth, false)
		}
	case []any:
		items := w.resolve(n.object("items"))
		for _, item := range v {
			w.item(item, items, depth)
		}
	}
}

func (w *yamlWriter) item(v any, n *object, depth int) {
	indent := strings.Repeat("  ", depth)
	flow := w.flow(v, n)
	if len(indent)+2+len(flow) <= yamlWidth || isScalar(v) || isEmpty(v) {
		w.out.WriteString(indent + "- " + flow + "\n")
		return
	}
	inner := &yamlWriter{schema: w.schema}
	inner.block(v, n, depth+1)
	text := inner.out.String()
	w.out.WriteString(indent + "- " + strings.TrimPrefix(text, indent+"  "))
}

// flow writes a value on one line.
func (w *yamlWriter) flow(v any, n *object) string {
	switch v := v.(type) {
	case map[string]any:
		parts := make([]string, 0, len(v))
		for _, key := range w.keys(n, v) {
			parts = append(parts, yamlKey(key)+": "+w.flow(v[key], w.child(n, key)))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		items := w.resolve(n.object("items"))
		parts := make([]string, 0, len(v))
		for _, item := range v {
			parts = append(parts, w.flow(item, items))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return yamlScalar(v)
}

func isScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

func yamlKey(key string) string {
	if plainText(key) {
		return key
	}
	return yamldoc.Quote(key)
}

func yamlScalar(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		text := strconv.FormatFloat(v, 'f', -1, 64)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return text
	case json.Number:
		return v.String()
	case string:
		if plainText(v) {
			return v
		}
		return yamldoc.Quote(v)
	}
	return yamldoc.Quote(fmt.Sprint(v))
}

// plainText reports whether a text can stand without quotes anywhere, and is
// read as the same text by every YAML reader.
func plainText(s string) bool {
	switch strings.ToLower(s) {
	case "", "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return false
	}
	if first := s[0]; !isLetter(first) && first != '/' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case isLetter(c), c >= '0' && c <= '9', strings.IndexByte("_./@+()~-", c) >= 0:
		case c == ' ' && i+1 < len(s) && s[i+1] != ' ':
		case c == ':' && strings.HasPrefix(s[i:], "://"):
		default:
			return false
		}
	}
	return true
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
