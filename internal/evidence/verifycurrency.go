package evidence

import (
	"bytes"
	"fmt"
	"time"

	"github.com/agentworkforce/sbx/internal/secretscan"
)

func pointerAt(list string, i int) string { return fmt.Sprintf("%s/%d", list, i) }

// currency asks whether the evidence is about what is here now.
func (v *verifier) currency() {
	p := v.predicate()
	if !v.o.Now.Before(p.ExpiresAt()) {
		v.say(KindExpired, StatementName, "/predicate/finishedAt", "the run ended on %s; evidence is fresh for %d days",
			p.FinishedAt.UTC().Format(time.DateOnly), int(MaxAge.Hours()/24))
	}
	now := v.o.Current
	if now == nil {
		return
	}
	b := p.Binding
	if now.Adapter == "" || b.Adapter != now.Adapter {
		v.say(KindAdapter, StatementName, "/predicate/binding/adapter", "the adapter that was tested is not the one that is here")
	}
	if b.Claims != now.Claims {
		v.say(KindClaims, StatementName, "/predicate/binding/claims", "the manifest claims something else than what was tested")
	}
	if b.Core != now.Contract[coreID] {
		v.say(KindCore, StatementName, "/predicate/binding/core", "the core of the contract has revision %d; the run was made with %d", now.Contract[coreID], b.Core)
	}
	for _, id := range now.Supported {
		if want, ok := now.Contract[id]; ok && b.Contract[id] != want {
			v.say(KindContract, StatementName, "/predicate/binding/contract", "%s has revision %d; the run was made with %d", id, want, b.Contract[id])
		}
	}
	if p.Versions.Suite != now.Suite {
		v.say(KindStaleCheck, StatementName, "/predicate/versions/suite", "the suite has revision %d; the run was made with %d", now.Suite, p.Versions.Suite)
	}
}

// secrets looks for what must not be published.
func (v *verifier) secrets() { v.found = append(v.found, v.b.Secrets(v.o)...) }

// Secrets returns where a bundle holds what must not be published: values of
// o.Secrets, and what looks like a credential. To be asked before anything is
// written too.
func (b *Bundle) Secrets(o Options) []Finding {
	var out []Finding
	for _, name := range b.names() {
		src := b.Files[name]
		line := func(at int) int { return 1 + bytes.Count(src[:at], []byte{'\n'}) }
		for _, f := range o.Secrets.Scan(src) {
			out = append(out, Finding{Kind: KindKnownSecret, File: name, Line: line(f.At), Message: fmt.Sprintf("holds the secret %q, in the form %s", f.Name, f.Form)})
		}
		if name == EnvelopeName {
			continue // what it holds is the statement, which is looked at as a file
		}
		for _, f := range secretscan.Scan(src, secretscan.Options{}) {
			out = append(out, Finding{Kind: secretKind(f.Kind), File: name, Line: line(f.Start), Message: f.What})
		}
		if o.Deep == nil {
			continue
		}
		for _, f := range o.Deep.Scan(src) {
			out = append(out, Finding{Kind: KindDeepSecret, File: name, Line: line(f.Start), Message: "gitleaks takes this for a secret: " + f.Rule})
		}
	}
	return out
}

func secretKind(k secretscan.Kind) Kind {
	switch k {
	case secretscan.Address:
		return KindURLSecret
	case secretscan.PrivateKey:
		return KindPrivateKey
	default:
		return KindVendorKey
	}
}
