package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/agentworkforce/sbx/internal/diag"
	"go.yaml.in/yaml/v3"
)

// parseYAML returns the root of the first document, or nil after reporting why
// there is none.
func parseYAML(text source, r *report) *yaml.Node {
	dec := yaml.NewDecoder(bytes.NewReader(text.src))
	var doc, next yaml.Node
	switch err := decode(dec, &doc); {
	case errors.Is(err, io.EOF):
		r.empty()
		return nil
	case err != nil:
		r.syntax(dec, err)
		return nil
	}
	root := doc.Content[0]
	for line := 1; line < root.Line; line++ {
		if from, to := text.bounds(line); from < to && text.src[from] == '%' {
			r.at(RuleTag, from, to, "a directive is not accepted", "remove the line")
		}
	}
	switch err := decode(dec, &next); {
	case err == nil:
		at := text.offset(next.Line, next.Column)
		to := min(at+len("---"), lineEnd(text.src, at))
		r.at(RuleDocuments, at, to, "a second document starts here", "keep one document in a file")
	case !errors.Is(err, io.EOF):
		r.syntax(dec, err)
		return nil
	}
	if isPlain(root) && root.Value == "" && root.Anchor == "" {
		r.empty()
		return nil
	}
	return root
}

// decode reads the next document. A panic of the parser becomes an error: no
// input may end the process.
func decode(dec *yaml.Decoder, into *yaml.Node) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the YAML parser failed: %v", p)
		}
	}()
	return dec.Decode(into)
}

func (r *report) empty() {
	r.add(RuleEmpty, diag.Span{Line: 1, Col: 1, EndLine: 1, EndCol: 1}, "the file holds no value", "")
}

// failure is what the parser knows about the error it stopped at.
type failure struct {
	problem, context     string
	problemAt, contextAt int // byte offsets
	eventAt              int // the last event, for an error that is not the scanner's
	depth                int // collections open where it stopped
}

// failureOf reads the parser's own marks. The library keeps them but prints
// only a line, which is sometimes the wrong one, so they are read where they
// are, by name and read-only. ok is false if the library has other names; a
// test notices that.
func failureOf(dec *yaml.Decoder, text source) (f failure, ok bool) {
	p := reflect.ValueOf(dec).Elem().FieldByName("parser")
	if p.Kind() != reflect.Pointer || p.IsNil() || p.Elem().Kind() != reflect.Struct {
		return f, false
	}
	event, p := p.Elem().FieldByName("event"), p.Elem().FieldByName("parser")
	if p.Kind() != reflect.Struct || event.Kind() != reflect.Struct {
		return f, false
	}
	offset := func(mark reflect.Value) int {
		if mark.Kind() != reflect.Struct {
			ok = false
			return 0
		}
		line, column := mark.FieldByName("line"), mark.FieldByName("column")
		if !line.CanInt() || !column.CanInt() {
			ok = false
			return 0
		}
		return text.offset(int(line.Int())+1, int(column.Int())+1)
	}
	problem, context := p.FieldByName("problem"), p.FieldByName("context")
	if problem.Kind() != reflect.String || context.Kind() != reflect.String {
		return f, false
	}
	ok = true
	f = failure{
		problem: problem.String(), context: context.String(),
		problemAt: offset(p.FieldByName("problem_mark")), contextAt: offset(p.FieldByName("context_mark")),
		eventAt: offset(event.FieldByName("start_mark")),
	}
	if flow, blocks := p.FieldByName("flow_level"), p.FieldByName("indents"); flow.CanInt() && blocks.Kind() == reflect.Slice {
		f.depth = int(flow.Int()) + blocks.Len()
	}
	return f, ok
}

// syntax reports the error that ended parsing, where a reader would look for
// it: an unclosed quote at the quote, not at the end of the file.
func (r *report) syntax(dec *yaml.Decoder, err error) {
	t := r.text
	f, ok := failureOf(dec, t)
	switch {
	case !ok:
		r.add(RuleSyntax, diag.Span{}, strings.TrimPrefix(err.Error(), "yaml: "), "")
	case f.problem == "" && byteAt(t.src, f.eventAt) == '*':
		to := wordEnd(t.src, f.eventAt)
		r.at(RuleAlias, f.eventAt, to, "the alias "+string(t.src[f.eventAt:to])+" is not accepted, and nothing defines it",
			"write the value out")
	case f.problem == "":
		r.at(RuleSyntax, f.eventAt, f.eventAt, strings.TrimPrefix(err.Error(), "yaml: "), "")
	case f.depth > MaxDepth:
		r.tooDeep(f.problemAt, f.problemAt+1)
	default:
		r.scanned(f)
	}
}

func (r *report) scanned(f failure) {
	t := r.text
	end := f.problemAt >= len(bytes.TrimRight(t.src, " \t\r\n"))
	opened := byteAt(t.src, f.contextAt)
	if tab, ok := tabBefore(t, f.problemAt); ok {
		r.at(RuleTab, tab, tab+1, "a tab is used as indentation", "use spaces")
		return
	}
	switch {
	case end && f.context != "" && (opened == '"' || opened == '\''):
		r.at(RuleSyntax, f.contextAt, f.contextAt+1, "this quoted string is never closed", "add the closing quote")
	case end && f.context != "" && (opened == '[' || opened == '{'):
		r.at(RuleSyntax, f.contextAt, f.contextAt+1, fmt.Sprintf("this %c is never closed", opened), "add the closing bracket")
	case f.context == "while scanning a simple key":
		to := f.contextAt + len(bytes.TrimRight(t.src[f.contextAt:lineEnd(t.src, f.contextAt)], " \t\r"))
		r.at(RuleSyntax, f.contextAt, to, "there is no ':' after this key", "write \"key: value\", or indent the line to continue the one before")
	default:
		message, help := f.problem, ""
		switch byteAt(t.src, f.problemAt) {
		case ':':
			help = "put quotes around a value that contains \": \", and check the indentation"
		case '@', '`', '%':
			help = "put quotes around a value that starts with this character"
		case '\\':
			help = "double the backslash, or use single quotes"
		}
		var related []diag.Related
		if f.context != "" {
			message += " " + f.context
			if f.contextAt != f.problemAt {
				related = []diag.Related{{Span: t.span(f.contextAt, f.contextAt), Message: "it starts here"}}
			}
		}
		r.at(RuleSyntax, f.problemAt, wordOrOne(t.src, f.problemAt), message, help, related...)
	}
}

// tabBefore finds the first tab in the indentation of the line at is in, if at
// is in that indentation or the first thing after it.
func tabBefore(t source, at int) (tab int, ok bool) {
	line, _ := t.position(at)
	from, to := t.bounds(line)
	for i := from; i < to && (t.src[i] == ' ' || t.src[i] == '\t'); i++ {
		if t.src[i] == '\t' {
			return i, true
		}
	}
	return 0, false
}

func byteAt(src []byte, at int) byte {
	if at < 0 || at >= len(src) {
		return 0
	}
	return src[at]
}

// wordOrOne returns the end of the word at at, or of the one character there.
func wordOrOne(src []byte, at int) int {
	if end := at + len(leadingWord(src[min(at, len(src)):])); end > at {
		return end
	}
	if c := byteAt(src, at); c == 0 || c == '\n' || c == '\r' {
		return at
	}
	return at + 1
}

func leadingWord(src []byte) []byte {
	return src[:len(src)-len(bytes.TrimLeft(src, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"))]
}
