package gate

import (
	"path"
	"strings"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/yamldoc"
)

// examineCatalog runs the rules about one catalog entry by itself.
func examineCatalog(doc *yamldoc.Doc) ([]diag.Diagnostic, facts) {
	r := &report{doc: doc}
	c := cursor{value: doc.Value()}
	out := facts{Provider: wordAt(r, c.at("provider")), Status: wordAt(r, c.at("status"))}
	id := out.Provider.Text
	if file := strings.TrimSuffix(path.Base(doc.Name()), path.Ext(doc.Name())); id != "" && id != file {
		r.onValue(ruleEntryName, c.at("provider"), "the provider is %q and the file %q", id, path.Base(doc.Name())).Suggestion = file
	}
	for _, text := range []cursor{c.at("reason")} {
		if isPlaceholder(text.text()) {
			r.onValue(rulePlaceholder, text, "%q says nothing: a sentence is wanted here", "reason")
		}
	}
	if t := c.at("verifiedAt"); t.text() != "" {
		out.VerifiedAt = wordAt(r, t)
	}
	if t := c.at("expiresAt"); t.text() != "" {
		out.ExpiresAt = wordAt(r, t)
	}
	for _, e := range c.at("evidence").items() {
		out.Evidence = append(out.Evidence, evidenceLink(r, e, id)...)
	}
	for _, w := range c.at("waivers").items() {
		if isPlaceholder(w.at("reason").text()) {
			r.onValue(rulePlaceholder, w.at("reason"), "%q says nothing: a sentence is wanted here", "reason")
		}
		if until := w.at("until"); until.text() != "" {
			out.Waivers = append(out.Waivers, wordAt(r, until))
		}
	}
	return r.found, out
}

// evidenceLink checks where a link leads to and returns it when it may be
// followed.
func evidenceLink(r *report, e cursor, provider string) []link {
	p := e.at("path")
	if p.text() == "" {
		return nil
	}
	parts := strings.Split(p.text(), "/")
	if path.IsAbs(p.text()) || path.Clean(p.text()) != p.text() || parts[0] != "evidence" || strings.Contains(p.text(), `\`) {
		return nil // the schema's pattern has said so
	}
	if len(parts) > 1 && provider != "" && parts[1] != provider {
		r.onValue(ruleOtherEvidence, p, "this is evidence of %q, and the entry is about %q", parts[1], provider)
		return nil
	}
	return []link{{Path: wordAt(r, p), SHA256: wordAt(r, e.at("sha256"))}}
}
