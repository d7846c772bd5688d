package gate

import (
	"strings"

	"github.com/agentworkforce/sbx/internal/diag"
)

// Generated phrases a finding about a generated file. Word is one of changed,
// missing, orphan, hand-edited and interrupted, as the checker of generated
// files says them; name is the block within the file, detail a sentence, each
// empty when there is none. A word this package does not know has the rule of a
// changed file, so that no finding is lost.
func Generated(file, word, name, detail string) diag.Diagnostic {
	d := diag.Diagnostic{File: file, Rule: generatedRule(word), Next: "sbxgen generate"}
	d.Message = "generated file is " + word
	if name != "" {
		d.Message = "generated part " + quote(name) + " is " + word
	}
	if word == "interrupted" {
		d.Message = "an earlier generate was interrupted"
	}
	if detail != "" {
		d.Message += ": " + strings.TrimSuffix(detail, ".")
	}
	return d
}

func generatedRule(word string) string {
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
