package schemacheck

import (
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/agentworkforce/sbx/internal/diag"
)

// oneOf reports a value that fits none of several forms as what is wrong with
// the form that was meant.
func (e *explainer) oneOf(err *jsonschema.ValidationError, at place, pointer, location string) {
	f := Finding{Kind: KindAlternative, Pointer: pointer, Location: location, at: at}
	if e.doc.Unsure(pointer) {
		return
	}
	value, isMapping := e.value(pointer).(map[string]any)
	if isFact(at.node) {
		_, known := value["value"]
		_, unknown := value["unknown"]
		f.Kind, f.both = KindFact, known && unknown
		switch {
		case known && unknown:
			e.found = append(e.found, f)
			return
		case !known && !unknown && e.misspelt(f, value):
			return
		case !known && !unknown:
			e.found = append(e.found, f)
			return
		}
	} else if !isMapping {
		e.found = append(e.found, f)
		return
	}
	meant := intended(at.node.OneOf, value)
	if meant < 0 || meant >= len(err.Causes) || len(err.Causes) != len(at.node.OneOf) {
		e.found = append(e.found, f)
		return
	}
	e.explain(err.Causes[meant])
}

// misspelt reports the keys of a fact that has neither value nor unknown but
// something that looks like one of them.
func (e *explainer) misspelt(f Finding, value map[string]any) bool {
	hit := false
	for _, name := range slices.Sorted(maps.Keys(value)) {
		if s := diag.Suggest(name, []string{"value", "unknown"}); s != "" {
			f.Kind, f.Name, f.suggestion = KindUnknownProperty, name, s
			e.found = append(e.found, f)
			hit = true
		}
	}
	return hit
}

// isFact reports whether a subschema is a fact: known by value, or unknown.
func isFact(n *node) bool {
	if n == nil || len(n.OneOf) != 2 {
		return false
	}
	first, second := n.OneOf[0].deref(), n.OneOf[1].deref()
	return first.Properties["value"] != nil && second.Properties["unknown"] != nil
}

// intended returns the alternative that shares most keys with a mapping, by a
// key that tells it from the others; -1 when that is undecided.
func intended(alternatives []*node, value map[string]any) int {
	best, bestScore, tied := -1, 0, false
	for i, alt := range alternatives {
		score := 0
		for name := range value {
			if alt.deref().Properties[name] != nil {
				score++
			}
		}
		switch {
		case score > bestScore:
			best, bestScore, tied = i, score, false
		case score == bestScore:
			tied = true
		}
	}
	if tied {
		return -1
	}
	return best
}
