package gen

import (
	"strings"
)

// configuration names what lets the provider in and what changes it.
func (p *providerPage) configuration() string {
	parts := []string{p.credentials()}
	var settings, endpoints, ambient []string
	for _, s := range p.n.nodes("config") {
		meaning := markdown(s.text("label"))
		if allowed := s.texts("allowed"); len(allowed) > 0 {
			meaning += " (" + markdown(strings.Join(allowed, ", ")) + ")"
		}
		settings = append(settings, row(code(s.text("key")), code(s.text("env")), markdown(s.text("type")), dash(code(scalarText(s["default"]))), dash(meaning)))
	}
	for _, e := range p.n.nodes("endpoints") {
		endpoints = append(endpoints, row(markdown(e.text("name")), code(e.text("url")), dash(code(e.text("env")))))
	}
	for _, a := range p.n.nodes("ambient") {
		ambient = append(ambient, row(markdown(a.text("source")), markdown(a.text("handling")), dash(markdown(a.text("detail")))))
	}
	parts = append(parts, table(settings, "setting, by key", "variable", "type", "default", "what it does"),
		table(endpoints, "endpoint", "address", "variable that replaces it"),
		table(ambient, "what else could change it", "handling", "how"))
	return joined(parts)
}

// joined puts an empty line between the parts that are there.
func joined(parts []string) string {
	var out []string
	for _, part := range parts {
		if part != "" {
			out = append(out, part)
		}
	}
	return strings.Join(out, "\n")
}

func (p *providerPage) credentials() string {
	sets, stated := p.n["credentialSets"].([]any)
	switch {
	case !stated:
		return "Which credentials it needs is not stated.\n"
	case len(sets) == 0:
		return "It needs no credentials.\n"
	}
	var out []string
	for i, set := range sets {
		members, _ := set.([]any)
		var rows []string
		for _, member := range members {
			c, _ := member.(map[string]any)
			n := node(c)
			var aliases []string
			for _, a := range n.texts("aliases") {
				aliases = append(aliases, code(a))
			}
			secret := "no"
			if n.flag("secret", true) {
				secret = "yes"
			}
			label := markdown(n.text("label"))
			if n.text("docs") != "" {
				label += " (" + link("where to get it", n.text("docs")) + ")"
			}
			rows = append(rows, row(code(n.text("env")), dash(code(n.text("key"))), dash(strings.Join(aliases, ", ")), secret, dash(label)))
		}
		if i > 0 {
			out = append(out, "Or instead:\n")
		}
		out = append(out, table(rows, "credential", "key", "older names", "secret", "what it is"))
	}
	return joined(out)
}

// capabilities has a row for every word of the vocabulary, stated or not.
func (p *providerPage) capabilities() string {
	var rows []string
	for _, c := range p.sheet.capabilities {
		claim, stated := p.model.claim(c.id)
		if !stated {
			rows = append(rows, row(c.title+" ("+code(c.id)+")", "unknown", "not stated", "—"))
			continue
		}
		n := p.n.node("capabilities").node(c.id)
		if claim.support == "unknown" {
			p.sheet.unknown = append(p.sheet.unknown, row("Capability "+code(c.id), markdown(claim.reason)))
		}
		rows = append(rows, row(c.title+" ("+code(c.id)+")", claim.support, p.how(claim, n), p.sheet.known(n)))
		for _, f := range claim.facts {
			fact := n.node(f.name)
			if f.support == "unknown" {
				p.sheet.unknown = append(p.sheet.unknown, row("Snapshot: "+code(f.name), markdown(f.reason)))
			}
			rows = append(rows, row("— "+p.sheet.snapshotTitle(f.name), markdown(f.support), dash(markdown(f.reason)), p.sheet.known(fact)))
		}
	}
	return table(rows, "capability", "support", "how, or why not", "known from")
}

// how says how a claim is met, or why it is not.
func (p *providerPage) how(c claimModel, n node) string {
	var parts []string
	switch {
	case len(c.facts) > 0 && c.support != "supported":
		parts = append(parts, "see its five facts")
	case c.reason != "":
		parts = append(parts, markdown(c.reason))
	}
	semantics := n.node("semantics")
	for _, t := range p.sheet.properties(p.sheet.defs.object("semantics")) {
		switch v := semantics[t.key]; {
		case v == nil || t.key == "note":
		case t.key == "via":
			parts = append(parts, inWords(v))
		default:
			parts = append(parts, strings.ToLower(t.title)+": "+inWords(v))
		}
	}
	text := strings.Join(parts, "; ")
	if note := semantics.text("note"); note != "" {
		text = strings.TrimPrefix(text+". "+markdown(note), ". ")
	}
	return dash(text)
}

// limits are those with a field of their own, and the others.
func (p *providerPage) limits() string {
	limits := p.n.node("limits")
	var props []titled
	for _, t := range p.root {
		if t.key == "limits" {
			for _, field := range p.sheet.properties(t.def) {
				if field.fact {
					props = append(props, field)
				}
			}
		}
	}
	body := p.sheet.section("Limits", limits, props)
	var rows []string
	for _, o := range limits.nodes("other") {
		what := markdown(o.text("what"))
		rows = append(rows, row(what, p.sheet.fact("Limits: "+what, o.node("limit")), p.sheet.known(o.node("limit"))))
	}
	if body == "" && len(rows) == 0 {
		return "None is stated.\n"
	}
	return joined([]string{body, table(rows, "limit", "value", "known from")})
}

func (p *providerPage) classes() string {
	var rows []string
	for _, c := range p.n.nodes("machineClasses") {
		id := code(c.text("id"))
		value := func(key string) string {
			if c[key] == nil {
				return "not stated"
			}
			return p.sheet.fact("Machine class "+id+": "+key, c.node(key))
		}
		rows = append(rows, row(id, value("cpus"), value("memoryMiB"), value("diskMiB"), value("gpu"), value("rate"), p.sheet.known(c.node("rate"))))
	}
	return table(rows, "class", "CPUs", "memory, MiB", "disk, MiB", "GPU", "price", "price known from")
}

// prices are what the vendor states, with the day it was read, and what runs cost.
func (p *providerPage) prices() string {
	pricing := p.n.node("pricing")
	switch {
	case len(pricing) == 0:
		return "None are stated, so they are not known.\n"
	case pricing.text("unknown") != "":
		return p.sheet.fact("Prices", pricing) + "\n"
	}
	source, meter := pricing.node("source"), pricing.node("meter")
	head := "Read on " + markdown(source.text("readOn")) + " at " + link(markdown(source.text("url")), source.text("url")) +
		". What runs the meter: " + p.sheet.fact("Prices: meter", meter)
	if meter.text("value") == "none" {
		head += ", for it charges nothing"
	}
	if len(meter) > 1 {
		head += " (" + p.sheet.known(meter) + ")"
	}
	head += "."
	if excludes := pricing.texts("excludes"); len(excludes) > 0 {
		head += "\nNot in the rates: " + markdown(strings.TrimSuffix(strings.Join(excludes, ", "), ".")) + "."
	}
	var rates, seen []string
	for _, r := range pricing.nodes("rates") {
		what := markdown(r.text("what"))
		rates = append(rates, row(what, p.sheet.fact("Prices: "+what, r.node("rate")), dash(markdown(r.text("note"))), p.sheet.known(r.node("rate"))))
	}
	for _, o := range pricing.nodes("observations") {
		seen = append(seen, row(inWords(o["usd"])+" USD", markdown(o.text("per")), markdown(o.text("at")), code(o.text("run"))))
	}
	return joined([]string{head + "\n", table(rates, "what", "price", "note", "known from"), table(seen, "observed", "for", "on", "in the run")})
}

func (p *providerPage) hazards() string {
	var rows []string
	for _, h := range p.n.nodes("hazards") {
		rows = append(rows, row(code(h.text("id")), markdown(h.text("summary")), markdown(h.text("mitigation")), code(h.text("check")), p.sheet.known(h)))
	}
	if len(rows) == 0 {
		return "None is stated, which does not say that there are none.\n"
	}
	return table(rows, "hazard", "how it shows", "what is done, or has to be", "check", "known from")
}

// gap is why there is an adapter although ComputeSDK has one.
func (p *providerPage) gap() string {
	var rows []string
	for _, g := range p.n.node("adapter").nodes("gap") {
		rows = append(rows, row(code(g.text("capability")+g.text("check")), markdown(g.text("computesdkFact")), p.sheet.known(node{"from": g.text("evidence")})))
	}
	return table(rows, "capability or check", "there", "known from")
}

// unknowns lists what the manifest calls unknown, and what it does not mention.
func (p *providerPage) unknowns() string {
	said := table(p.sheet.unknown, "what", "why")
	if said == "" {
		said = "Nothing is called unknown.\n"
	}
	if len(p.sheet.unsaid) == 0 {
		return said
	}
	return said + "\nNot mentioned, and so not known either:\n\n" + strings.Join(p.sheet.unsaid, "")
}

func (p *providerPage) provenance() string {
	var rows []string
	for _, s := range p.n.nodes("provenance") {
		which := markdown(strings.Join(strings.Fields(s.text("version")+" "+s.text("commit")), " "))
		if run := s.text("run"); run != "" {
			which = "run " + code(run)
		}
		if sum := s.text("sha256"); sum != "" {
			which = strings.TrimSpace(which + " sha256 " + code(sum))
		}
		rows = append(rows, row(link(markdown(s.text("id")), s.text("url")), markdown(s.text("kind")), dash(which), dash(markdown(s.text("retrievedAt"))), dash(markdown(s.text("note")))))
	}
	return table(rows, "source", "kind", "which", "read on", "note")
}
