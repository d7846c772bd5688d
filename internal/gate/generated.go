package gate

import (
	"strings"

	"github.com/agentworkforce/sbx/internal/diag"
)

// GeneratedFile is what the checker of generated files says of one path, in its
// own words.
type GeneratedFile struct {
	Path string
	// Line is the line that is wrong, 0 where that is not one.
	Line int
	// Word is one of changed, missing, orphan, hand-edited and interrupted.
	Word string
	// Cause is one of conflicted-lock, conflicted-text, broken-markers and
	// never-generated, and empty where the word says it all.
	Cause string
	// Name is the block within the file, Detail a sentence; each may be empty.
	Name, Detail string
}

// Generated phrases a finding about a generated file. A word or cause that this
// package does not know has the rule of a changed file, so that no finding is
// lost.
func Generated(f GeneratedFile) diag.Diagnostic {
	d := diag.Diagnostic{File: f.Path, Line: f.Line, Rule: generatedRule(f.Word, f.Cause), Next: "sbxgen generate"}
	if f.Line > 0 {
		d.Col = 1
	}
	d.Message = "generated file is " + f.Word
	if f.Name != "" {
		d.Message = "generated part " + quote(f.Name) + " is " + f.Word
	}
	switch {
	case f.Word == "interrupted":
		d.Message = "an earlier generate was interrupted"
	case f.Cause == "never-generated":
		d.Message = "nothing was generated for this manifest yet"
		return d
	}
	if f.Detail != "" {
		d.Message += ": " + strings.TrimSuffix(f.Detail, ".")
	}
	return d
}

func generatedRule(word, cause string) string {
	switch cause {
	case "conflicted-lock":
		return "SBX306"
	case "conflicted-text":
		return "SBX307"
	case "broken-markers":
		return "SBX308"
	case "never-generated":
		return "SBX309"
	}
	switch word {
	case "missing":
		return "SBX302"
	case "orphan":
		return "SBX303"
	case "hand-edited":
		return "SBX304"
	case "interrupted":
		return "SBX305"
	}
	return "SBX301"
}

// GeneratedRules are the rules that Generated can give, sorted.
func GeneratedRules() []string {
	return []string{"SBX301", "SBX302", "SBX303", "SBX304", "SBX305", "SBX306", "SBX307", "SBX308", "SBX309"}
}
