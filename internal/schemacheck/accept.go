package schemacheck

import (
	"math"
	"slices"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// accepts reports that v is certainly valid. False means that jsonschema/v5 has
// to decide: either v is not valid, or it holds what this walk leaves to it.
func (n *node) accepts(v any) bool {
	if n.target != nil && !n.target.accepts(v) {
		return false
	}
	if n.Type != "" && !isType(v, n.Type) {
		return false
	}
	if n.Const != nil && !equalScalars(n.Const, v) {
		return false
	}
	if n.Enum != nil && !slices.ContainsFunc(n.Enum, func(e any) bool { return equalScalars(e, v) }) {
		return false
	}
	if n.Format != "" {
		if f, ok := jsonschema.Formats[n.Format]; !ok || !f(v) {
			return false
		}
	}
	switch v := v.(type) {
	case string:
		if !n.acceptsText(v) {
			return false
		}
	case map[string]any:
		if !n.acceptsMapping(v) {
			return false
		}
	case []any:
		if !n.acceptsList(v) {
			return false
		}
	case int64, float64:
		if !n.acceptsNumber(toFloat(v)) {
			return false
		}
	}
	return n.acceptsAlternatives(v)
}

func (n *node) acceptsAlternatives(v any) bool {
	if n.OneOf != nil {
		matched := 0
		for _, alt := range n.OneOf {
			if alt.accepts(v) {
				matched++
			}
		}
		if matched != 1 {
			return false
		}
	}
	if n.If == nil {
		return true
	}
	branch := n.Else
	if n.If.accepts(v) {
		branch = n.Then
	}
	return branch == nil || branch.accepts(v)
}

func (n *node) acceptsText(v string) bool {
	if n.MinLength != nil || n.MaxLength != nil {
		if length := utf8.RuneCountInString(v); !within(length, n.MinLength, n.MaxLength) {
			return false
		}
	}
	if n.re == nil {
		return true
	}
	re := n.re()
	return re != nil && re.MatchString(v)
}

func (n *node) acceptsMapping(v map[string]any) bool {
	if !within(len(v), n.MinProps, n.MaxProps) {
		return false
	}
	for _, name := range n.Required {
		if _, ok := v[name]; !ok {
			return false
		}
	}
	if n.Properties == nil && n.Additional == nil && n.Names == nil {
		return true
	}
	for name, value := range v {
		if n.Names != nil && !n.Names.accepts(name) {
			return false
		}
		if p, ok := n.Properties[name]; ok {
			if !p.accepts(value) {
				return false
			}
			continue
		}
		if n.Additional == nil {
			continue
		}
		if n.Additional.closed || n.Additional.schema != nil && !n.Additional.schema.accepts(value) {
			return false
		}
	}
	return true
}

func (n *node) acceptsList(v []any) bool {
	if !within(len(v), n.MinItems, n.MaxItems) {
		return false
	}
	if n.UniqueItems {
		for i := range v {
			if !isScalar(v[i]) || i > 64 {
				return false // left to v5
			}
			for j := range i {
				if equalScalars(v[i], v[j]) {
					return false
				}
			}
		}
	}
	if n.Items == nil {
		return true
	}
	for _, item := range v {
		if !n.Items.accepts(item) {
			return false
		}
	}
	return true
}

func (n *node) acceptsNumber(v float64) bool {
	return (n.Minimum == nil || v >= *n.Minimum) && (n.Maximum == nil || v <= *n.Maximum) &&
		(n.ExMinimum == nil || v > *n.ExMinimum) && (n.ExMaximum == nil || v < *n.ExMaximum)
}

func within(n int, low, high *int) bool {
	return (low == nil || n >= *low) && (high == nil || n <= *high)
}

func isScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// equalScalars compares values that are no mapping and no list; those are never
// called equal here, so that v5 decides.
func equalScalars(a, b any) bool {
	if !isScalar(a) || !isScalar(b) {
		return false
	}
	if isType(a, "number") && isType(b, "number") {
		return toFloat(a) == toFloat(b)
	}
	return a == b
}

// isType reports whether v is of a JSON Schema type.
func isType(v any, name string) bool {
	switch v := v.(type) {
	case nil:
		return name == "null"
	case string:
		return name == "string"
	case bool:
		return name == "boolean"
	case int64:
		return name == "number" || name == "integer"
	case float64:
		return name == "number" || name == "integer" && v == math.Trunc(v) && !math.IsInf(v, 0)
	case map[string]any:
		return name == "object"
	case []any:
		return name == "array"
	}
	return false
}

func toFloat(v any) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return math.NaN()
}
