package yamldoc

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/agentworkforce/sbx/internal/diag"
)

// The rules of this package. An ID never changes its meaning.
const (
	RuleSyntax      = "SBX100"
	RuleTab         = "SBX101"
	RuleDuplicate   = "SBX102"
	RuleMerge       = "SBX103"
	RuleAlias       = "SBX104"
	RuleTag         = "SBX105"
	RuleDocuments   = "SBX106"
	RuleKey         = "SBX107"
	RuleUTF8        = "SBX108"
	RuleBOM         = "SBX109"
	RuleControl     = "SBX110"
	RuleSize        = "SBX111"
	RuleDepth       = "SBX112"
	RuleEmpty       = "SBX113"
	RuleYesNo       = "SBX114"
	RulePrecision   = "SBX115"
	RuleNumberForm  = "SBX116"
	RuleNotANumber  = "SBX117"
	RuleCRLF        = "SBX118"
	RuleJSONDialect = "SBX119"
	RuleUnreadable  = "SBX136"
)

// Rule describes one rule of this package.
type Rule struct {
	ID       string
	Severity diag.Severity
	Title    string // one line
}

// Rules returns every rule of this package, sorted by ID.
func Rules() []Rule {
	return []Rule{
		{RuleSyntax, diag.Error, "the file must be well-formed YAML or JSON"},
		{RuleTab, diag.Error, "indentation must be spaces, not tabs"},
		{RuleDuplicate, diag.Error, "a key must not be repeated in its mapping"},
		{RuleMerge, diag.Error, "merge keys (<<) are not accepted"},
		{RuleAlias, diag.Error, "anchors and aliases are not accepted"},
		{RuleTag, diag.Error, "explicit tags and directives are not accepted"},
		{RuleDocuments, diag.Error, "a file must hold one document"},
		{RuleKey, diag.Error, "a key must be a string"},
		{RuleUTF8, diag.Error, "the file must be UTF-8"},
		{RuleBOM, diag.Error, "the file must not start with a byte-order mark"},
		{RuleControl, diag.Error, "control characters, marks of direction and Unicode line separators are not accepted"},
		{RuleSize, diag.Error, "the file must not be larger than 1 MiB"},
		{RuleDepth, diag.Error, "values must not nest deeper than 64 levels"},
		{RuleEmpty, diag.Error, "the file must not be empty"},
		{RuleYesNo, diag.Warning, "an unquoted yes, no, on or off is read differently by different tools"},
		{RulePrecision, diag.Error, "a number must fit a JSON number exactly"},
		{RuleNumberForm, diag.Error, "a number must be written as JSON writes it"},
		{RuleNotANumber, diag.Error, "infinity and not-a-number are not accepted"},
		{RuleCRLF, diag.Error, "lines must end with LF, not CRLF"},
		{RuleJSONDialect, diag.Error, "JSON must have no comments and no trailing commas"},
		{RuleUnreadable, diag.Error, "a file must be there and readable"},
	}
}

// ErrNotRegular says that something is no regular file: a folder, a pipe, a
// device.
var ErrNotRegular = errors.New("it is not a regular file")

// Unreadable is the finding about a file of which nothing could be read. The
// message has the reason without a path, which may be of one machine only.
func Unreadable(name string, err error) diag.Diagnostic {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	d := diag.Diagnostic{File: name, Rule: RuleUnreadable, Message: "cannot be read: " + err.Error(), Next: "sbxgen explain " + RuleUnreadable}
	if errors.Is(err, ErrNotRegular) {
		d.Help = "put a file there, or remove it"
	}
	return d
}

// report collects the findings about one file.
type report struct {
	file    string
	text    source
	found   []diag.Diagnostic
	dropped int
}

// full reports whether further findings would be dropped.
func (r *report) full() bool { return len(r.found) >= maxFindings }

// add files one finding; past maxFindings it is only counted.
func (r *report) add(rule string, at diag.Span, message, help string, related ...diag.Related) {
	if r.full() {
		r.dropped++
		return
	}
	d := diag.Diagnostic{
		File: r.file, Rule: rule, Message: message, Help: help,
		Next: "sbxgen explain " + rule, Related: related,
	}
	if rule == RuleYesNo {
		d.Severity = diag.Warning
	}
	r.found = append(r.found, d.At(at))
}

// at files a finding about a range of bytes. The position is worked out only
// when it will be shown.
func (r *report) at(rule string, from, to int, message, help string, related ...diag.Related) {
	if r.full() {
		r.dropped++
		return
	}
	r.add(rule, r.text.span(from, to), message, help, related...)
}

func (r *report) tooLarge(size int) {
	r.add(RuleSize, diag.Span{Line: 1, Col: 1, EndLine: 1, EndCol: 1},
		fmt.Sprintf("the file is larger than %d bytes", MaxBytes),
		fmt.Sprintf("it has at least %d bytes; keep manifests small and put data into files of their own", size))
}

func (r *report) tooDeep(from, to int) {
	r.at(RuleDepth, from, to, fmt.Sprintf("this value is nested deeper than %d levels", MaxDepth), "flatten the document")
}

func (r *report) done() []diag.Diagnostic {
	if r.dropped > 0 {
		r.found = append(r.found, diag.Diagnostic{
			File: r.file, Severity: diag.Note,
			Message: fmt.Sprintf("%d more findings in this file are not shown", r.dropped),
			Help:    "put the ones above right first",
		})
	}
	return r.found
}
