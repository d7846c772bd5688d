package schema

import (
	"regexp"
	"slices"
	"strings"
)

// annotation lints an x-sbx object. What it may hold depends on the place: the
// vocabulary describes operations, everything else describes form and claims.
func (l *linter) annotation(v *node, at place) {
	if !l.want("x-sbx", v, objectNode, "an object") {
		return
	}
	if at.capability {
		l.keysOf(v, []string{"interface", "flag", "verb", "question", "checks", "methods"}, nil)
		l.capability(v)
		return
	}
	l.keysOf(v, []string{"claim", "ask", "question"}, nil)
	for _, m := range v.members {
		switch m.key {
		case "claim":
			l.want("claim", m.val, boolNode, "true or false")
		case "ask":
			if l.want("ask", m.val, numberNode, "a number from 1 to 8") && (number(m.val) < 1 || number(m.val) > 8) {
				l.value(m.val, "ask must be a number from 1 to 8")
			}
			l.unique(m.val, "question "+m.val.text)
			if v.get("question") == nil {
				l.key(v, m, "", "ask without a question")
			}
		case "question":
			l.want("question", m.val, stringNode, "a string")
		}
	}
}

// keysOf refuses keys outside a list and names the missing ones.
func (l *linter) keysOf(n *node, allowed, required []string) {
	for _, m := range n.members {
		if !slices.Contains(allowed, m.key) {
			l.key(n, m, nearest(m.key, allowed), "x-sbx has no key %q here", m.key)
		}
	}
	for _, key := range required {
		if n.get(key) == nil {
			l.value(n, "x-sbx lacks %q here", key)
		}
	}
}

// capability lints one entry of the vocabulary.
func (l *linter) capability(v *node) {
	for _, m := range v.members {
		switch m.key {
		case "interface":
			if l.goName(m.val, "interface") {
				l.unique(m.val, "interface "+m.val.text)
			}
		case "verb", "question":
			l.want(m.key, m.val, stringNode, "a string")
		case "checks":
			l.checks(m.val)
		case "flag":
			l.flags(m.val)
		case "methods":
			if l.want("methods", m.val, arrayNode, "a list") {
				for _, method := range m.val.items {
					l.method(method)
				}
			}
		}
	}
	hasInterface, hasMethods := v.get("interface") != nil, v.get("methods") != nil
	if hasInterface != hasMethods {
		l.value(v, "interface and methods belong together")
	}
	if hasInterface && v.get("flag") != nil {
		l.value(v, "a capability is either an interface or a flag")
	}
}

// goName checks an exported Go name.
func (l *linter) goName(n *node, what string) bool {
	if n.kind == stringNode && regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`).MatchString(n.text) {
		return true
	}
	l.value(n, "%s must be an exported Go name", what)
	return false
}

// unique refuses a name that was already given away.
func (l *linter) unique(n *node, name string) {
	if first, ok := l.names[name]; ok {
		l.value(n, "%s is already at %s", name, first)
		return
	}
	l.names[name] = n.ptr
}

func (l *linter) checks(v *node) {
	if !l.want("checks", v, arrayNode, "a list") {
		return
	}
	for _, id := range v.items {
		if id.kind != stringNode || !slices.Contains(l.known.checks, id.text) {
			l.report(id.off, id.ptr, nearest(id.text, l.known.checks), "check %q is not in %s", id.text, checksFile)
		}
	}
}

// flags checks that every flag names a field of the contract.
func (l *linter) flags(v *node) {
	if !l.want("flag", v, arrayNode, "a list") {
		return
	}
	defs := l.known.contract.get("$defs")
	for _, flag := range v.items {
		typ, field, _ := strings.Cut(flag.str(), ".")
		properties := defs.at(typ, "properties")
		if properties.get(field) != nil {
			continue
		}
		suggestion := ""
		if properties == nil {
			if near := nearest(typ, memberKeys(defs)); near != "" {
				suggestion = near + "." + field
			}
		} else if near := nearest(field, memberKeys(properties)); near != "" {
			suggestion = typ + "." + near
		}
		l.report(flag.off, flag.ptr, suggestion, "flag %q names no field of %s", flag.str(), ContractFile)
	}
}

// method lints one method of an interface.
func (l *linter) method(v *node) {
	if !l.want("a method", v, objectNode, "an object") {
		return
	}
	l.keysOf(v, []string{"name", "doc", "effect", "retry", "params", "results", "creates", "destroys"},
		[]string{"name", "doc", "effect", "retry", "params", "results"})
	for _, m := range v.members {
		switch m.key {
		case "name":
			if l.goName(m.val, "method name") {
				l.unique(m.val, "method "+m.val.text)
			}
		case "doc":
			name := v.get("name").str()
			if l.want("doc", m.val, stringNode, "a string") && !strings.HasPrefix(m.val.text, name+" ") {
				l.value(m.val, "doc must start with the method's name")
			}
		case "effect":
			l.oneWord(m.val, "effect", effects())
		case "retry":
			l.oneWord(m.val, "retry", retries())
		case "params", "results":
			l.params(m.val, m.key)
		case "creates", "destroys":
			l.oneWord(m.val, m.key, l.known.contract.at("$defs", "ResourceKind", "enum").strs())
		}
	}
	if v.get("creates") != nil && v.get("effect").str() != string(EffectCreate) {
		l.value(v.get("creates"), "creates without effect create")
	}
	if v.get("destroys") != nil && v.get("effect").str() != string(EffectDestroy) {
		l.value(v.get("destroys"), "destroys without effect destroy")
	}
}

// params lints parameters or results.
func (l *linter) params(v *node, key string) {
	if !l.want(key, v, arrayNode, "a list") {
		return
	}
	goParam := regexp.MustCompile(`^[a-z][A-Za-z0-9]*$`)
	for _, p := range v.items {
		if !l.want("a parameter", p, objectNode, "an object") {
			continue
		}
		l.keysOf(p, []string{"name", "type"}, []string{"name", "type"})
		if name := p.get("name"); name != nil && !goParam.MatchString(name.str()) {
			l.value(name, "a parameter's name must be a Go name in lower camel case")
		}
		if typ := p.get("type"); typ != nil {
			l.paramType(typ)
		}
	}
}

func (l *linter) paramType(n *node) {
	if n.kind == objectNode && n.get("items") != nil && len(n.members) == 1 {
		l.paramType(n.get("items"))
		return
	}
	_, msg := resolveType(n, l.known.contract)
	if msg == "" {
		return
	}
	where, suggestion := n, ""
	if n.kind == stringNode {
		suggestion = nearest(n.text, append(ScalarTypes(), HandleTypes()...))
	} else if ref := n.get("$ref"); ref != nil && len(n.members) == 1 {
		where = ref
		name, _ := contractName(ref.str())
		if near := nearest(name, memberKeys(l.known.contract.get("$defs"))); near != "" {
			suggestion = contractRef + near
		}
	}
	l.report(where.off, where.ptr, suggestion, "%s", msg)
}

// vocabulary checks what concerns the list of capabilities as a whole.
func (l *linter) vocabulary() {
	capabilities := l.root.at("$defs", "capabilities", "properties")
	if capabilities == nil {
		return
	}
	id := regexp.MustCompile(`^[a-z]+(\.[a-z]+)*$`)
	for _, m := range capabilities.members {
		switch {
		case m.key == "move" || strings.HasPrefix(m.key, "move."):
			l.key(capabilities, m, "", "moving a session is not a capability of a provider")
		case !id.MatchString(m.key):
			l.key(capabilities, m, "", "capability %q must be lower-case words with dots between", m.key)
		case m.val.get("x-sbx") == nil:
			l.key(capabilities, m, "", "capability %q has no x-sbx", m.key)
		}
	}
}
