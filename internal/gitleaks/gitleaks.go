// Package gitleaks looks for credentials with the rules of the gitleaks project:
// slower than internal/secretscan and far wider, for evidence and for
// `sbxgen validate --deep`.
package gitleaks

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/viper"
	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"
)

// decodeDepth is how many layers of base64, hexadecimal or percent encoding are
// looked through.
const decodeDepth = 2

// Scanner holds the compiled rules. New makes one. One Scan at a
// time: what gitleaks shares between scans is not documented.
type Scanner struct {
	detector *detect.Detector
}

// Finding is a part of a text that a rule of gitleaks takes for a credential. It
// never holds the value.
type Finding struct {
	Rule       string // gitleaks' name of the rule, such as "aws-access-token"
	What       string // gitleaks' description of it
	Start, End int    // bytes
}

// New compiles the rules that come with gitleaks, which takes some tens of
// milliseconds. No configuration of the machine or of the scanned tree is read,
// and a comment in a scanned text cannot switch a rule off.
func New() (*Scanner, error) {
	v := viper.New()
	v.SetConfigType("toml")
	if err := v.ReadConfig(strings.NewReader(config.DefaultConfig)); err != nil {
		return nil, err
	}
	var raw config.ViperConfig
	if err := v.Unmarshal(&raw); err != nil {
		return nil, err
	}
	rules, err := raw.Translate()
	if err != nil {
		return nil, err
	}
	d := detect.NewDetector(rules)
	d.MaxDecodeDepth = decodeDepth
	d.IgnoreGitleaksAllow = true
	return &Scanner{d}, nil
}

// Scan returns what looks like a credential in src, in the order of the text.
func (s *Scanner) Scan(src []byte) []Finding {
	// No path is given: gitleaks leaves out files by name, and a forger names files.
	found := s.detector.DetectString(string(src))
	lines := lineStarts(src)
	out := make([]Finding, 0, len(found))
	for _, f := range found {
		from := 0
		if f.StartLine >= 0 && f.StartLine < len(lines) {
			from = lines[f.StartLine]
		}
		start, end := locate(src, from, f.Secret)
		out = append(out, Finding{Rule: f.RuleID, What: f.Description, Start: start, End: end})
	}
	slices.SortFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Rule, b.Rule))
	})
	return slices.Compact(out)
}

// lineStarts returns where each line of src begins, in bytes; gitleaks ends lines
// as we do, with a line feed.
func lineStarts(src []byte) []int {
	starts := []int{0}
	for i, b := range src {
		if b == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// locate returns where secret stands in src at or after from. What was found in
// decoded text stands nowhere: then it is the whole line.
func locate(src []byte, from int, secret string) (start, end int) {
	if i := bytes.Index(src[from:], []byte(secret)); i >= 0 && secret != "" {
		return from + i, from + i + len(secret)
	}
	end = len(src)
	if i := bytes.IndexByte(src[from:], '\n'); i >= 0 {
		end = from + i
	}
	return from, end
}
