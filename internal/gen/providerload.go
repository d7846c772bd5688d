package gen

import (
	"strconv"
	"strings"
	"time"
)

// newProviderModel reads a manifest that has passed the schema.
func newProviderModel(manifest map[string]any, v *vocabulary, module, dir string) *providerModel {
	n := node(manifest)
	adapter := n.node("adapter")
	m := &providerModel{
		id: n.text("id"), name: n.text("name"), summary: n.text("summary"), homepage: n.text("homepage"),
		kind: adapter.text("kind"), base: adapter.text("base"), module: module, dir: dir,
		egress:    factOrUnknown(n.node("egress").factText("control")),
		isolation: factOrUnknown(n.factText("isolation")),
		goneProof: factOrUnknown(n.node("lifecycle").factText("goneProof")),
		// Brokering that is not known is not offered: a request for it is refused.
		brokersSecrets: n.node("secrets").factText("brokering") == "native",
		execStreams:    n.node("exec").factText("streams"),
		execTimeoutCap: goDuration(n.node("exec").factText("timeoutCap")),
		image:          n.node("images").factText("default"),

		execTimeoutDefault: goDuration(n.node("exec").factText("timeoutDefault")),
		envReserved:        n.node("env").node("reserved").texts("value"),
		egressDefault:      n.node("egress").factText("default"),
	}
	if mode := n.node("lifecycle").node("delete").factText("mode"); mode != "" {
		synchronous := mode == "synchronous"
		m.deleteSynchronous = &synchronous
	}
	labels := n.node("labels")
	m.labels = labelModel{encoding: factOrUnknown(labels.factText("encoding")), filter: factOrUnknown(labels.factText("filter")),
		max: labels.factInt("max"), maxKeyLength: labels.factInt("maxKeyLength"), maxValueLength: labels.factInt("maxValueLength")}
	m.loadSettings(n)
	for _, c := range v.capabilities {
		if claim, ok := n.node("capabilities")[c.id].(map[string]any); ok {
			m.claims = append(m.claims, newClaim(c, claim))
		}
	}
	if fork, ok := m.claim("fork"); ok && fork.support == "supported" {
		m.forkKeeps = n.node("capabilities").node("fork").node("semantics").text("keeps")
	}
	if ports, ok := m.claim("ports"); ok && ports.support == "supported" {
		m.portAudience = n.node("capabilities").node("ports").node("semantics").text("audience")
	}
	m.loadClients(n)
	for _, h := range n.nodes("hazards") {
		m.hazards = append(m.hazards, hazardModel{h.text("id"), h.text("summary"), h.text("mitigation"), h.text("check")})
	}
	return m
}

// loadClients finds the Go modules among the sources: entries of kind sdk whose
// address is a module's page with its version.
func (m *providerModel) loadClients(n node) {
	for _, p := range n.nodes("provenance") {
		page, found := strings.CutPrefix(p.text("url"), "https://pkg.go.dev/")
		module, version, pinned := strings.Cut(page, "@")
		if m.native() && p.text("kind") == "sdk" && found && pinned {
			m.clients = append(m.clients, clientModel{module, version, p.text("sha256")})
		}
	}
}

func factOrUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// goDuration turns a manifest duration (90s, 24h, 30d) into a Go one; "none"
// and what is not known become "".
func goDuration(s string) string {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil {
			return strconv.Itoa(n*24) + "h"
		}
	}
	if _, err := time.ParseDuration(s); err != nil {
		return ""
	}
	return s
}

func (m *providerModel) loadSettings(n node) {
	for _, s := range n.nodes("config") {
		m.settings = append(m.settings, settingModel{key: s.text("key"), env: s.text("env"), label: s.text("label"),
			typ: s.text("type"), def: scalarText(s["default"]), allowed: s.texts("allowed")})
	}
	sets, _ := n["credentialSets"].([]any)
	for _, set := range sets {
		members, _ := set.([]any)
		var keys []string
		for _, member := range members {
			c, _ := member.(map[string]any)
			s := newCredential(c)
			keys = append(keys, s.key)
			if !m.hasSetting(s.key) {
				m.settings = append(m.settings, s)
			}
		}
		m.credentialSets = append(m.credentialSets, keys)
	}
	for _, e := range n.nodes("endpoints") {
		m.endpoints = append(m.endpoints, endpointModel{e.text("name"), e.text("url"), e.text("env")})
		if key := "endpoint" + goName(e.text("name")); e.text("env") != "" && !m.hasSetting(key) {
			m.settings = append(m.settings, settingModel{key: key, env: e.text("env"), typ: "string",
				label: "address of " + e.text("name"), def: e.text("url")})
		}
	}
}

func newCredential(c node) settingModel {
	key := c.text("key")
	if key == "" {
		key = goParam(strings.ToLower(c.text("env")))
	}
	return settingModel{key: key, env: c.text("env"), aliases: c.texts("aliases"), label: c.text("label"),
		typ: "string", secret: c.flag("secret", true)}
}

func (m *providerModel) hasSetting(key string) bool {
	for _, s := range m.settings {
		if s.key == key {
			return true
		}
	}
	return false
}

func newClaim(c capability, claim node) claimModel {
	out := claimModel{capability: c, support: claim.text("support"), reason: claim.text("reason"),
		via: claim.node("semantics").text("via"), from: claim.text("from"), class: claim.text("class")}
	if c.id == "snapshot" {
		out.support, out.reason = snapshotSupport(claim)
		for _, name := range snapshotFacts() {
			f := claim.node(name)
			out.facts = append(out.facts, factModel{name, f.text("support"), f.text("reason")})
		}
	}
	return out
}

// snapshotFacts are the five facts a snapshot claim is made of, in schema order.
func snapshotFacts() []string {
	return []string{"createsObject", "sourceSurvives", "listable", "deletable", "restoreMakesNew"}
}

// snapshotSupport derives the support of a snapshot from its first and last
// fact: a capture that is no object, or from which nothing new can be made, is
// not a snapshot, whatever else is true of it.
func snapshotSupport(claim node) (support, reason string) {
	first, last := claim.node("createsObject"), claim.node("restoreMakesNew")
	for _, want := range []string{"unsupported", "not-exposed", "unknown"} {
		for _, f := range []node{first, last} {
			if factOrUnknown(f.text("support")) == want {
				reason := f.text("reason")
				if reason == "" {
					reason = "one of its five facts is " + want
				}
				return want, reason
			}
		}
	}
	return "supported", ""
}
