package schemacheck

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/yamldoc"
	"github.com/agentworkforce/sbx/schema"
)

// maxListed is the most words a help line lists.
const maxListed = 24

// maxShown is the most characters of a value that a message repeats.
const maxShown = 40

// Diagnostic says a finding in words. A value is repeated only where it is a
// short word; long ones may be secrets.
func (f *Finding) Diagnostic(doc *yamldoc.Doc) diag.Diagnostic {
	d := diag.Diagnostic{File: doc.Name(), Rule: f.Rule, Next: "sbxgen explain " + f.Rule}
	d = d.At(f.span(doc))
	what := subject(f.Pointer)
	value := valueAt(doc, f.Pointer)
	switch f.Kind {
	case KindUnknownProperty:
		d.Message = fmt.Sprintf("unknown property %q in %s", f.Name, what)
		d.Suggestion = f.suggestion
		if f.suggestion == "" {
			d.Help = "known here: " + listed(slices.Sorted(maps.Keys(f.at.node.Properties)))
		}
	case KindMissingProperty:
		d.Message = fmt.Sprintf("missing property %q in %s", f.Name, what)
		d.Help = "add: " + f.snippet()
	case KindType:
		d.Message = fmt.Sprintf("%s must be %s, not %s", what, typeName(f.at.node.Type), valueKind(value))
		d.Suggestion = retyped(value, f.at.node.Type)
		d.Help = about(f.at)
	case KindWord:
		d.Message = fmt.Sprintf("%s is %s, which is not one of the listed words", what, shown(value))
		d.Suggestion = f.suggestion
		d.Help = "use one of: " + listed(words(f.at.node.Enum))
	case KindConst:
		d.Message = fmt.Sprintf("%s must be %s", what, shown(f.at.node.Const))
		d.Suggestion = plain(f.at.node.Const)
	case KindName:
		d.Message = fmt.Sprintf("key %q does not have the form that keys of %s must have", short(f.Name), what)
		d.Help = patternHelp(f.at)
	case KindRepeated:
		d.Message = fmt.Sprintf("entries %d and %d of %s are equal", f.first+1, f.nth+1, what)
		_, span := doc.Pos(yamldoc.Join(f.Pointer, itoa(f.first)))
		d.Related = []diag.Related{{Span: span, Message: "the first is here"}}
	case KindRange:
		d.Message = fmt.Sprintf("%s %s", what, f.outOfRange(value))
		d.Help = about(f.at)
	case KindFormat:
		d.Message = fmt.Sprintf("%s is not a real %s", what, formatName(f.at.node.Format))
		d.Help = about(f.at)
	case KindPattern:
		d.Message = fmt.Sprintf("%s does not have the form it must have", what)
		d.Help = patternHelp(f.at)
	case KindPackage:
		id, _ := value.(string)
		d.Message = schema.BadPackage(id)
	case KindFact:
		f.sayFact(&d, doc, what)
	default:
		d.Message = fmt.Sprintf("%s fits none of the forms that are allowed here", what)
		d.Help = "write one of: " + f.forms()
	}
	return d
}

// sayFact phrases a fact that is neither known nor unknown.
func (f *Finding) sayFact(d *diag.Diagnostic, doc *yamldoc.Doc, what string) {
	switch {
	case f.both:
		d.Message = what + " has both a value and a reason why it is unknown"
		d.Help = "keep value or unknown, and remove the other"
	case doc.Kind(f.Pointer) == yamldoc.Mapping:
		d.Message = what + " has neither a value nor a reason why it is unknown"
		d.Help = `write {value: ...} or {unknown: "why it is not known"}`
	default:
		d.Message = what + " is a bare value; a fact has a value or a reason why it is unknown"
		d.Help = `write {value: ...} or {unknown: "why it is not known"}`
		if _, span := doc.Pos(f.Pointer); span.Line == span.EndLine && span.EndCol > span.Col {
			line := []rune(doc.Line(span.Line))
			if span.EndCol-1 <= len(line) && doc.Kind(f.Pointer) == yamldoc.Scalar && valueAt(doc, f.Pointer) != nil {
				d.Suggestion = "{value: " + string(line[span.Col-1:span.EndCol-1]) + "}"
			}
		}
	}
}

// subject names a value by the keys that lead to it, as in `"env" of entry 1 of
// "config"`.
func subject(pointer string) string {
	keys, ok := yamldoc.Split(pointer)
	if !ok || len(keys) == 0 {
		return "the document"
	}
	last := keys[len(keys)-1]
	if n, err := strconv.Atoi(last); err == nil && len(keys) > 1 {
		return fmt.Sprintf("entry %d of %s", n+1, subject(yamldoc.Join("", keys[:len(keys)-1]...)))
	}
	if (last == "value" || last == "unknown") && len(keys) > 1 {
		return fmt.Sprintf("%q of %q", last, keys[len(keys)-2])
	}
	return strconv.Quote(short(last))
}

func valueAt(doc *yamldoc.Doc, pointer string) any {
	return (&explainer{doc: doc}).value(pointer)
}

func typeName(t string) string {
	switch t {
	case "object":
		return "a mapping (keys with values)"
	case "array":
		return "a list"
	case "string":
		return "a text"
	case "integer":
		return "a whole number"
	case "number":
		return "a number"
	case "boolean":
		return "true or false"
	}
	return t
}

func valueKind(v any) string {
	switch v := v.(type) {
	case nil:
		return "left empty"
	case bool:
		return strconv.FormatBool(v)
	case string:
		return "a text"
	case int64, float64:
		return "a number"
	case []any:
		return "a list"
	}
	return "a mapping"
}

// retyped is the text that gives a scalar the right type without changing what
// it says: quotes off a number, quotes on a text.
func retyped(v any, want string) string {
	s, isText := v.(string)
	switch {
	case isText && (want == "integer" || want == "number"):
		if _, err := strconv.ParseInt(s, 10, 64); err == nil {
			return s
		}
	case isText && want == "boolean" && (s == "true" || s == "false"):
		return s
	case want == "string":
		switch v := v.(type) {
		case bool:
			return strconv.Quote(strconv.FormatBool(v))
		case int64:
			return strconv.Quote(strconv.FormatInt(v, 10))
		}
	}
	return ""
}

// outOfRange says which bound a value breaks.
func (f *Finding) outOfRange(value any) string {
	n := f.at.node
	switch f.at.keyword {
	case "minLength":
		s, _ := value.(string)
		return fmt.Sprintf("has %d characters; at least %d are needed", utf8.RuneCountInString(s), *n.MinLength)
	case "maxLength":
		s, _ := value.(string)
		return fmt.Sprintf("has %d characters; at most %d are allowed", utf8.RuneCountInString(s), *n.MaxLength)
	case "minItems":
		return fmt.Sprintf("has too few entries; at least %d are needed", *n.MinItems)
	case "maxItems":
		return fmt.Sprintf("has too many entries; at most %d are allowed", *n.MaxItems)
	case "minProperties":
		return fmt.Sprintf("has too few keys; at least %d are needed", *n.MinProps)
	case "maxProperties":
		return fmt.Sprintf("has too many keys; at most %d are allowed", *n.MaxProps)
	case "minimum":
		return fmt.Sprintf("must be at least %v", *n.Minimum)
	case "maximum":
		return fmt.Sprintf("must be at most %v", *n.Maximum)
	case "exclusiveMinimum":
		return fmt.Sprintf("must be more than %v", *n.ExMinimum)
	case "exclusiveMaximum":
		return fmt.Sprintf("must be less than %v", *n.ExMaximum)
	}
	return "is out of its bounds"
}

func formatName(format string) string {
	switch format {
	case "date":
		return "day"
	case "date-time":
		return "moment"
	case "uri":
		return "address"
	}
	return format
}

// about is the description of the property a keyword stands under.
func about(at place) string {
	d := at.node.Description
	if d == "" || at.node.Title == "Value" {
		d = at.titled.Description
	}
	return d
}

func patternHelp(at place) string {
	d := about(at)
	if d == "" {
		d = at.titled.Title
	}
	if d == "" {
		return "the pattern is " + at.node.Pattern
	}
	return d + " The pattern is " + at.node.Pattern
}

func listed(names []string) string {
	if len(names) > maxListed {
		return strings.Join(names[:maxListed], ", ") + fmt.Sprintf(" and %d more", len(names)-maxListed)
	}
	return strings.Join(names, ", ")
}

// shown is a value as a message repeats it.
func shown(v any) string {
	switch v := v.(type) {
	case string:
		if n := utf8.RuneCountInString(v); n > maxShown {
			return fmt.Sprintf("a text of %d characters", n)
		}
		return strconv.Quote(v)
	case nil:
		return "left empty"
	}
	return short(fmt.Sprint(v))
}

func plain(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return ""
}

// short leaves out a text that is too long to repeat; its beginning might be that
// of a secret.
func short(s string) string {
	if utf8.RuneCountInString(s) <= maxShown {
		return s
	}
	return "..."
}
