package gen

import (
	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/secretdiag"
	"github.com/agentworkforce/sbx/internal/secretscan"
	"github.com/agentworkforce/sbx/internal/yamldoc"
)

// secretsIn finds what looks like a credential in answers, so that it is never
// written anywhere. The diagnostics do not hold the value.
func secretsIn(doc *yamldoc.Doc) []diag.Diagnostic {
	found := secretdiag.Diagnostics(doc.Name(), doc.Source(), secretscan.Scan(doc.Source(), secretscan.Options{Entropy: true}))
	for i := range found {
		found[i].Message += "; only names belong here, never values"
	}
	return found
}
