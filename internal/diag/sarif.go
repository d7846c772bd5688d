package diag

import (
	"io"
	"net/url"
	"slices"
)

// SARIFOptions names the tool and describes its rules. The zero value writes a
// log of the tool "sbxgen" whose rules have an ID only.
type SARIFOptions struct {
	// Tool and Version name the producer; an empty Version is left out.
	Tool, Version string
	// InformationURI is the tool's home page. Optional.
	InformationURI string
	// Rule returns a rule's one-line title and the address of its page, each
	// empty when there is none. Nil means none has any.
	Rule func(id string) (title, helpURI string)
}

// The parts of SARIF 2.1.0 that are written.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri,omitempty"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string     `json:"id"`
		ShortDescription *sarifText `json:"shortDescription,omitempty"`
		HelpURI          string     `json:"helpUri,omitempty"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID           string          `json:"ruleId,omitempty"`
		RuleIndex        *int            `json:"ruleIndex,omitempty"`
		Level            string          `json:"level"`
		Message          sarifText       `json:"message"`
		Locations        []sarifLocation `json:"locations,omitempty"`
		RelatedLocations []sarifLocation `json:"relatedLocations,omitempty"`
		Fixes            []sarifFix      `json:"fixes,omitempty"`
	}
	sarifLocation struct {
		ID       *int          `json:"id,omitempty"`
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifText    `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
		EndLine     int `json:"endLine,omitempty"`
		EndColumn   int `json:"endColumn,omitempty"`
	}
	sarifFix struct {
		Description sarifText     `json:"description"`
		Changes     []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		Artifact     sarifArtifact      `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  sarifRegion `json:"deletedRegion"`
		Inserted sarifText   `json:"insertedContent"`
	}
)

// SARIF prints a set as a SARIF 2.1.0 log of one run, for code-scanning tools.
// Columns are code points and the log says so. A Suggestion becomes a fix when
// its span is fully known. The error is w's.
func SARIF(w io.Writer, s *Set, opt SARIFOptions) error {
	if opt.Tool == "" {
		opt.Tool = "sbxgen"
	}
	all := s.All()
	rules := sarifRules(all, opt)
	results := make([]sarifResult, len(all))
	for i, d := range all {
		results[i] = sarifResultOf(d, rules)
	}
	return writeJSON(w, sarifLog{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0",
		Runs: []sarifRun{{
			Tool: sarifTool{Driver: sarifDriver{
				Name: opt.Tool, Version: opt.Version, InformationURI: opt.InformationURI, Rules: rules,
			}},
			ColumnKind: "unicodeCodePoints",
			Results:    results,
		}},
	})
}

// sarifRules describes each rule that has a result, sorted by ID.
func sarifRules(all []Diagnostic, opt SARIFOptions) []sarifRule {
	rules := []sarifRule{}
	for _, d := range all {
		if d.Rule == "" || ruleIndex(rules, d.Rule) >= 0 {
			continue
		}
		r := sarifRule{ID: d.Rule}
		if opt.Rule != nil {
			title, uri := opt.Rule(d.Rule)
			if title != "" {
				r.ShortDescription = &sarifText{title}
			}
			r.HelpURI = uri
		}
		rules = append(rules, r)
	}
	slices.SortFunc(rules, func(a, b sarifRule) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return rules
}

func ruleIndex(rules []sarifRule, id string) int {
	return slices.IndexFunc(rules, func(r sarifRule) bool { return r.ID == id })
}

func sarifResultOf(d Diagnostic, rules []sarifRule) sarifResult {
	r := sarifResult{RuleID: d.Rule, Level: "error", Message: sarifText{advice(d)}}
	if i := ruleIndex(rules, d.Rule); i >= 0 {
		r.RuleIndex = &i
	}
	if d.Severity == Warning || d.Severity == Note {
		r.Level = d.Severity.String()
	}
	if d.File != "" {
		r.Locations = []sarifLocation{{Physical: sarifPlace(d.File, d.Span())}}
	}
	for i, rel := range d.Related {
		if file := relatedFile(d, rel); file != "" {
			r.RelatedLocations = append(r.RelatedLocations, sarifLocation{
				ID: &i, Physical: sarifPlace(file, rel.Span), Message: &sarifText{rel.Message},
			})
		}
	}
	if d.Suggestion != "" && d.File != "" && d.Line > 0 && d.Col > 0 && d.EndLine > 0 && d.EndCol > 0 {
		place := sarifPlace(d.File, d.Span())
		r.Fixes = []sarifFix{{
			Description: sarifText{"Replace with " + d.Suggestion},
			Changes: []sarifChange{{
				Artifact:     place.Artifact,
				Replacements: []sarifReplacement{{Deleted: *place.Region, Inserted: sarifText{d.Suggestion}}},
			}},
		}}
	}
	return r
}

func sarifPlace(file string, s Span) sarifPhysical {
	p := sarifPhysical{Artifact: sarifArtifact{URI: (&url.URL{Path: file}).String()}}
	if s.Line > 0 {
		r := sarifRegion{StartLine: s.Line, StartColumn: s.Col}
		if s.Col > 0 && s.EndLine > 0 && s.EndCol > 0 {
			r.EndLine, r.EndColumn = s.EndLine, s.EndCol
		}
		p.Region = &r
	}
	return p
}

// quoted sets a suggestion apart. One that is put in place with its quotes is
// set apart already.
func quoted(suggestion string) string {
	if len(suggestion) > 1 && suggestion[0] == '"' && suggestion[len(suggestion)-1] == '"' {
		return suggestion
	}
	return "\"" + suggestion + "\""
}

// advice is a diagnostic's message with its help, suggestion and next command,
// one to a line, for formats that carry one text.
func advice(d Diagnostic) string {
	text := d.Message
	if d.Help != "" {
		text += "\nhelp: " + d.Help
	}
	if d.Suggestion != "" {
		text += "\ndid you mean " + quoted(d.Suggestion) + "?"
	}
	if d.Next != "" {
		text += "\nrun: " + d.Next
	}
	return text
}
